//! Which values there are: what the page knows, and what the server is asked for while somebody types.

use crate::lean::effect;
use crate::{api, live::Live, urls::query};
use leptos::{prelude::*, task::spawn_local};
use std::{collections::HashMap, time::Duration};
use wire::{
    Count,
    filter::{Field, KeyedField, ValueCount, ValueSource},
};

/// Values asked for at once; a field with fewer is known whole.
const LIMIT: usize = 200;
/// How long an answer is taken for true.
const FRESH: Duration = Duration::from_secs(15);

/// Answers by field and the typed start they are for (empty for a field that is known whole).
type Answers = HashMap<(String, String), Option<Vec<ValueCount>>>;

/// The values of one namespace. Copy it into closures freely.
#[derive(Clone, Copy)]
pub struct Known {
    live: Live,
    ns: Memo<String>,
    /// `None` while the answer is on its way.
    answers: StoredValue<Answers>,
    /// Counts answers.
    pub arrived: RwSignal<u32>,
}

impl Known {
    /// Knows what the live counters say.
    pub fn new(live: Live, ns: Memo<String>) -> Self {
        let known = Self { live, ns, answers: StoredValue::new(Answers::new()), arrived: RwSignal::new(0) };
        effect(move || {
            ns.with(|_| ());
            known.answers.set_value(Answers::new());
        });
        known
    }

    /// Whether an answer is on its way.
    pub fn waiting(self) -> bool {
        self.answers.with_value(|answers| answers.values().any(Option::is_none))
    }

    /// What is known of a field, asking for it when it is not.
    fn ask(self, field: &str, typed: &str) -> Vec<ValueCount> {
        let whole = (field.to_owned(), String::new());
        let part = (field.to_owned(), typed.to_lowercase());
        let found = self.answers.with_value(|answers| match answers.get(&whole) {
            Some(Some(values)) if values.len() < LIMIT => Some(values.clone()),
            Some(None) => Some(Vec::new()),
            Some(Some(values)) if typed.is_empty() => Some(values.clone()),
            Some(Some(_)) => answers.get(&part).map(|values| values.clone().unwrap_or_default()),
            None => None,
        });
        if let Some(found) = found {
            return found;
        }
        let key = if self.answers.with_value(|answers| answers.contains_key(&whole)) { part } else { whole };
        self.answers.update_value(|answers| {
            answers.insert(key.clone(), None);
        });
        let ns = self.ns.get_untracked();
        let limit = LIMIT.to_string();
        let url = format!(
            "api/v1/filter/values{}",
            query(&[("field", &key.0), ("ns", &ns), ("prefix", &key.1), ("limit", &limit)])
        );
        spawn_local(async move {
            let values: Vec<Count> = api::get(&url).await.unwrap_or_default();
            let values = values
                .into_iter()
                .map(|count| ValueCount { value: count.value, count: u64::from(count.count) })
                .collect();
            self.answers.try_update_value(|answers| answers.insert(key.clone(), Some(values)));
            self.arrived.try_update(|arrived| *arrived += 1);
            set_timeout(
                move || {
                    self.answers.try_update_value(|answers| answers.remove(&key));
                },
                FRESH,
            );
        });
        Vec::new()
    }

    fn counted(counts: &[Count]) -> Vec<ValueCount> {
        counts
            .iter()
            .map(|count| ValueCount { value: count.value.clone(), count: u64::from(count.count) })
            .collect()
    }
}

impl ValueSource for Known {
    fn values(&self, field: &Field, typed: &str, limit: usize) -> Vec<ValueCount> {
        let all_namespaces = self.ns.with_untracked(String::is_empty);
        let values = match field {
            Field::State if all_namespaces => {
                self.live.totals.with_untracked(|totals| Self::counted(&totals.state))
            }
            Field::Ops if all_namespaces => {
                self.live.totals.with_untracked(|totals| Self::counted(&totals.ops))
            }
            // Too many to be worth asking for before something is typed.
            Field::Name | Field::Ip | Field::Id if typed.chars().count() < 2 => Vec::new(),
            _ => self.ask(&field.full_name(), typed),
        };
        ValueCount::best(&values, typed, limit)
    }

    fn keys(&self, field: KeyedField, typed: &str, limit: usize) -> Vec<ValueCount> {
        // The name before the dot, with the dot and no key, asks for the keys.
        ValueCount::best(&self.ask(&format!("{}.", field.name()), typed), typed, limit)
    }
}
