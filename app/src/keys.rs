//! The keyboard: which key means what, and who listens.

use crate::browser::InBrowser;
use leptos::prelude::*;

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// `/`: to the filter box.
    Filter,
    /// `j`, ↓: next row.
    Next,
    /// `k`, ↑: row before.
    Previous,
    /// `J`: next row, and take it into the selection.
    SelectNext,
    /// `K`: row before, and take it into the selection.
    SelectPrevious,
    /// `x`, space: select the row.
    Select,
    /// Ctrl-A: select everything that the filter matches.
    SelectAll,
    /// Enter: open the row.
    Open,
    /// `e`: edit the selection.
    Edit,
    /// Esc: close, or clear the selection.
    Escape,
    /// `?`: list the keys.
    Help,
    /// Ctrl-K: palette.
    Palette,
    /// `g d`: Deck.
    GoDeck,
    /// `g s`: Servers.
    GoServers,
    /// `g t`: Sets.
    GoSets,
    /// `g b`: Batches.
    GoBatches,
}

/// Whether a listener took the key.
pub type Taken = bool;

type Listener = (u64, Box<dyn Fn(Action) -> Taken>);

/// The listeners of this tab; the newest is asked first.
#[derive(Clone, Copy)]
pub struct Keys {
    listeners: InBrowser<Vec<Listener>>,
    count: StoredValue<u64>,
}

impl Keys {
    /// Nobody listens.
    #[must_use]
    pub fn new() -> Self {
        Self { listeners: InBrowser::new(Vec::new()), count: StoredValue::new(0) }
    }

    /// Asks the listeners, newest first, until one takes the key.
    pub fn dispatch(self, action: Action) -> Taken {
        self.listeners
            .with(|listeners| listeners.iter().rev().any(|(_, listen)| listen(action)))
            .unwrap_or_default()
    }
}

/// Listens to keys as long as the calling component lives. The newest listener is asked first; it returns whether
/// it took the key.
pub fn on_key(listen: impl Fn(Action) -> Taken + 'static) {
    let Some(keys) = use_context::<Keys>() else { return };
    let id = keys.count.get_value() + 1;
    keys.count.set_value(id);
    keys.listeners.update(|listeners| listeners.push((id, Box::new(listen))));
    on_cleanup(move || {
        keys.listeners.update(|listeners| listeners.retain(|(other, _)| *other != id));
    });
}

/// A key press, as the pure part sees it.
#[derive(Clone, Copy, Debug)]
pub struct Press<'a> {
    /// `KeyboardEvent.key`.
    pub key: &'a str,
    /// Ctrl or ⌘.
    pub ctrl: bool,
    /// Alt.
    pub alt: bool,
    /// Whether the focus is in a field for text.
    pub typing: bool,
    /// Whether the focus is on a button or link, where Enter and space have a meaning already.
    pub on_control: bool,
    /// Whether `g` was pressed just before.
    pub after_g: bool,
}

/// What a press means, if anything.
#[must_use]
pub fn action(press: Press) -> Option<Action> {
    let Press { key, ctrl, alt, typing, on_control, after_g } = press;
    if ctrl && !alt && key.eq_ignore_ascii_case("k") {
        return Some(Action::Palette);
    }
    if key == "Escape" {
        return Some(Action::Escape);
    }
    if typing || alt {
        return None;
    }
    if ctrl {
        return key.eq_ignore_ascii_case("a").then_some(Action::SelectAll);
    }
    if after_g {
        return match key {
            "d" => Some(Action::GoDeck),
            "s" => Some(Action::GoServers),
            "t" => Some(Action::GoSets),
            "b" => Some(Action::GoBatches),
            _ => None,
        };
    }
    match key {
        "/" => Some(Action::Filter),
        "j" | "ArrowDown" => Some(Action::Next),
        "k" | "ArrowUp" => Some(Action::Previous),
        "J" => Some(Action::SelectNext),
        "K" => Some(Action::SelectPrevious),
        "x" => Some(Action::Select),
        " " if !on_control => Some(Action::Select),
        "Enter" if !on_control => Some(Action::Open),
        "e" => Some(Action::Edit),
        "?" => Some(Action::Help),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(key: &str) -> Press<'_> {
        Press { key, ctrl: false, alt: false, typing: false, on_control: false, after_g: false }
    }

    #[test]
    fn keys_mean_what_the_help_says() {
        let cases = [
            ("/", Action::Filter),
            ("j", Action::Next),
            ("ArrowUp", Action::Previous),
            ("K", Action::SelectPrevious),
            ("x", Action::Select),
            ("Enter", Action::Open),
            ("e", Action::Edit),
            ("?", Action::Help),
        ];
        for (key, wanted) in cases {
            assert_eq!(action(press(key)), Some(wanted), "{key}");
        }
        assert_eq!(action(Press { after_g: true, ..press("t") }), Some(Action::GoSets));
        assert_eq!(action(Press { after_g: true, ..press("j") }), None);
        assert_eq!(action(Press { ctrl: true, ..press("a") }), Some(Action::SelectAll));
    }

    #[test]
    fn while_typing_only_escape_and_the_palette_are_ours() {
        for key in ["/", "j", "x", "?", "e", "Enter"] {
            assert_eq!(action(Press { typing: true, ..press(key) }), None, "{key}");
        }
        assert_eq!(action(Press { typing: true, ctrl: true, ..press("a") }), None);
        assert_eq!(action(Press { typing: true, ctrl: true, ..press("k") }), Some(Action::Palette));
        assert_eq!(action(Press { typing: true, ..press("Escape") }), Some(Action::Escape));
    }

    #[test]
    fn enter_and_space_belong_to_the_button_that_has_the_focus() {
        for key in ["Enter", " "] {
            assert_eq!(action(Press { on_control: true, ..press(key) }), None);
        }
    }
}
