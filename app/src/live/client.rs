//! The IO of the live stream in the browser: fetch, timers, wake-ups. Every decision is the machine's.

use super::{
    Live, envelope,
    machine::{Command, Event, Machine, Status},
    sse,
};
use crate::lean::effect;
use crate::{api, time::machine_now};
use leptos::{logging::warn, prelude::*, task::spawn_local};
use std::{cell::RefCell, rc::Rc, time::Duration};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortController, ReadableStreamDefaultReader, RequestCache, RequestInit};
use wire::{LiveMessage, View};

/// One stream: a machine, its connection, its timer, and where messages go.
struct Line {
    machine: RefCell<Machine>,
    /// Counts connections; words of an older one are not listened to.
    generation: RefCell<u64>,
    abort: RefCell<Option<AbortController>>,
    timer: RefCell<Option<TimeoutHandle>>,
    view: Box<dyn Fn() -> View>,
    /// The view that the present connection was opened for.
    asked: RefCell<Option<View>>,
    on_status: Box<dyn Fn(Status)>,
    on_message: Box<dyn Fn(LiveMessage)>,
}

impl Line {
    fn open(
        page_made: i64,
        view: impl Fn() -> View + 'static,
        on_status: impl Fn(Status) + 'static,
        on_message: impl Fn(LiveMessage) + 'static,
    ) -> Rc<Self> {
        let line = Rc::new(Self {
            machine: RefCell::new(Machine::start(machine_now(), page_made)),
            generation: RefCell::new(0),
            abort: RefCell::new(None),
            timer: RefCell::new(None),
            view: Box::new(view),
            asked: RefCell::new(None),
            on_status: Box::new(on_status),
            on_message: Box::new(on_message),
        });
        line.connect();
        line.arm();
        line
    }

    fn event(self: &Rc<Self>, event: Event) {
        let command = self.machine.borrow_mut().step(event, machine_now(), js_sys::Math::random());
        match command {
            Some(Command::Connect) => self.connect(),
            Some(Command::Abort) => self.hang_up(),
            None => {}
        }
        self.arm();
    }

    /// Sets the timer for the machine's next wake-up and tells the status.
    fn arm(self: &Rc<Self>) {
        let now = machine_now();
        (self.on_status)(self.machine.borrow().status(now));
        let wait = self.machine.borrow().wake_at(now).saturating_sub(now).clamp(1, 60_000);
        if let Some(timer) = self.timer.borrow_mut().take() {
            timer.clear();
        }
        let line = Rc::downgrade(self);
        let timer = set_timeout_with_handle(
            move || {
                if let Some(line) = line.upgrade() {
                    line.event(Event::Tick);
                }
            },
            Duration::from_millis(wait.unsigned_abs()),
        );
        *self.timer.borrow_mut() = timer.ok();
    }

    fn hang_up(&self) {
        *self.generation.borrow_mut() += 1;
        if let Some(abort) = self.abort.borrow_mut().take() {
            abort.abort();
        }
    }

    fn close(&self) {
        self.hang_up();
        if let Some(timer) = self.timer.borrow_mut().take() {
            timer.clear();
        }
    }

    fn connect(self: &Rc<Self>) {
        self.hang_up();
        let view = (self.view)();
        let Ok(json) = serde_json::to_string(&view) else { return };
        *self.asked.borrow_mut() = Some(view);
        let generation = *self.generation.borrow();
        let abort = AbortController::new().ok();
        let signal = abort.as_ref().map(AbortController::signal);
        *self.abort.borrow_mut() = abort;
        let line = self.clone();
        spawn_local(async move {
            let end = read(&line, generation, &json, signal.as_ref()).await;
            if *line.generation.borrow() == generation {
                line.event(end);
            }
        });
    }

    fn message(self: &Rc<Self>, text: &str) {
        let message = match envelope::read(text) {
            Ok(message) => message,
            Err(error) => return warn!("a live message that cannot be read: {error}"),
        };
        match &message {
            LiveMessage::Hello { heartbeat, .. } => {
                self.event(Event::Heard { heartbeat: Some(i64::from(*heartbeat) * 1000) });
            }
            LiveMessage::Bye { retry } => self.event(Event::Bye { retry: i64::from(*retry) }),
            _ => self.event(Event::Heard { heartbeat: None }),
        }
        let about_all = matches!(
            message,
            LiveMessage::Hello { .. }
                | LiveMessage::Heartbeat { .. }
                | LiveMessage::Totals(_)
                | LiveMessage::Bye { .. }
        );
        // The page looks at something else by now: what still comes for the old view is not for it.
        if about_all || self.asked.borrow().as_ref() == Some(&(self.view)()) {
            (self.on_message)(message);
        }
    }
}

