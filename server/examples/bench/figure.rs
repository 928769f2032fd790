//! A measured figure, and the table of them.

use crate::load;
use serde::Serialize;

/// One figure with its goal.
#[derive(Debug, Serialize)]
pub struct Figure {
    /// What was measured.
    pub name: String,
    /// The value.
    pub value: f64,
    /// Its unit.
    pub unit: &'static str,
    /// What it should be, in words: `< 50`.
    pub goal: String,
    /// Whether it is.
    pub met: bool,
    /// What it compares with, measured in the same run and the same unit; the name says what that is.
    pub baseline: Option<f64>,
}

impl Figure {
    /// A figure that should stay below a limit.
    pub fn below(name: &str, value: f64, unit: &'static str, limit: f64, baseline: Option<f64>) -> Self {
        Self { name: name.into(), value, unit, goal: format!("< {limit}"), met: value < limit, baseline }
    }

    /// A figure that should reach a limit.
    pub fn at_least(name: &str, value: f64, unit: &'static str, limit: f64, baseline: Option<f64>) -> Self {
        Self { name: name.into(), value, unit, goal: format!(">= {limit}"), met: value >= limit, baseline }
    }

    /// A figure that should be nothing at all.
    pub fn none(name: &str, value: f64, unit: &'static str, baseline: Option<f64>) -> Self {
        Self { name: name.into(), value, unit, goal: "= 0".into(), met: value == 0.0, baseline }
    }
}

/// Prints the table.
pub fn print(figures: &[Figure]) {
    println!(
        "\n{:<78} {:>10} {:<7} {:>7} {:>5} {:>10}",
        "figure (baseline)", "value", "unit", "goal", "met", "baseline"
    );
    for figure in figures {
        let baseline = figure.baseline.map_or_else(|| "–".into(), |value| format!("{value:.1}"));
        let met = if figure.met { "yes" } else { "NO" };
        println!(
            "{:<78} {:>10.1} {:<7} {:>7} {met:>5} {baseline:>10}",
            figure.name, figure.value, figure.unit, figure.goal
        );
    }
    println!("{}", load::now());
}

/// A percentile of values, by the nearest rank.
pub fn percentile(values: &mut [f64], percent: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
    let rank = ((percent / 100.0 * values.len() as f64).ceil() as usize).clamp(1, values.len().max(1));
    values.get(rank - 1).copied().unwrap_or(f64::NAN)
}
