//! A small HTTP client for the benchmarks: real requests over loopback, bodies as they come.

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use http::{Request, Response, header};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use serde::{Serialize, de::DeserializeOwned};
use std::net::SocketAddr;
use tokio::sync::mpsc;
use wire::LiveMessage;

/// Speaks to one server.
#[derive(Clone)]
pub struct Http {
    address: SocketAddr,
    client: Client<HttpConnector, Full<Bytes>>,
}

impl Http {
    /// A client for the server at an address.
    pub fn new(address: SocketAddr) -> Self {
        Self { address, client: Client::builder(TokioExecutor::new()).build_http() }
    }

    async fn send(
        &self,
        method: &str,
        path: &str,
        body: Bytes,
        encoding: &str,
    ) -> Result<Response<Incoming>> {
        let request = Request::builder()
            .method(method)
            .uri(format!("http://{}/api/v1/{path}", self.address))
            .header(header::ACCEPT_ENCODING, encoding)
            .header(header::CONTENT_TYPE, "application/json")
            .header("x-pilothouse", "1")
            .body(Full::new(body))?;
        let answer = self.client.request(request).await?;
        if !answer.status().is_success() {
            let status = answer.status();
            let text = answer.into_body().collect().await?.to_bytes();
            bail!("{method} {path}: {status} {}", String::from_utf8_lossy(&text));
        }
        Ok(answer)
    }

    /// The body of a GET as it came over the wire, compressed.
    pub async fn raw(&self, path: &str) -> Result<Bytes> {
        let answer = self.send("GET", path, Bytes::new(), "br, gzip").await?;
        Ok(answer.into_body().collect().await?.to_bytes())
    }

    /// The body of a GET, not compressed.
    pub async fn plain(&self, path: &str) -> Result<Bytes> {
        let answer = self.send("GET", path, Bytes::new(), "identity").await?;
        Ok(answer.into_body().collect().await?.to_bytes())
    }

    /// The first page as a browser without scripts gets it.
    pub async fn page(&self) -> Result<String> {
        let request = Request::builder().uri(format!("http://{}/", self.address)).body(Full::default())?;
        let body = self.client.request(request).await?.into_body().collect().await?.to_bytes();
        Ok(String::from_utf8_lossy(&body).into_owned())
    }

    /// A GET read as JSON.
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T> {
        serde_json::from_slice(&self.plain(path).await?).with_context(|| format!("GET {path}"))
    }

    /// A POST of JSON read as JSON.
    pub async fn post<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<T> {
        let body = serde_json::to_vec(body)?.into();
        let answer = self.send("POST", path, body, "identity").await?;
        let body = answer.into_body().collect().await?.to_bytes();
        serde_json::from_slice(&body).with_context(|| format!("POST {path}"))
    }

    /// Messages of a stream, until the receiver is dropped.
    pub async fn live(&self, view: &wire::View) -> Result<mpsc::Receiver<LiveMessage>> {
        let view = serde_json::to_string(view)?;
        let encoded: String = view.bytes().fold(String::new(), |text, byte| text + &format!("%{byte:02X}"));
        let answer = self.send("GET", &format!("live?view={encoded}"), Bytes::new(), "identity").await?;
        let (sender, receiver) = mpsc::channel(1024);
        tokio::spawn(async move {
            let mut body = answer.into_body();
            let mut rest = String::new();
            while let Some(Ok(frame)) = body.frame().await {
                let Some(data) = frame.data_ref() else { continue };
                rest.push_str(&String::from_utf8_lossy(data));
                while let Some(end) = rest.find("\n\n") {
                    let event: String = rest.drain(..end + 2).collect();
                    for line in event.lines().filter_map(|line| line.strip_prefix("data: ")) {
                        let Ok(message) = serde_json::from_str(line) else { continue };
                        if sender.send(message).await.is_err() {
                            return;
                        }
                    }
                }
            }
        });
        Ok(receiver)
    }
}
