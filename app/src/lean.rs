//! Reactive pieces of one type each. Every closure has a type of its own, and Leptos compiles its whole machinery
//! for each type that it meets in a view or a memo; behind a box they are one type, which keeps the wasm small.

use leptos::prelude::*;

/// A piece of a view that is drawn again when what it reads changes: `{part(move || …)}` instead of `{move || …}`.
#[must_use]
pub fn part<V: IntoAny>(draw: impl Fn() -> V + Send + Sync + 'static) -> AnyView {
    // Not generic: a closure within a generic function has as many types as the function has uses.
    fn boxed(draw: Box<dyn Fn() -> AnyView + Send + Sync>) -> AnyView {
        (move || draw()).into_any()
    }
    boxed(Box::new(move || draw().into_any()))
}

/// A value that is computed again when what it reads changes, and tells others only when it differs.
#[must_use]
pub fn memo<T: PartialEq + Send + Sync + 'static>(
    compute: impl Fn() -> T + Send + Sync + 'static,
) -> Memo<T> {
    // Generic over the value only, for the same reason.
    fn boxed<T: PartialEq + Send + Sync + 'static>(compute: Box<dyn Fn() -> T + Send + Sync>) -> Memo<T> {
        Memo::new(move |_| compute())
    }
    boxed(Box::new(compute))
}
