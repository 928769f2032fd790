//! The API on a loopback port: TLS with a certificate of its own, HTTP/1.1 and HTTP/2, a bearer token, and a kubeconfig for it.
//!
//! kubectl sends no credentials over plain HTTP, and Go clients speak HTTP/2 only over TLS; so there is no plain port.
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use http::header::AUTHORIZATION;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use k8s_openapi::ByteString;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tower::Service;

use super::Server;
use super::error::ApiError;
use super::http::{Away, answer};

/// How long a client may take for its TLS handshake and for the head of a request.
const PATIENCE: Duration = Duration::from_secs(15);
/// How long open requests may go on after a stop; watches would go on for ever.
const GRACE: Duration = Duration::from_secs(1);

/// Why the API could not be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The sandbox has one user who may do everything: it stays on this machine.
    #[error("{0} is not a loopback address; the sandbox serves this machine only")]
    NotLoopback(IpAddr),
    /// The port could not be had.
    #[error("cannot listen on {addr}: {source}")]
    Bind {
        /// The address that was wanted.
        addr: SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// No certificate could be made.
    #[error("cannot make a certificate: {0}")]
    Certificate(#[from] rcgen::Error),
    /// TLS could not be set up.
    #[error("cannot set up TLS: {0}")]
    Tls(#[from] rustls::Error),
}

/// A running endpoint. It ends when it is shut down or dropped.
#[derive(Debug)]
pub struct Serving {
    /// Where it listens.
    pub addr: SocketAddr,
    /// A kubeconfig in YAML with the certificate authority and a token; a client needs nothing else.
    pub kubeconfig: String,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Serving {
    /// Stops listening, gives open requests a second, and ends what is left.
    pub async fn shutdown(mut self) {
        self.stop.cancel();
        // The task can only have ended or have been cancelled with the runtime.
        let _ = (&mut self.task).await;
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Serves the API on a loopback address; port 0 takes a free one.
pub async fn serve(server: &Server, addr: SocketAddr) -> Result<Serving, ServeError> {
    if !addr.ip().is_loopback() {
        return Err(ServeError::NotLoopback(addr.ip()));
    }
    let identity = Identity::new(addr.ip())?;
    let listener = TcpListener::bind(addr).await.map_err(|source| ServeError::Bind { addr, source })?;
    let addr = listener.local_addr().map_err(|source| ServeError::Bind { addr, source })?;
    let token = format!("{}{}", uuid::Uuid::new_v4().simple(), uuid::Uuid::new_v4().simple());
    let kubeconfig = kubeconfig(addr, &identity.authority, &token);
    let stop = CancellationToken::new();
    let endpoint =
        Endpoint { server: server.clone(), token: token.into(), tls: TlsAcceptor::from(identity.config) };
    let task = tokio::spawn(accept(listener, endpoint, stop.clone()));
    Ok(Serving { addr, kubeconfig, stop, task })
}

struct Identity {
    /// The authority's certificate in PEM.
    authority: String,
    config: Arc<ServerConfig>,
}

impl Identity {
    /// A new authority and a certificate of it. Both live as long as the process: a new start has a new kubeconfig.
    fn new(address: IpAddr) -> Result<Self, ServeError> {
        let mut params = CertificateParams::new(Vec::default())?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "pilothouse-sandbox-ca");
        params.key_usages =
            vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign, KeyUsagePurpose::DigitalSignature];
        let key = KeyPair::generate()?;
        let authority = params.self_signed(&key)?.pem();
        let issuer = Issuer::new(params, key);
        let mut names = vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned()];
        if !names.contains(&address.to_string()) {
            names.push(address.to_string());
        }
        let mut params = CertificateParams::new(names)?;
        params.distinguished_name.push(DnType::CommonName, "pilothouse-sandbox");
        params.use_authority_key_identifier_extension = true;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &issuer)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::Pkcs8(key.serialize_der().into()),
            )?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self { authority, config: Arc::new(config) })
    }
}

fn kubeconfig(addr: SocketAddr, authority: &str, token: &str) -> String {
    let name = "pilothouse-sandbox";
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": name, "preferences": {},
        "clusters": [{ "name": name, "cluster": {
            "server": format!("https://{addr}"),
            // ByteString writes base64, which is what kubeconfigs want.
            "certificate-authority-data": ByteString(authority.as_bytes().to_vec()),
        } }],
        "users": [{ "name": name, "user": { "token": token } }],
        "contexts": [{ "name": name, "context": { "cluster": name, "user": name, "namespace": "default" } }],
    });
    // A JSON value of texts can always be written as YAML; JSON itself would be a valid kubeconfig too.
    serde_yaml::to_string(&config).unwrap_or_else(|_| config.to_string())
}

#[derive(Clone)]
struct Endpoint {
    server: Server,
    token: Arc<str>,
    tls: TlsAcceptor,
}

async fn accept(listener: TcpListener, endpoint: Endpoint, stop: CancellationToken) {
    let graceful = GracefulShutdown::new();
    let cut = CancellationToken::new();
    loop {
        let stream = tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        match stream {
            Ok((stream, _)) => {
                let connection = serve_connection(endpoint.clone(), stream, graceful.watcher());
                let cut = cut.clone();
                tokio::spawn(async move {
                    tokio::select! { () = cut.cancelled() => {} () = connection => {} }
                });
            }
            Err(error) => {
                // Out of file descriptors, for example: wait for some to be given back instead of spinning.
                tracing::warn!(%error, "a connection to the sandbox API could not be accepted");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
    drop(listener);
    let _ = tokio::time::timeout(GRACE, graceful.shutdown()).await;
    cut.cancel();
}

async fn serve_connection(
    endpoint: Endpoint,
    stream: TcpStream,
    watcher: hyper_util::server::graceful::Watcher,
) {
    // Small answers must not wait for each other.
    let _ = stream.set_nodelay(true);
    let stream = match tokio::time::timeout(PATIENCE, endpoint.tls.accept(stream)).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => {
            tracing::debug!(%error, "TLS handshake with the sandbox API failed");
            return;
        }
        Err(_) => return,
    };
    let service = hyper::service::service_fn(move |request: Request<Incoming>| {
        let endpoint = endpoint.clone();
        async move { endpoint.answer(request).await }
    });
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(PATIENCE);
    // Go clients put all their watches on one connection.
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(1000)
        .keep_alive_interval(Duration::from_secs(30));
    let connection = builder.serve_connection(TokioIo::new(stream), service).into_owned();
    if let Err(error) = watcher.watch(connection).await {
        tracing::debug!(%error, "a connection to the sandbox API ended");
    }
}

impl Endpoint {
    async fn answer(&self, request: Request<Incoming>) -> Result<Response<Body>, Away> {
        let open = matches!(request.uri().path(), "/healthz" | "/livez" | "/readyz");
        if !open && !self.is_known(&request) {
            return Ok(answer::error(&ApiError::new(401, "Unauthorized", "Unauthorized")));
        }
        self.server.service().call(request).await
    }

    fn is_known(&self, request: &Request<Incoming>) -> bool {
        let header =
            request.headers().get(AUTHORIZATION).map(http::HeaderValue::as_bytes).unwrap_or_default();
        let given = header.strip_prefix(b"Bearer ").unwrap_or_default();
        let wanted = self.token.as_bytes();
        // As long for a wrong token as for a nearly right one.
        given.len() == wanted.len() && given.iter().zip(wanted).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
    }
}
