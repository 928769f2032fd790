//! The embedded Kubernetes API with its cluster controllers, and the simulated nodes that work on any API server.
