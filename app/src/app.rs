//! The app: contexts that every page uses, the frame, and the routes.

use crate::{
    Lang, ShellEnv,
    chunks::{self, Chunk, later},
    data::{Reader, handed},
    drawer::{Drawer, DrawerState},
    frame::{Bands, Footer, Header, Nav, Overlays, frame_class},
    i18n::{Words, use_words},
    keys::Keys,
    live::{Live, LiveRoot},
    pages,
    selection::Selection,
    time,
    urls::use_here,
};
use leptos::prelude::*;
use leptos_meta::{Title, provide_meta_context};
use leptos_router::{
    components::{FlatRoutes, Route, Router},
    path,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use wire::Totals;

/// What the server tells the browser once, in the page.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Boot {
    /// As in [`ShellEnv`].
    pub base_path: String,
    /// As in [`ShellEnv`].
    pub sandbox: bool,
    /// As in [`ShellEnv`].
    pub version: String,
    /// As in [`ShellEnv`].
    pub lang: Lang,
    /// Server clock when the page was made, Unix milliseconds.
    pub now: i64,
    /// Counters of header and menu at that time.
    pub totals: Totals,
}

/// The whole page inside `<body>`. The server gives `env`; in the browser it comes with the page.
#[component]
#[must_use]
pub fn App(
    /// What the server knows.
    #[prop(optional)]
    env: Option<ShellEnv>,
) -> impl IntoView {
    let boot = handed(|| {
        let env = env.or_else(use_context::<ShellEnv>).unwrap_or_default();
        let totals = use_context::<Arc<dyn Reader>>().map(|reader| reader.totals()).unwrap_or_default();
        Boot {
            base_path: env.base_path,
            sandbox: env.sandbox,
            version: env.version,
            lang: env.lang,
            now: time::machine_now(),
            totals,
        }
    });
    provide_context(Words::new(boot.lang));
    provide_context(Live::new(boot.now, boot.totals.clone()));
    provide_context(Selection::new());
    provide_context(Keys::new());
    provide_context(DrawerState::new());
    provide_meta_context();
    let base = boot.base_path.clone();
    provide_context(boot);

    view! {
        <Router base=base>
            <Frame />
        </Router>
    }
}

/// The name of a page for the tab, from its path: an object's name first, so that it shows in a narrow tab.
fn title(words: Words, here: &str) -> String {
    let page = match here.split('/').next().unwrap_or_default() {
        "" => words.t("common.nav.deck"),
        "servers" => words.t("common.nav.servers"),
        "sets" => words.t("common.nav.sets"),
        "batches" => words.t("common.nav.batches"),
        "sandbox" => words.t("trouble.title"),
        _ => return "Pilothouse".to_owned(),
    };
    match here.rsplit_once('/') {
        Some((_, name)) => format!("{name} · {page} · Pilothouse"),
        None => format!("{page} · Pilothouse"),
    }
}

/// A page, as soon as it is here.
fn page(chunk: &'static Chunk) -> AnyView {
    later(chunk, |word| word)
}

/// The frame with the page in it; a component of its own because it reads the router's address.
#[component]
fn Frame() -> impl IntoView {
    pages::History::start();
    let (words, here) = (use_words(), use_here());
    view! {
        <Title text=move || here.with(|here| title(words, here)) />
        <div class=frame_class()>
            <Header />
            <Nav />
            <main class="main" id="main" tabindex="-1">
                <Bands />
                <FlatRoutes fallback=pages::NotFound>
                    <Route path=path!("/") view=|| page(&chunks::DECK) />
                    <Route path=path!("/servers") view=|| page(&chunks::SERVERS) />
                    <Route path=path!("/servers/:family/:ns/:name") view=|| page(&chunks::SERVER) />
                    <Route path=path!("/sets") view=|| page(&chunks::SETS) />
                    <Route path=path!("/sets/:family/:ns/:name") view=|| page(&chunks::SET) />
                    <Route path=path!("/batches") view=|| page(&chunks::BATCHES) />
                    <Route path=path!("/batches/:name") view=|| page(&chunks::BATCH) />
                    <Route path=path!("/sandbox") view=|| page(&chunks::TROUBLE) />
                </FlatRoutes>
            </main>
            <Footer />
        </div>
        <Drawer />
        <Overlays />
        <LiveRoot />
    }
}
