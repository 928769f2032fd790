//! Deck page, sprites: one small picture per look, drawn once and then copied to every cell that looks so.
//!
//! Everything here is in device pixels, so that cells are crisp at any device pixel ratio.

use super::{
    colour::Rgb,
    look::{HUES, Look, Mark},
};
use std::{collections::HashMap, f64::consts::PI};
use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

/// The colours of the present theme.
#[derive(Clone, Debug)]
pub struct Ink {
    hues: Vec<Rgb>,
    /// What lies under the cells.
    pub ground: Rgb,
    /// Text on it: selection and glow.
    pub text: Rgb,
}

impl Ink {
    /// Reads the custom properties of the document. A property that is missing is grey.
    pub fn read() -> Option<Self> {
        let window = web_sys::window()?;
        let root = window.document()?.document_element()?;
        let style = window.get_computed_style(&root).ok()??;
        let colour = |name: &str| {
            style
                .get_property_value(name)
                .ok()
                .and_then(|text| Rgb::parse(&text))
                .unwrap_or(Rgb(128, 128, 128))
        };
        Some(Self {
            hues: HUES.iter().map(|name| colour(name)).collect(),
            ground: colour("--bg"),
            text: colour("--text"),
        })
    }
}

/// The sprites of one theme, cell size and device pixel ratio.
pub struct Sprites {
    ink: Ink,
    side: f64,
    marks: bool,
    known: HashMap<Look, Option<HtmlCanvasElement>>,
}

impl Sprites {
    /// No sprite drawn yet. `side` is that of a cell in device pixels, `marks` whether it carries the opsState.
    pub fn new(ink: Ink, side: f64, marks: bool) -> Self {
        Self { ink, side: side.max(1.0), marks, known: HashMap::new() }
    }

    /// The colours.
    pub fn ink(&self) -> &Ink {
        &self.ink
    }

    /// Side in device pixels.
    pub fn side(&self) -> f64 {
        self.side
    }

    /// Copies the look to a place of a canvas.
    pub fn put(&mut self, context: &CanvasRenderingContext2d, look: Look, x: f64, y: f64) {
        let (ink, side, marks) = (&self.ink, self.side, self.marks);
        // Below the size of marks two looks that differ only in the mark are the same picture.
        let look = if marks { look } else { Look { mark: Mark::None, ..look } };
        let sprite = self.known.entry(look).or_insert_with(|| draw(ink, look, side));
        if let Some(sprite) = sprite {
            // Drawing a canvas that exists fails only when it has no pixels, and a sprite has at least one.
            let _ = context.draw_image_with_html_canvas_element(sprite, x, y);
        }
    }
}

/// A canvas of this size in device pixels with its context.
pub fn canvas(width: f64, height: f64) -> Option<(HtmlCanvasElement, CanvasRenderingContext2d)> {
    let element = web_sys::window()?.document()?.create_element("canvas").ok()?;
    let canvas: HtmlCanvasElement = element.dyn_into().ok()?;
    canvas.set_width(width.max(1.0) as u32);
    canvas.set_height(height.max(1.0) as u32);
    let context = canvas.get_context("2d").ok()??.dyn_into().ok()?;
    Some((canvas, context))
}

fn draw(ink: &Ink, look: Look, side: f64) -> Option<HtmlCanvasElement> {
    let (canvas, context) = canvas(side, side)?;
    let hue = ink.hues.get(usize::from(look.tone.hue)).copied().unwrap_or(ink.text);
    let fill = hue.over(ink.ground, look.tone.level);
    context.set_fill_style_str(&fill.css());
    context.begin_path();
    if side >= 6.0 {
        let _ = context.round_rect_with_f64(0.0, 0.0, side, side, (side * 0.22).min(6.0));
    } else {
        context.rect(0.0, 0.0, side, side);
    }
    context.fill();
    context.clip();
    if look.striped {
        stripes(&context, ink.ground, side);
    }
    if look.selected {
        ring(&context, ink, side);
    }
    context.set_fill_style_str(&fill.ink().css());
    context.set_stroke_style_str(&fill.ink().css());
    mark(&context, look.mark, side, look.selected);
    Some(canvas)
}

