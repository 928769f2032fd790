//! Watching: the objects that are there (if wanted), then every change, until the client, the time or the history ends it.
use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http::{Response, StatusCode};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::context::Context;
use super::list::{Selection, forbidden_option, too_new};
use crate::api::error::{ApiError, FieldError, Result};
use crate::api::faults::WatchOrders;
use crate::api::http::answer;
use crate::api::http::compress::Endless;
use crate::api::http::query::VersionMatch;
use crate::api::store::{Batch, Change, Cursor, Event, PageQuery};
use crate::api::table::Renderer;

/// How much is put into one chunk, and read from the history at once.
const CHUNK: usize = 64 * 1024;
/// How many objects the initial state is read at once.
const PAGE: usize = 500;
/// How often a quiet watch gets a bookmark.
const BOOKMARK_EVERY: Duration = Duration::from_secs(60);

/// GET with `watch`.
pub fn watch(context: &Context<'_>) -> Result<Response<Body>> {
    let options = &context.options;
    let selection = Selection::of(context)?;
    let current = context.server.revision();
    if let Some(wanted) = options.resource_version.filter(|v| *v > current) {
        return Err(too_new(wanted, current));
    }
    if options.continue_token.is_some() {
        return Err(forbidden_option("continue", "continue is forbidden for watch"));
    }
    if options.version_match.is_some() && options.send_initial_events.is_none() {
        let why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
        return Err(forbidden_option("resourceVersionMatch", why));
    }
    let mark_end = options.send_initial_events == Some(true);
    if mark_end && options.version_match != Some(VersionMatch::NotOlderThan) {
        let detail = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
        let error = FieldError::forbidden("resourceVersionMatch", detail);
        return Err(ApiError::invalid_options("ListOptions", "meta.k8s.io", &error));
    }
    let from = options.resource_version.filter(|v| *v > 0);
    let with_state = mark_end || (options.send_initial_events.is_none() && from.is_none());
    let start = if with_state { current } else { from.unwrap_or(current) };
    let now = Instant::now();
    let stream = Stream {
        cursor: Cursor::new(context.resource.shelf.clone(), start),
        shelf_page: with_state.then(|| PageQuery {
            namespace: selection.namespace.clone(),
            after: None,
            at: Some(start),
            limit: PAGE,
        }),
        mark_end,
        selection,
        renderer: Renderer::of(context),
        bookmarks: options.bookmarks,
        next_bookmark: now + BOOKMARK_EVERY,
        // The real server draws 30 to 60 minutes where the client does not say; half an hour is as good.
        deadline: now + Duration::from_secs(options.timeout_seconds.filter(|s| *s > 0).unwrap_or(1800)),
        orders: context.server.faults().watch_orders(),
        seen_orders: *context.server.faults().watch_orders().borrow(),
        ended: false,
    };
    let stream = futures::stream::unfold(stream, |mut stream| async move {
        let chunk = stream.next().await?;
        Some((Ok::<Bytes, Infallible>(chunk), stream))
    });
    let mut response = answer::raw(StatusCode::OK, "application/json", Body::from_stream(stream));
    // Proxies must not hold events back.
    response.extensions_mut().insert(Endless);
    response.headers_mut().insert("x-accel-buffering", http::HeaderValue::from_static("no"));
    Ok(response)
}

struct Stream {
    cursor: Cursor,
    /// What of the initial state is still to be sent; its revision is fixed.
    shelf_page: Option<PageQuery>,
    /// A bookmark ends the initial state.
    mark_end: bool,
    selection: Selection,
    renderer: Renderer,
    bookmarks: bool,
    next_bookmark: Instant,
    deadline: Instant,
    orders: tokio::sync::watch::Receiver<WatchOrders>,
    seen_orders: WatchOrders,
    ended: bool,
}

enum Woken {
    Batch(Batch),
    Orders,
    Bookmark,
    Deadline,
}

