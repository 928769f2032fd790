//! One module a page.

mod batches;
mod deck;
mod server;
mod servers;
mod set;
mod sets;
mod trouble;

pub use batches::{BatchPage, BatchesPage};
pub use deck::{DeckPage, History};
pub use server::ServerPage;
pub use servers::ServersPage;
pub use set::SetPage;
pub use sets::SetsPage;
pub use trouble::TroublePage;

use crate::{i18n::use_words, parts::Icon};
use leptos::prelude::*;

/// An address that is no page.
#[component]
pub fn NotFound() -> impl IntoView {
    let words = use_words();
    view! {
        <section class="panel empty">
            <Icon name="anchor".to_owned() />
            <h2>{words.t("common.notFound")}</h2>
            <p>
                <a class="button" href="servers">{words.t("common.nav.servers")}</a>
            </p>
        </section>
    }
}
