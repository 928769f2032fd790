//! Typed resources, one file per kind, their CRD manifests, and the slim types that the watch caches hold.
