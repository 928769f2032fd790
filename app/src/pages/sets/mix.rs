//! A bar that shows how a whole is made up: revisions of a set, states of a deck.

use crate::i18n::group;
use leptos::prelude::*;

/// One part: its colour (a value for `fill`), how many, and what it is called.
pub type Part = (String, u32, String);

/// Widths in hundredths that add up to 100. A part that is there is seen, however small.
fn widths(counts: &[u32]) -> Vec<f64> {
    const LEAST: f64 = 1.5;
    let total: f64 = counts.iter().map(|count| f64::from(*count)).sum();
    if total <= 0.0 {
        return vec![0.0; counts.len()];
    }
    let raised: Vec<f64> = counts
        .iter()
        .map(|count| if *count == 0 { 0.0 } else { (f64::from(*count) / total * 100.0).max(LEAST) })
        .collect();
    let sum: f64 = raised.iter().sum();
    raised.into_iter().map(|width| width / sum * 100.0).collect()
}

/// The bar. Its parts are named in its title; give the figures in words beside it where they matter.
#[component]
pub fn MixBar(
    /// The parts in order.
    parts: Vec<Part>,
) -> impl IntoView {
    let counts: Vec<u32> = parts.iter().map(|part| part.1).collect();
    let title = parts
        .iter()
        .map(|(_, count, name)| format!("{} {}", group(*count), if name.is_empty() { "–" } else { name }))
        .collect::<Vec<_>>()
        .join(" · ");
    let mut x = 0.0;
    let rects = parts
        .into_iter()
        .zip(widths(&counts))
        .map(|((fill, _, _), width)| {
            let left = x;
            x += width;
            view! { <rect x=format!("{left:.2}") width=format!("{width:.2}") height="6" fill=fill></rect> }
        })
        .collect_view();
    view! {
        <span class="mix" title=title>
            <svg viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label=title.clone()>{rects}</svg>
        </span>
    }
}

#[cfg(test)]
mod tests {
    use super::widths;

    #[test]
    fn every_part_that_is_there_is_seen_and_nothing_else() {
        let found = widths(&[9_999, 1, 0]);
        assert!(found[0] > 97.0 && found[1] > 1.0 && found[2] == 0.0);
        assert!((found.iter().sum::<f64>() - 100.0).abs() < 1e-9);
        assert_eq!(widths(&[0, 0]), [0.0, 0.0]);
        assert!(widths(&[]).is_empty());
    }
}
