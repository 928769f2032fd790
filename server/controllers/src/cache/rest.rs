//! How objects lie in a cache while nobody looks: packed where there are tens of thousands of them, as they are elsewhere.

use super::Cached;
use crds::slim::{Pack, Packed};
use std::{fmt, sync::Arc};

/// The form in which a cache holds its objects.
pub trait Rest: Clone + fmt::Debug + Send + Sync + 'static {
    /// What is held.
    type Object;
    /// Puts it to rest.
    fn lay(object: &Arc<Self::Object>) -> Self;
    /// Wakes it up.
    fn wake(&self) -> Arc<Self::Object>;
}

impl<T: fmt::Debug + Send + Sync + 'static> Rest for Arc<T> {
    type Object = T;

    fn lay(object: &Self) -> Self {
        object.clone()
    }
    fn wake(&self) -> Self {
        self.clone()
    }
}

impl<T: Pack + 'static> Rest for Packed<T> {
    type Object = T;

    fn lay(object: &Arc<T>) -> Self {
        object.pack()
    }
    fn wake(&self) -> Arc<T> {
        Arc::new(T::unpack(self))
    }
}

/// Everything that was in a cache at a moment. The objects are woken one by one as they are walked over: all of them awake
/// would be many times the cache.
pub struct Listing<K: Cached> {
    objects: Arc<[K::Rest]>,
}

impl<K: Cached> Clone for Listing<K> {
    fn clone(&self) -> Self {
        Self { objects: self.objects.clone() }
    }
}

impl<K: Cached> fmt::Debug for Listing<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.objects.iter()).finish()
    }
}

impl<K: Cached> Listing<K> {
    pub(super) fn new(objects: Vec<K::Rest>) -> Self {
        Self { objects: objects.into() }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// Walks over them, in the order of [`super::Cache::all`].
    pub fn iter(&self) -> impl Iterator<Item = Arc<K>> + '_ {
        self.objects.iter().map(Rest::wake)
    }
}
