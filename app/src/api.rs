//! The REST API as the browser calls it. Every write carries the header that a foreign page cannot send.

use crate::json;
use serde::{Serialize, de::DeserializeOwned};
use wire::{ApiError, Reason};

/// An error that did not come from the server: the network, or an answer that is not ours.
fn local_error(code: &str, message: impl Into<String>) -> ApiError {
    ApiError { status: 0, reason: Reason::new(code, message), span: None, command: None }
}

#[cfg(feature = "hydrate")]
mod browser {
    use super::{ApiError, local_error};
    use crate::json;
    use wasm_bindgen::{JsCast, JsValue};
    use wasm_bindgen_futures::JsFuture;
    use web_sys::{Headers, RequestInit, Response};

    /// A fetch with a relative URL.
    pub async fn fetch(url: &str, init: &RequestInit) -> Result<Response, ApiError> {
        let failed = |error: JsValue| {
            let text = error.dyn_into::<js_sys::Error>().map(|error| String::from(error.message()));
            local_error("network", text.unwrap_or_default())
        };
        let window = web_sys::window().ok_or_else(|| local_error("network", "no window"))?;
        let response = JsFuture::from(window.fetch_with_str_and_init(url, init)).await.map_err(failed)?;
        response.dyn_into().map_err(|_| local_error("network", "no response"))
    }

    async fn text(response: &Response) -> Result<String, ApiError> {
        let body = response.text().map_err(|_| local_error("network", "no body"))?;
        let body = JsFuture::from(body).await.map_err(|_| local_error("network", "the answer broke off"))?;
        Ok(body.as_string().unwrap_or_default())
    }

    pub async fn send(method: &str, url: &str, body: Option<String>) -> Result<String, ApiError> {
        let init = RequestInit::new();
        init.set_method(method);
        let headers = Headers::new().map_err(|_| local_error("network", "no headers"))?;
        // Neither call can fail: names and values are constants that are legal.
        let _ = headers.set("accept", "application/json");
        if let Some(body) = body {
            let _ = headers.set("x-pilothouse", "1");
            let _ = headers.set("content-type", "application/json");
            init.set_body(&JsValue::from_str(&body));
        }
        init.set_headers(&headers);
        let response = fetch(url, &init).await?;
        let status = response.status();
        let body = text(&response).await?;
        if response.ok() {
            return Ok(body);
        }
        Err(json::read::<ApiError>(&body).unwrap_or_else(|_| {
            let mut error = local_error("http", body.chars().take(300).collect::<String>());
            error.status = status;
            error.reason = error.reason.with("status", status);
            error
        }))
    }
}

/// Event handlers are compiled into the server too, where nothing ever calls them.
#[cfg(not(feature = "hydrate"))]
mod browser {
    use super::{ApiError, local_error};

    #[allow(clippy::unused_async, reason = "as in a browser")]
    pub async fn send(_method: &str, _url: &str, _body: Option<String>) -> Result<String, ApiError> {
        Err(local_error("network", "not in a browser"))
    }
}

fn parse<T: DeserializeOwned>(body: &str) -> Result<T, ApiError> {
    json::read(body).map_err(|error| local_error("answer", error.to_string()))
}

#[cfg(feature = "hydrate")]
pub use browser::fetch;

/// GET of a relative URL as JSON.
///
/// # Errors
/// The server's error, or code `network`, `http`, `answer` when it is none of ours.
pub async fn get<T: DeserializeOwned>(url: &str) -> Result<T, ApiError> {
    parse(&browser::send("GET", url, None).await?)
}

/// GET of a relative URL as text.
///
/// # Errors
/// As [`get`].
pub async fn get_text(url: &str) -> Result<String, ApiError> {
    browser::send("GET", url, None).await
}

/// POST of JSON to a relative URL.
///
/// # Errors
/// As [`get`].
pub async fn post<T: DeserializeOwned>(url: &str, body: &impl Serialize) -> Result<T, ApiError> {
    let body = serde_json::to_string(body).map_err(|error| local_error("answer", error.to_string()))?;
    parse(&browser::send("POST", url, Some(body)).await?)
}

/// POST of JSON to a relative URL whose answer is only that it was done.
///
/// # Errors
/// As [`get`].
pub async fn post_done(url: &str, body: &impl Serialize) -> Result<(), ApiError> {
    let body = serde_json::to_string(body).map_err(|error| local_error("answer", error.to_string()))?;
    browser::send("POST", url, Some(body)).await.map(|_| ())
}

/// DELETE of a relative URL whose answer is JSON.
///
/// # Errors
/// As [`get`].
pub async fn delete<T: DeserializeOwned>(url: &str) -> Result<T, ApiError> {
    parse(&browser::send("DELETE", url, Some(String::new())).await?)
}
