//! Deck page, colour arithmetic: reading CSS colours and finding a readable ink on them. Pure.

/// An opaque colour, channels 0 to 255.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rgb(pub u8, pub u8, pub u8);

impl Rgb {
    /// Reads `#rgb`, `#rrggbb`, `rgb(…)` and `rgba(…)`; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Some(hex) = text.strip_prefix('#') {
            if !hex.is_ascii() {
                return None;
            }
            let digit = |at: usize| u8::from_str_radix(&hex[at..=at], 16).ok();
            let pair = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).ok();
            return match hex.len() {
                3 | 4 => Some(Self(digit(0)? * 17, digit(1)? * 17, digit(2)? * 17)),
                6 | 8 => Some(Self(pair(0)?, pair(2)?, pair(4)?)),
                _ => None,
            };
        }
        let inner = text.strip_prefix("rgba(").or_else(|| text.strip_prefix("rgb("))?.strip_suffix(')')?;
        let mut channels = inner
            .split([',', ' ', '/'])
            .filter(|part| !part.is_empty())
            .map(|part| part.parse::<f64>().ok().map(|value| value.round().clamp(0.0, 255.0) as u8));
        Some(Self(channels.next()??, channels.next()??, channels.next()??))
    }

    /// This colour laid over another with an opacity in percent.
    #[must_use]
    pub fn over(self, ground: Self, level: u8) -> Self {
        let level = u32::from(level.min(100));
        let mix =
            |top: u8, under: u8| ((u32::from(top) * level + u32::from(under) * (100 - level)) / 100) as u8;
        Self(mix(self.0, ground.0), mix(self.1, ground.1), mix(self.2, ground.2))
    }

    /// Relative luminance by WCAG 2, 0 to 1.
    #[must_use]
    pub fn luminance(self) -> f64 {
        let linear = |channel: u8| {
            let share = f64::from(channel) / 255.0;
            if share <= 0.040_45 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(self.0) + 0.7152 * linear(self.1) + 0.0722 * linear(self.2)
    }

    /// Contrast ratio by WCAG 2, 1 to 21.
    #[must_use]
    pub fn contrast(self, other: Self) -> f64 {
        let (a, b) = (self.luminance(), other.luminance());
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// A nearly black or white ink, whichever reads better on this colour.
    #[must_use]
    pub fn ink(self) -> Self {
        const DARK: Rgb = Rgb(6, 17, 12);
        const LIGHT: Rgb = Rgb(255, 255, 255);
        if self.contrast(DARK) >= self.contrast(LIGHT) { DARK } else { LIGHT }
    }

    /// As CSS.
    #[must_use]
    pub fn css(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn css_colours_are_read() {
        for text in
            ["#43b581", "#43b581ff", " rgb(67, 181, 129)", "rgba(67,181,129,.5)", "rgb(67 181 129 / 0.5)"]
        {
            assert_eq!(Rgb::parse(text), Some(Rgb(67, 181, 129)), "{text}");
        }
        assert_eq!(Rgb::parse("#fff"), Some(Rgb(255, 255, 255)));
        for text in ["", "#", "#12345", "teal", "rgb(1, 2)", "#日本"] {
            assert_eq!(Rgb::parse(text), None, "{text}");
        }
    }

    #[test]
    fn the_ink_is_readable_on_any_colour() {
        for red in (0..=255).step_by(15) {
            for green in (0..=255).step_by(15) {
                for blue in (0..=255).step_by(15) {
                    let colour = Rgb(red, green, blue);
                    assert!(colour.contrast(colour.ink()) >= 4.3, "{colour:?}");
                }
            }
        }
    }

    #[test]
    fn a_layer_at_half_strength_lies_between() {
        assert_eq!(Rgb(200, 100, 0).over(Rgb(0, 100, 200), 50), Rgb(100, 100, 100));
        assert_eq!(Rgb(200, 100, 0).over(Rgb(0, 0, 0), 100), Rgb(200, 100, 0));
        assert!((Rgb(255, 255, 255).contrast(Rgb(0, 0, 0)) - 21.0).abs() < 0.01);
    }
}
