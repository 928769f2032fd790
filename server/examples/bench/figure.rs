//! A measured figure, and the table of them.

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
    /// The same measured without the product, in the same run, where there is such a thing.
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

    /// A figure that should be exactly this.
    pub fn exactly(name: &str, value: f64, unit: &'static str, goal: f64) -> Self {
        Self { name: name.into(), value, unit, goal: format!("= {goal}"), met: value == goal, baseline: None }
    }
}

/// Prints the table.
pub fn print(figures: &[Figure]) {
    println!("\n{:<52} {:>12} {:<8} {:>10} {:>12}  met", "figure", "value", "unit", "goal", "baseline");
    for figure in figures {
        let baseline = figure.baseline.map_or_else(|| "–".into(), |value| format!("{value:.1}"));
        let met = if figure.met { "yes" } else { "NO" };
        println!(
            "{:<52} {:>12.1} {:<8} {:>10} {:>12}  {met}",
            figure.name, figure.value, figure.unit, figure.goal, baseline
        );
    }
}

/// A percentile of values, by the nearest rank.
pub fn percentile(values: &mut [f64], percent: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
    let rank = ((percent / 100.0 * values.len() as f64).ceil() as usize).clamp(1, values.len().max(1));
    values.get(rank - 1).copied().unwrap_or(f64::NAN)
}
