//! Reactive pieces of one type each. Every closure has a type of its own, and Leptos compiles its whole machinery
//! for each type that it meets in a view or a memo; behind a box they are one type, which keeps the wasm small.

use leptos::prelude::*;
use std::{
    any::Any,
    hash::{Hash, Hasher},
    sync::Arc,
};

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

/// Something that is done after drawing and again when what it reads changes. In the browser only.
pub fn effect(run: impl FnMut() + 'static) {
    fn boxed(mut run: Box<dyn FnMut()>) {
        Effect::new(move |_| run());
    }
    boxed(Box::new(run));
}

/// A list whose pieces are kept as long as their items are in it: `<For>` with each item as its own key.
#[must_use]
pub fn each<K, V>(
    list: impl Fn() -> Vec<K> + Send + Sync + 'static,
    draw: impl Fn(K) -> V + Send + Sync + 'static,
) -> AnyView
where
    K: Clone + Eq + Hash + Send + Sync + 'static,
    V: IntoAny,
{
    fn boxed(
        list: Box<dyn Fn() -> Vec<Item> + Send + Sync>,
        draw: Arc<dyn Fn(Item) -> AnyView + Send + Sync>,
    ) -> AnyView {
        view! { <For each=list key=Item::clone children=move |item| draw(item) /> }.into_any()
    }
    boxed(
        Box::new(move || list().into_iter().map(|item| Item(Arc::new(item))).collect()),
        // Every item of this list was put into it above as a `K`.
        Arc::new(move |item| {
            item.0.as_any().downcast_ref::<K>().map(|item| draw(item.clone()).into_any()).into_any()
        }),
    )
}

/// An item of a list whatever its type.
#[derive(Clone)]
struct Item(Arc<dyn Key>);

trait Key: Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn same(&self, other: &dyn Any) -> bool;
    fn feed(&self, hasher: &mut dyn Hasher);
}

impl<K: Eq + Hash + Send + Sync + 'static> Key for K {
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn same(&self, other: &dyn Any) -> bool {
        other.downcast_ref::<K>().is_some_and(|other| self == other)
    }
    fn feed(&self, mut hasher: &mut dyn Hasher) {
        self.hash(&mut hasher);
    }
}

impl PartialEq for Item {
    fn eq(&self, other: &Self) -> bool {
        self.0.same(other.0.as_any())
    }
}

impl Eq for Item {}

impl Hash for Item {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.feed(state);
    }
}

#[cfg(test)]
mod tests {
    use super::{Arc, Hash, Item};
    use std::hash::{BuildHasher, RandomState};

    fn item(key: impl Eq + Hash + Send + Sync + 'static) -> Item {
        Item(Arc::new(key))
    }

    #[test]
    fn items_are_the_same_by_what_they_hold() {
        let state = RandomState::new();
        for (left, right, same) in [
            (item("a".to_owned()), item("a".to_owned()), true),
            (item("a".to_owned()), item("b".to_owned()), false),
            (item((1_u32, "a")), item((1_u32, "a")), true),
            (item(1_u32), item(1_u64), false),
        ] {
            assert_eq!(left == right, same);
            if same {
                assert_eq!(state.hash_one(&left), state.hash_one(&right));
            }
        }
    }
}
