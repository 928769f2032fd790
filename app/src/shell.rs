//! The HTML document around the app.

use crate::{App, Lang};
use leptos::{config::LeptosOptions, hydration::HydrationScripts, nonce::use_nonce, prelude::*};
use leptos_meta::MetaTags;

/// What the server knows about this request and itself; it is also put into the context of every render.
#[derive(Clone, Debug, Default)]
pub struct ShellEnv {
    /// Prefix of every URL, `""` or `/x/y` without a slash at the end.
    pub base_path: String,
    /// Whether the embedded cluster is behind it.
    pub sandbox: bool,
    /// Version of the program.
    pub version: String,
    /// Language of this request, see [`Lang::negotiate`].
    pub lang: Lang,
    /// Files below `pkg` that the page of this request loads besides the main module, see [`chunk_name`](crate::chunk_name).
    pub chunks: Vec<String>,
}

/// Sets the theme before the first paint, and the language where a host drops cookies: the one thing that cannot
/// wait for wasm. Dark is the default; `?theme=` (a host) goes before the reader's own choice.
const BEFORE_PAINT: &str = "(function(){var d=document.documentElement,p=new URLSearchParams(location.search),s={};\
try{s=localStorage}catch(e){}\
var t=p.get('theme')||s['pilothouse.theme'];if(t==='light'||t==='dark')d.dataset.theme=t;d.dataset.script='on';\
var l=s['pilothouse.lang'];if(l&&/^(en|zh|ja)$/.test(l)&&d.lang.slice(0,2)!==l&&!p.has('lang')){p.set('lang',l);\
location.replace(location.pathname+'?'+p+location.hash)}})()";

/// The whole document. Nothing in it needs inline styles; both scripts carry the nonce of the request.
#[must_use]
pub fn shell(env: ShellEnv, options: LeptosOptions) -> impl IntoView {
    let base = format!("{}/", env.base_path);
    let root = env.base_path.clone();
    let style = format!("{}/{}.css", options.site_pkg_dir, options.output_name);
    let tag = env.lang.tag();
    // So that a chunk comes together with the main module, not after it.
    let files = env.chunks.iter().map(|file| format!("{root}/{}/{file}", options.site_pkg_dir));
    let chunks = files
        .map(|href| {
            view! { <link rel="preload" href=href r#as="fetch" r#type="application/wasm" crossorigin="anonymous" /> }
        })
        .collect_view();
    let loader = (!env.chunks.is_empty()).then(|| {
        let href = format!("{root}/{}/__wasm_split.js", options.site_pkg_dir);
        view! { <link rel="modulepreload" href=href crossorigin="anonymous" /> }
    });
    // Data, not a script that runs. In the head, because what stands in the body must be what the app makes.
    #[cfg(not(feature = "hydrate"))]
    let words = view! {
        <script type="application/json" id=crate::i18n::WORDS_ID inner_html=crate::i18n::for_page(env.lang)></script>
    };
    #[cfg(feature = "hydrate")]
    let words = ();
    view! {
        <!DOCTYPE html>
        <html lang=tag data-theme="dark">
            <head>
                <meta charset="utf-8" />
                <meta name="viewport" content="width=device-width, initial-scale=1" />
                <meta name="color-scheme" content="dark light" />
                <base href=base />
                <script nonce=use_nonce()>{BEFORE_PAINT}</script>
                <link rel="icon" href="favicon.svg" type="image/svg+xml" />
                <link rel="stylesheet" href=style />
                <MetaTags />
                <HydrationScripts options root />
                {loader}
                {chunks}
                {words}
            </head>
            <body>
                <App env />
            </body>
        </html>
    }
}
