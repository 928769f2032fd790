//! Deck page, stage: the canvases, what is painted on them, and when.
//!
//! A canvas exists only while its strip is near the viewport. A change of data repaints the cells whose look
//! changed and nothing else; painting happens in an animation frame, at most once a frame.

use super::{
    layout::{Cell, CellSize, Plan, Strip},
    look::{self, Look},
    sprite::{self, Ink, Sprites},
};
use leptos::web_sys::{self, CanvasRenderingContext2d, HtmlCanvasElement, HtmlElement};
use std::{cell::RefCell, collections::BTreeSet, rc::Rc};
use wasm_bindgen::{JsCast, closure::Closure};

/// How long a changed cell glows, milliseconds.
const GLOW: f64 = 1000.0;
/// More changes than this at once are a new picture, not news of single servers.
const MOST_GLOWS: usize = 600;
/// Strips within this distance of the viewport are kept painted, CSS pixels.
const MARGIN: f64 = 600.0;

struct Sheet {
    canvas: HtmlCanvasElement,
    context: CanvasRenderingContext2d,
}

/// The canvases of the deck.
pub struct Stage {
    root: HtmlElement,
    plan: Plan,
    strips: Vec<Strip>,
    sheets: Vec<Option<Sheet>>,
    looks: Vec<Vec<Look>>,
    sprites: Option<Sprites>,
    ratio: f64,
    dirty: BTreeSet<Cell>,
    all_dirty: bool,
    glowing: Vec<(Cell, f64)>,
    still: bool,
    scheduled: bool,
}

/// The stage, shared by listeners and frames.
#[derive(Clone)]
pub struct Handle(Rc<RefCell<Stage>>);

impl Handle {
    /// A stage that puts its canvases into `root`.
    pub fn new(root: HtmlElement) -> Self {
        Self(Rc::new(RefCell::new(Stage {
            root,
            plan: Plan::default(),
            strips: Vec::new(),
            sheets: Vec::new(),
            looks: Vec::new(),
            sprites: None,
            ratio: 1.0,
            dirty: BTreeSet::new(),
            all_dirty: false,
            glowing: Vec::new(),
            still: true,
            scheduled: false,
        })))
    }

    /// Shows these looks at these places. `same_servers` says that a position stands for the same server as
    /// before, so that a difference is a change of it and glows.
    pub fn show(&self, plan: &Plan, looks: Vec<Vec<Look>>, same_servers: bool) {
        self.0.borrow_mut().show(plan, looks, same_servers);
        self.request();
    }

    /// Theme, device pixel ratio or motion preference may have changed: everything is drawn anew.
    pub fn restyle(&self) {
        {
            let mut stage = self.0.borrow_mut();
            stage.sprites = None;
            stage.drop_sheets();
        }
        self.request();
    }

    /// The viewport moved.
    pub fn scrolled(&self) {
        self.request();
    }

    /// Takes the canvases away.
    pub fn close(&self) {
        let mut stage = self.0.borrow_mut();
        stage.drop_sheets();
        stage.strips.clear();
        stage.glowing.clear();
    }

    fn request(&self) {
        if std::mem::replace(&mut self.0.borrow_mut().scheduled, true) {
            return;
        }
        let this = self.clone();
        let frame = Closure::once_into_js(move |now: f64| {
            let more = {
                let mut stage = this.0.borrow_mut();
                stage.scheduled = false;
                stage.frame(now)
            };
            if more {
                this.request();
            }
        });
        if let Some(window) = web_sys::window() {
            // Fails only in a document that is not shown any more.
            let _ = window.request_animation_frame(frame.unchecked_ref());
        }
    }
}

impl Stage {
    fn size(&self) -> CellSize {
        self.plan.size()
    }

    fn device(&self, length: f64) -> f64 {
        (length * self.ratio).round()
    }

    fn show(&mut self, plan: &Plan, looks: Vec<Vec<Look>>, same_servers: bool) {
        if self.plan != *plan {
            if self.plan.step != plan.step {
                self.sprites = None;
            }
            self.plan = plan.clone();
            self.drop_sheets();
            self.strips = plan.strips();
            self.sheets = self.strips.iter().map(|_| None).collect();
            self.glowing.clear();
            self.looks = looks;
            return;
        }
        let mut news = Vec::new();
        for (deck, (old, new)) in self.looks.iter().zip(&looks).enumerate() {
            match look::damage(old, new) {
                Some(changed) => {
                    for at in changed {
                        self.dirty.insert(Cell { deck, at });
                        if same_servers && look::glows(old[at], new[at]) {
                            news.push(Cell { deck, at });
                        }
                    }
                }
                None => self.all_dirty = true,
            }
        }
        self.looks = looks;
        if !self.still && news.len() <= MOST_GLOWS {
            let now = now();
            self.glowing.retain(|(cell, _)| !news.contains(cell));
            self.glowing.extend(news.into_iter().map(|cell| (cell, now)));
        }
    }

    fn drop_sheets(&mut self) {
        for sheet in self.sheets.iter_mut().filter_map(Option::take) {
            sheet.canvas.remove();
        }
        self.dirty.clear();
    }

