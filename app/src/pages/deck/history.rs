//! Deck page, history: the last hour of each total as the tab saw it. Pure.
//!
//! The server keeps no history; a line begins when the tab opens, and the page says from when it is.

use std::{collections::VecDeque, fmt::Write as _};

/// How far back a line goes, seconds.
pub const REACH: f64 = 3600.0;
/// One point in so many seconds.
pub const GRAIN: f64 = 15.0;

/// One total over time. Times are seconds of any steady clock.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    points: VecDeque<(f64, f64)>,
}

impl Series {
    /// Notes a value. Values within one grain replace each other, so that a busy stream does not crowd the line.
    pub fn note(&mut self, now: f64, value: f64) {
        let slot = (now / GRAIN).floor();
        match self.points.back_mut() {
            Some(last) if (last.0 / GRAIN).floor() >= slot => last.1 = value,
            _ => self.points.push_back((now, value)),
        }
        while self.points.front().is_some_and(|first| first.0 < now - REACH) {
            self.points.pop_front();
        }
    }

    /// Seconds between the first point and now.
    #[must_use]
    pub fn span(&self, now: f64) -> f64 {
        self.points.front().map_or(0.0, |first| (now - first.0).max(0.0))
    }

    /// The line as SVG path data in a box of this size; `None` until there are two points. The right edge is now,
    /// the left edge the first point, the height goes from the smallest to the largest value. A value that did
    /// not move is a line in the middle.
    #[must_use]
    pub fn path(&self, width: f64, height: f64) -> Option<String> {
        let (first, last) = (self.points.front()?, self.points.back()?);
        let time = last.0 - first.0;
        if time <= 0.0 {
            return None;
        }
        let low = self.points.iter().map(|point| point.1).fold(f64::INFINITY, f64::min);
        let high = self.points.iter().map(|point| point.1).fold(f64::NEG_INFINITY, f64::max);
        let inset = 1.5;
        let mut path = String::new();
        for (at, (when, value)) in self.points.iter().enumerate() {
            let x = (when - first.0) / time * width;
            let share = if high > low { (value - low) / (high - low) } else { 0.5 };
            let y = height - inset - share * (height - 2.0 * inset);
            let _ = write!(path, "{}{x:.1} {y:.1}", if at == 0 { 'M' } else { 'L' });
        }
        Some(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_point_is_no_line_and_a_steady_value_is_a_level_one() {
        let mut series = Series::default();
        assert_eq!(series.path(60.0, 20.0), None);
        series.note(0.0, 5.0);
        assert_eq!(series.path(60.0, 20.0), None);
        series.note(30.0, 5.0);
        assert_eq!(series.path(60.0, 20.0).as_deref(), Some("M0.0 10.0L60.0 10.0"));
    }

    #[test]
    fn the_line_goes_from_the_smallest_to_the_largest() {
        let mut series = Series::default();
        for (now, value) in [(0.0, 2.0), (15.0, 4.0), (30.0, 0.0)] {
            series.note(now, value);
        }
        assert_eq!(series.path(60.0, 20.0).as_deref(), Some("M0.0 10.0L30.0 1.5L60.0 18.5"));
        assert!((series.span(40.0) - 40.0).abs() < 1e-9);
    }

    #[test]
    fn many_values_in_one_grain_are_one_point_with_the_newest() {
        let mut series = Series::default();
        for value in 0..100 {
            series.note(f64::from(value) * 0.1, f64::from(value));
        }
        assert_eq!(series.points, [(0.0, 99.0)]);
    }

    #[test]
    fn an_hour_is_kept_and_no_more() {
        let mut series = Series::default();
        for minute in 0..180 {
            series.note(f64::from(minute) * 60.0, 1.0);
        }
        assert_eq!(series.points.len(), 61);
        assert!(series.span(179.0 * 60.0) <= REACH);
    }
}
