//! Static files of the site: inside the binary in release builds, from a folder in debug builds or with `--site`.

use crate::http::AppState;
use axum::{
    body::Body,
    extract::{Path, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use rust_embed::{Embed, EmbeddedFile};
use std::{borrow::Cow, collections::HashMap, path::PathBuf, sync::Arc};

#[derive(Embed)]
#[folder = "../target/site"]
#[allow_missing = true]
struct Built;

/// Chunks of the pages: their names say which build they are of.
const CHUNKS: &str = "pkg/chunks/";

/// Where the files come from.
#[derive(Clone, Debug, Default)]
pub struct Site {
    folder: Option<Arc<PathBuf>>,
}

/// A file with what HTTP needs to know of it.
struct File {
    data: Cow<'static, [u8]>,
    tag: String,
}

impl Site {
    /// Files from a folder, or the ones built in.
    #[must_use]
    pub fn new(folder: Option<PathBuf>) -> Self {
        Self { folder: folder.map(Arc::new) }
    }

    /// Whether the script of the pages is there; without it the pages only read.
    pub async fn has_script(&self) -> bool {
        self.read("pkg/pilothouse.js").await.is_some()
    }

    /// The files below `pkg/` that the browser loads for a chunk of the pages, besides the main module. None where the
    /// site is not cut into chunks, as in debug builds.
    pub async fn chunk(&self, name: &str) -> Vec<String> {
        let Some(list) = self.read("pkg/chunks.json").await else { return Vec::new() };
        let mut chunks: HashMap<String, Vec<String>> = match serde_json::from_slice(&list.data) {
            Ok(chunks) => chunks,
            Err(error) => {
                // The pages still come, each a round trip later.
                tracing::warn!(%error, "pkg/chunks.json of the site is not as the build writes it");
                return Vec::new();
            }
        };
        chunks.remove(name).unwrap_or_default()
    }

    async fn read(&self, path: &str) -> Option<File> {
        if path.split('/').any(|part| part.is_empty() || part == "." || part == "..") || path.contains('\\') {
            return None;
        }
        if let Some(folder) = &self.folder {
            let data = tokio::fs::read(folder.join(path)).await.ok()?;
            let tag = format!("\"{:x}-{:x}\"", data.len(), fnv(&data));
            return Some(File { data: data.into(), tag });
        }
        let EmbeddedFile { data, metadata } = Built::get(path)?;
        let hash = metadata.sha256_hash();
        let tag =
            hash.iter().take(12).fold(String::from("\""), |tag, byte| format!("{tag}{byte:02x}")) + "\"";
        Some(File { data, tag })
    }

    /// Answers a file, from its precompressed form where there is one and the reader takes it.
    pub async fn answer(&self, path: &str, request: &HeaderMap) -> Option<Response> {
        let accepts = |coding: &str| {
            request
                .get(header::ACCEPT_ENCODING)
                .and_then(|value| value.to_str().ok())
                .is_some_and(|value| value.split(',').any(|c| c.trim().split(';').next() == Some(coding)))
        };
        let mut coding = None;
        let mut file = None;
        for (name, suffix) in [("br", ".br"), ("gzip", ".gz")] {
            if accepts(name)
                && let Some(found) = self.read(&format!("{path}{suffix}")).await
            {
                (coding, file) = (Some(name), Some(found));
                break;
            }
        }
        let file = match file {
            Some(file) => file,
            None => self.read(path).await?,
        };
        let unchanged =
            request.get(header::IF_NONE_MATCH).is_some_and(|tag| tag.as_bytes() == file.tag.as_bytes());
        let mut response = if unchanged {
            StatusCode::NOT_MODIFIED.into_response()
        } else {
            Response::new(Body::from(file.data.into_owned()))
        };
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type(path)));
        // Most names carry no hash: the reader keeps the file and asks whether it is still the same.
        let keep = if path.starts_with(CHUNKS) { "max-age=31536000, immutable" } else { "no-cache" };
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(keep));
        headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        if let Ok(tag) = HeaderValue::from_str(&file.tag) {
            headers.insert(header::ETAG, tag);
        }
        if let Some(coding) = coding {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding));
        }
        Some(response)
    }
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("json" | "webmanifest") => "application/json",
        Some("txt") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

fn fnv(data: &[u8]) -> u64 {
    data.iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// `GET pkg/…`: scripts, wasm and styles.
pub async fn package(
    State(state): State<AppState>,
    Path(path): Path<String>,
    headers: HeaderMap,
) -> Response {
    match state.site.answer(&format!("pkg/{path}"), &headers).await {
        Some(response) => response,
        None => (StatusCode::NOT_FOUND, "no such file; ./dev run builds the site\n").into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn chunks_are_listed_where_the_site_has_them_and_kept_for_good() {
        let folder = std::env::temp_dir().join(format!("pilothouse-chunks-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("pkg/chunks")).unwrap();
        let site = Site::new(Some(folder.clone()));
        assert!(site.chunk("deck").await.is_empty(), "a debug site");
        std::fs::write(folder.join("pkg/chunks.json"), r#"{"deck":["chunks/deck.1.wasm"],"set":[]}"#)
            .unwrap();
        std::fs::write(folder.join("pkg/chunks/deck.1.wasm"), "wasm").unwrap();
        assert_eq!(site.chunk("deck").await, ["chunks/deck.1.wasm"]);
        assert!(site.chunk("set").await.is_empty());
        assert!(site.chunk("none").await.is_empty());
        let answer = site.answer("pkg/chunks/deck.1.wasm", &HeaderMap::new()).await.unwrap();
        assert_eq!(answer.headers()[header::CONTENT_TYPE], "application/wasm");
        assert!(answer.headers()[header::CACHE_CONTROL].to_str().unwrap().contains("immutable"));
        std::fs::write(folder.join("pkg/chunks.json"), "[]").unwrap();
        assert!(site.chunk("deck").await.is_empty(), "a list that is none");
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[tokio::test]
    async fn only_files_below_the_folder_are_served() {
        let folder = std::env::temp_dir().join(format!("pilothouse-site-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("pkg")).unwrap();
        std::fs::write(folder.join("pkg/a.css"), "a{}").unwrap();
        let site = Site::new(Some(folder.clone()));
        let headers = HeaderMap::new();
        let answer = site.answer("pkg/a.css", &headers).await.unwrap();
        assert_eq!(answer.headers()[header::CONTENT_TYPE], "text/css; charset=utf-8");
        let tag = answer.headers()[header::ETAG].clone();
        let mut again = HeaderMap::new();
        again.insert(header::IF_NONE_MATCH, tag);
        assert_eq!(site.answer("pkg/a.css", &again).await.unwrap().status(), StatusCode::NOT_MODIFIED);
        for path in ["../secret", "pkg/../../x", "pkg//a.css", "pkg/none"] {
            assert!(site.answer(path, &headers).await.is_none(), "{path}");
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}