    /// Paints what is due. Returns whether another frame is needed.
    fn frame(&mut self, now: f64) -> bool {
        if !self.style() {
            return false;
        }
        let (top, bottom) = self.visible();
        for index in 0..self.strips.len() {
            let strip = self.strips[index];
            let near = f64::from(strip.y) < bottom && f64::from(strip.y + strip.height) > top;
            if !near {
                if let Some(sheet) = self.sheets[index].take() {
                    sheet.canvas.remove();
                }
            } else if self.sheets[index].is_none() {
                self.sheets[index] = self.raise(strip);
                self.paint_strip(index);
            } else if self.all_dirty {
                self.paint_strip(index);
            }
        }
        if !self.all_dirty {
            for cell in std::mem::take(&mut self.dirty) {
                self.paint_cell(cell, 0.0);
            }
        }
        self.dirty.clear();
        self.all_dirty = false;
        let glowing = std::mem::take(&mut self.glowing);
        for (cell, since) in glowing {
            let age = ((now - since) / GLOW).clamp(0.0, 1.0);
            self.paint_cell(cell, 1.0 - age);
            if age < 1.0 {
                self.glowing.push((cell, since));
            }
        }
        !self.glowing.is_empty()
    }

    /// Makes sure that there are sprites for the present theme, size and ratio.
    fn style(&mut self) -> bool {
        let Some(window) = web_sys::window() else { return false };
        let ratio = window.device_pixel_ratio().clamp(0.5, 4.0);
        if (ratio - self.ratio).abs() > f64::EPSILON {
            self.ratio = ratio;
            self.sprites = None;
            self.drop_sheets();
        }
        if self.sprites.is_none() {
            let Some(ink) = Ink::read() else { return false };
            let motion = window.match_media("(prefers-reduced-motion: reduce)").ok().flatten();
            self.still = motion.is_some_and(|query| query.matches());
            let side = self.device(f64::from(self.size().cell));
            self.sprites = Some(Sprites::new(ink, side, self.size().has_marks()));
            self.all_dirty = true;
        }
        true
    }

    /// The part of the deck that is near the viewport, in the deck's coordinates.
    fn visible(&self) -> (f64, f64) {
        let top = self.root.get_bounding_client_rect().top();
        let height = web_sys::window()
            .and_then(|window| window.inner_height().ok())
            .and_then(|height| height.as_f64())
            .unwrap_or(1000.0);
        (-top - MARGIN, -top + height + MARGIN)
    }

    /// Puts the canvas of a strip into the page.
    fn raise(&self, strip: Strip) -> Option<Sheet> {
        let (canvas, context) =
            sprite::canvas(self.device(f64::from(strip.width)), self.device(f64::from(strip.height)))?;
        // Styles set through the object model are allowed by a policy without inline styles.
        let style = canvas.style();
        for (name, value) in
            [("left", strip.x), ("top", strip.y), ("width", strip.width), ("height", strip.height)]
        {
            let _ = style.set_property(name, &format!("{value}px"));
        }
        self.root.append_child(&canvas).ok()?;
        Some(Sheet { canvas, context })
    }

    fn paint_strip(&mut self, index: usize) {
        let strip = self.strips[index];
        if let Some(sheet) = &self.sheets[index] {
            let (width, height) = (f64::from(sheet.canvas.width()), f64::from(sheet.canvas.height()));
            sheet.context.clear_rect(0.0, 0.0, width, height);
        }
        for at in strip.first..strip.first + strip.count {
            self.paint_in(index, Cell { deck: strip.deck, at }, false);
        }
    }

    /// Paints one cell, with so much glow (0 to 1).
    fn paint_cell(&mut self, cell: Cell, glow: f64) {
        // Strips are in the order of decks and positions.
        let after = self.strips.partition_point(|strip| (strip.deck, strip.first) <= (cell.deck, cell.at));
        let Some(index) = after.checked_sub(1).filter(|index| self.strips[*index].deck == cell.deck) else {
            return;
        };
        let Some((x, y)) = self.paint_in(index, cell, true) else { return };
        if glow <= 0.0 {
            return;
        }
        let (Some(sheet), Some(sprites)) = (&self.sheets[index], &self.sprites) else { return };
        sheet.context.set_global_alpha(0.75 * glow);
        sheet.context.set_fill_style_str(&sprites.ink().text.css());
        sheet.context.fill_rect(x, y, sprites.side(), sprites.side());
        sheet.context.set_global_alpha(1.0);
    }

    /// Copies a cell's sprite to its place; returns that in device pixels.
    fn paint_in(&mut self, index: usize, cell: Cell, clear: bool) -> Option<(f64, f64)> {
        let strip = self.strips[index];
        let pitch = f64::from(self.size().pitch());
        let columns = self.plan.decks.get(cell.deck)?.columns as usize;
        let at = cell.at.checked_sub(strip.first)?;
        let look = *self.looks.get(cell.deck)?.get(cell.at)?;
        let (x, y) = (self.device((at % columns) as f64 * pitch), self.device((at / columns) as f64 * pitch));
        let sheet = self.sheets[index].as_ref()?;
        let sprites = self.sprites.as_mut()?;
        if clear {
            sheet.context.clear_rect(x, y, sprites.side(), sprites.side());
        }
        sprites.put(&sheet.context, look, x, y);
        Some((x, y))
    }
}

fn now() -> f64 {
    web_sys::window().and_then(|window| window.performance()).map_or(0.0, |performance| performance.now())
}
