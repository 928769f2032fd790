//! How many of the selected servers the present filter does not show.

use crate::lean::{effect, memo};
use crate::{
    api,
    live::use_live,
    selection::use_selection,
    urls::{query, use_here, use_scope},
};
use leptos::{prelude::*, task::spawn_local};
use std::{collections::HashSet, time::Duration};
use wire::ServerKey;

/// A pause after the last change before the server is asked.
const PAUSE: Duration = Duration::from_millis(600);

/// The number, as far as it is known; asks the server for the keys of the filter when something is selected.
pub fn outside_of_view() -> Signal<usize> {
    let (live, selection, scope, here) = (use_live(), use_selection(), use_scope(), use_here());
    let keys = RwSignal::new(HashSet::<ServerKey>::new());
    let known = RwSignal::new(false);
    let asked = StoredValue::new(0_u32);
    // Everything that can change the answer: the filter, how many it matches, and whether anything is selected.
    let question = memo(move || {
        let shows_servers = here.with(|here| matches!(here.as_str(), "" | "servers"));
        let some = selection.len() > 0;
        (shows_servers && some)
            .then(|| (scope.q.get(), scope.ns.get(), live.matched.get().map(|(matched, _)| matched)))
    });
    effect(move || {
        let question = question.get();
        let turn = asked.try_update_value(|asked| {
            *asked += 1;
            *asked
        });
        let Some((q, ns, _)) = question else { return known.set(false) };
        set_timeout(
            move || {
                if asked.try_get_value() != turn {
                    return;
                }
                spawn_local(async move {
                    let url = format!("api/v1/gameservers/keys{}", query(&[("q", &q), ("ns", &ns)]));
                    let found = api::get::<Vec<ServerKey>>(&url).await;
                    if asked.try_get_value() != turn {
                        return;
                    }
                    if let Ok(found) = found {
                        keys.set(found.into_iter().collect());
                        known.set(true);
                    }
                });
            },
            PAUSE,
        );
    });
    Signal::derive(move || {
        if !known.get() {
            return 0;
        }
        keys.with(|keys| {
            selection.with(|selected| selected.iter().filter(|key| !keys.contains(*key)).count())
        })
    })
}
