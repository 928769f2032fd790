//! Simulated nodes: scheduler and kubelets as an ordinary client of any API server.