fn stripes(context: &CanvasRenderingContext2d, ground: Rgb, side: f64) {
    let step = (side / 2.6).max(3.0);
    context.set_stroke_style_str(&ground.css());
    context.set_line_width(step * 0.42);
    context.begin_path();
    let mut x = -side;
    while x < side * 2.0 {
        context.move_to(x, side);
        context.line_to(x + side, 0.0);
        x += step;
    }
    context.stroke();
}

/// Selected: a ring in the colour of text, with a thin gap to the cell so that it is seen on any colour. A cell of
/// a few pixels is tinted with it instead.
fn ring(context: &CanvasRenderingContext2d, ink: &Ink, side: f64) {
    if side < 7.0 {
        context.set_global_alpha(0.62);
        context.set_fill_style_str(&ink.text.css());
        context.fill_rect(0.0, 0.0, side, side);
        context.set_global_alpha(1.0);
        return;
    }
    let width = (side * 0.16).clamp(1.0, 4.0).round();
    // In a small cell the gap between cells has to do for the inner one.
    let rings = [(width * 0.5, ink.text), (width * 1.5, ink.ground)];
    for (inset, colour) in rings.into_iter().take(if side < 13.0 { 1 } else { 2 }) {
        context.set_stroke_style_str(&colour.css());
        context.set_line_width(width);
        context.begin_path();
        let radius = (side * 0.22).min(6.0);
        let _ = context.round_rect_with_f64(inset, inset, side - 2.0 * inset, side - 2.0 * inset, radius);
        context.stroke();
    }
}

/// The shapes of opsState, in a square of side 1 that is scaled to the cell; inside the ring of a selected one.
fn mark(context: &CanvasRenderingContext2d, mark: Mark, side: f64, inside: bool) {
    let scale = if inside { side * 0.72 } else { side };
    let shift = (side - scale) / 2.0;
    let at = |share: f64| shift + share * scale;
    let line = |points: &[(f64, f64)]| {
        context.begin_path();
        for (index, (x, y)) in points.iter().enumerate() {
            if index == 0 { context.move_to(at(*x), at(*y)) } else { context.line_to(at(*x), at(*y)) }
        }
    };
    context.set_line_cap("round");
    context.set_line_width((scale * 0.14).max(1.0));
    match mark {
        Mark::None => {}
        Mark::Dot => {
            context.begin_path();
            // Most servers of a busy fleet have it: quieter than the other marks.
            context.set_global_alpha(0.62);
            let _ = context.arc(at(0.5), at(0.5), scale * 0.16, 0.0, 2.0 * PI);
            context.fill();
            context.set_global_alpha(1.0);
        }
        Mark::Wrench => {
            line(&[(0.22, 0.78), (0.54, 0.46)]);
            context.stroke();
            // The jaw: a ring that is open to the upper right.
            context.begin_path();
            let _ = context.arc(at(0.63), at(0.37), scale * 0.18, PI * 0.02, PI * 1.48);
            context.stroke();
        }
        Mark::Hourglass => {
            line(&[(0.24, 0.16), (0.76, 0.16), (0.24, 0.84), (0.76, 0.84)]);
            context.close_path();
            context.fill();
        }
        Mark::Cross => {
            line(&[(0.24, 0.24), (0.76, 0.76)]);
            context.stroke();
            line(&[(0.76, 0.24), (0.24, 0.76)]);
            context.stroke();
        }
        Mark::Letter(letter) => {
            context.set_font(&format!("700 {}px system-ui, sans-serif", scale * 0.78));
            context.set_text_align("center");
            context.set_text_baseline("middle");
            let _ = context.fill_text(&letter.to_string(), at(0.5), at(0.54));
        }
    }
}
