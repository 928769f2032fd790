//! Pilothouse: runs game servers on Kubernetes and steers thousands of them from a live dashboard.