/// Reads one connection to its end and says how it ended.
async fn read(line: &Rc<Line>, generation: u64, view: &str, signal: Option<&web_sys::AbortSignal>) -> Event {
    let init = RequestInit::new();
    init.set_signal(signal);
    init.set_cache(RequestCache::NoStore);
    let url = format!("api/v1/live{}", crate::urls::query(&[("view", view)]));
    let Ok(response) = api::fetch(&url, &init).await else { return Event::Ended };
    if !response.ok() {
        return Event::Rejected { http: response.status() };
    }
    let Some(body) = response.body() else { return Event::Ended };
    let Ok(reader) = body.get_reader().dyn_into::<ReadableStreamDefaultReader>() else { return Event::Ended };
    if *line.generation.borrow() != generation {
        return Event::Ended;
    }
    line.event(Event::Opened);
    let mut events = sse::Reader::default();
    while let Ok(part) = JsFuture::from(reader.read()).await {
        if *line.generation.borrow() != generation {
            break;
        }
        let done = js_sys::Reflect::get(&part, &JsValue::from_str("done")).is_ok_and(|done| done.is_truthy());
        if done {
            break;
        }
        let Ok(value) = js_sys::Reflect::get(&part, &JsValue::from_str("value")) else { break };
        for text in events.push(&js_sys::Uint8Array::new(&value).to_vec()) {
            line.message(&text);
            if *line.generation.borrow() != generation {
                break;
            }
        }
    }
    Event::Ended
}

/// Opens a second line for a view that does not change.
pub(super) fn start_side(live: Live, view: View, on: impl Fn(LiveMessage) + 'static) {
    let line = Line::open(live.now.get_untracked(), move || view.clone(), |_| {}, on);
    let line = StoredValue::new_local(line);
    on_cleanup(move || {
        line.try_with_value(|line| line.close());
    });
}

/// Starts the stream of the tab.
pub(super) fn start(live: Live) {
    let page_made = live.now.get_untracked();
    let begin = move || {
        if let Some(root) = crate::browser::root() {
            // From here on the page answers to the hand; the name is legal, so this cannot fail.
            let _ = root.set_attribute("data-hydrated", "");
        }
        let line = Line::open(
            page_made,
            move || live.view.get_untracked(),
            move |status| {
                if live.status.with_untracked(|old| *old != status) {
                    live.status.set(status);
                }
            },
            move |message| live.deliver(message),
        );
        let watched = line.clone();
        // Pages set their view in effects of their own, perhaps before this one runs for the first time: what
        // counts is whether the line asked for the view, not whether it changed since.
        Effect::new(move |before: Option<u32>| {
            let (view, again) = (live.view.get(), live.again.get());
            let other = watched.asked.borrow().as_ref() != Some(&view);
            if other || before.is_some_and(|before| before != again) {
                watched.event(Event::ViewChanged);
            }
            again
        });
        // A laptop that wakes up or a network that is back: look at once instead of after the back-off.
        for name in ["online", "visibilitychange", "focus"] {
            let line = line.clone();
            let handle = window_event_listener_untyped(name, move |_| line.event(Event::Woken));
            on_cleanup(move || handle.remove());
        }
        let line = StoredValue::new_local(line);
        on_cleanup(move || {
            line.try_with_value(|line| line.close());
        });
    };
    // Only after hydration, and a moment later: by then the page has said what it looks at.
    let owner = Owner::current();
    effect(move || {
        let owner = owner.clone();
        let later = move || owner.as_ref().map_or_else(begin, |owner| owner.with(begin));
        set_timeout(later, Duration::ZERO);
    });
    // The clock of the page: ages move on between two heartbeats.
    let tick = set_interval_with_handle(move || live.now.update(|now| *now += 5000), Duration::from_secs(5));
    if let Ok(tick) = tick {
        on_cleanup(move || tick.clear());
    }
}
