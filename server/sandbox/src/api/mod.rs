//! The embedded Kubernetes API server: storage, semantics and wire behaviour, as a `tower` service and over TLS.