impl Stream {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if self.ended {
                return None;
            }
            let orders = *self.orders.borrow_and_update();
            if orders.drop != self.seen_orders.drop {
                return None;
            }
            if orders.expire != self.seen_orders.expire {
                return Some(self.expire());
            }
            if self.shelf_page.is_some() {
                match self.initial() {
                    Some(chunk) if chunk.is_empty() => continue,
                    Some(chunk) => return Some(chunk),
                    None => return Some(self.expire()),
                }
            }
            let selection = &self.selection;
            let wanted = |event: &Event| {
                selection.covers(&event.object)
                    || event.previous.as_ref().is_some_and(|p| selection.covers(p))
            };
            let woken = tokio::select! {
                biased;
                batch = self.cursor.next(CHUNK, wanted) => Woken::Batch(batch),
                changed = self.orders.changed() => if changed.is_ok() { Woken::Orders } else { Woken::Deadline },
                () = tokio::time::sleep_until(self.next_bookmark), if self.bookmarks => Woken::Bookmark,
                () = tokio::time::sleep_until(self.deadline) => Woken::Deadline,
            };
            match woken {
                Woken::Batch(Batch::Events(events, _)) => {
                    if !orders.delay.is_zero() {
                        tokio::time::sleep(orders.delay).await;
                    }
                    let chunk = self.render(&events);
                    if !chunk.is_empty() {
                        return Some(chunk);
                    }
                }
                Woken::Batch(Batch::Expired) => return Some(self.expire()),
                Woken::Batch(Batch::Closed) => return None,
                Woken::Orders => {}
                Woken::Bookmark => {
                    self.next_bookmark = Instant::now() + BOOKMARK_EVERY;
                    // Nothing of this kind is pending, so everything up to the newest revision was delivered.
                    if let Batch::Events(events, revision) = self.cursor.take(CHUNK, |event| {
                        self.selection.covers(&event.object)
                            || event.previous.as_ref().is_some_and(|p| self.selection.covers(p))
                    }) {
                        let mut chunk = self.render(&events).to_vec();
                        chunk.extend_from_slice(&self.renderer.bookmark(revision, false));
                        return Some(chunk.into());
                    }
                }
                Woken::Deadline => return None,
            }
        }
    }

    /// The next page of the initial state, and at its end the mark.
    fn initial(&mut self) -> Option<Bytes> {
        let query = self.shelf_page.take()?;
        let page = self.cursor.shelf().page(&query, |object| self.selection.matches(object)).ok()?;
        let mut out = BytesMut::new();
        for object in &page.items {
            self.renderer.event(&mut out, "ADDED", object, None);
        }
        match page.more {
            Some(after) => self.shelf_page = Some(PageQuery { after: Some(after), ..query }),
            None if self.mark_end => out.extend_from_slice(&self.renderer.bookmark(page.revision, true)),
            None => {}
        }
        Some(out.freeze())
    }

    fn render(&mut self, events: &[Event]) -> Bytes {
        let mut out = BytesMut::new();
        for event in events {
            let now = event.change != Change::Deleted && self.selection.covers(&event.object);
            let before = event.previous.as_ref().filter(|p| self.selection.covers(p));
            match (before, now) {
                (None, true) => self.renderer.event(&mut out, "ADDED", &event.object, None),
                (Some(_), true) => self.renderer.event(&mut out, "MODIFIED", &event.object, None),
                (Some(_), false) if event.change == Change::Deleted => {
                    self.renderer.event(&mut out, "DELETED", &event.object, None);
                }
                // It left the selection: its last selected content, under the revision of the change.
                (Some(previous), false) => {
                    self.renderer.event(&mut out, "DELETED", previous, Some(event.object.revision));
                }
                (None, false) => {}
            }
        }
        out.freeze()
    }

    fn expire(&mut self) -> Bytes {
        self.ended = true;
        let error = ApiError::expired(format!("too old resource version: {}", self.cursor.seen()));
        let event: Value = json!({ "type": "ERROR", "object": error.status() });
        format!("{event}\n").into()
    }
}
