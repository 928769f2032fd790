//! `pods/log`: what a container said, as text; with `follow` also what it says from now on.
use std::convert::Infallible;
use std::fmt::Write;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures::stream;
use http::{Response, StatusCode, Uri};
use jiff::{SignedDuration, Timestamp};

use super::context::Context;
use crate::api::Server;
use crate::api::error::{ApiError, FieldError, Named, Result};
use crate::api::http::compress::Endless;
use crate::api::http::{answer, query};
use crate::api::logs::{ContainerLog, LogLine, NoLog};
use crate::api::store::{Key, Shelf};

/// How often a reader that follows looks for the end of the container when nothing is said.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// The options of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct LogOptions {
    container: Option<String>,
    follow: bool,
    previous: bool,
    timestamps: bool,
    since_seconds: Option<i64>,
    since_time: Option<Timestamp>,
    tail_lines: Option<usize>,
    limit_bytes: Option<usize>,
}

impl LogOptions {
    /// Reads the query of a request about the pod of this name.
    fn parse(uri: &Uri, pod: &str) -> Result<Self> {
        let mut options = Self::default();
        for (name, value) in query::pairs(uri)? {
            let truth = || value.is_empty() || !matches!(value.as_str(), "false" | "0");
            match name.as_str() {
                "container" => options.container = Some(value).filter(|name| !name.is_empty()),
                "follow" => options.follow = truth(),
                "previous" => options.previous = truth(),
                "timestamps" => options.timestamps = truth(),
                "sinceSeconds" => options.since_seconds = Some(whole(&value, &name, pod, 1)?),
                "sinceTime" => options.since_time = Some(time(&value)?),
                "tailLines" => options.tail_lines = usize::try_from(whole(&value, &name, pod, 0)?).ok(),
                "limitBytes" => options.limit_bytes = usize::try_from(whole(&value, &name, pod, 1)?).ok(),
                _ => {}
            }
        }
        if options.since_seconds.is_some() && options.since_time.is_some() {
            let why = "at most one of `sinceTime` or `sinceSeconds` may be specified";
            return Err(invalid(pod, &FieldError::forbidden("[]", why)));
        }
        Ok(options)
    }

    /// From when lines are wanted.
    fn since(&self, now: Timestamp) -> Timestamp {
        let seconds = self.since_seconds.and_then(|s| now.checked_sub(SignedDuration::from_secs(s)).ok());
        seconds.or(self.since_time).unwrap_or(Timestamp::MIN)
    }

    fn write(&self, lines: &[LogLine]) -> String {
        let mut text = String::new();
        for line in lines {
            if self.timestamps {
                // Writing into a text cannot fail.
                let _ = write!(text, "{} ", line.time.strftime("%Y-%m-%dT%H:%M:%S.%9fZ"));
            }
            text.push_str(&line.text);
            text.push('\n');
        }
        text
    }
}

fn whole(text: &str, name: &str, pod: &str, least: i64) -> Result<i64> {
    let number = text
        .parse::<i64>()
        .map_err(|_| ApiError::bad_request(format!("strconv.ParseInt: parsing {text:?}: invalid syntax")))?;
    if number < least {
        let why = if least == 0 { "must be greater than or equal to 0" } else { "must be greater than 0" };
        return Err(invalid(pod, &FieldError::invalid(name, number, why)));
    }
    Ok(number)
}

fn time(text: &str) -> Result<Timestamp> {
    text.parse()
        .map_err(|_| ApiError::bad_request(format!("parsing time {text:?} as RFC 3339: cannot parse")))
}

fn invalid(pod: &str, error: &FieldError) -> ApiError {
    ApiError::invalid(Named { group: "", name: "PodLogOptions" }, pod, std::slice::from_ref(error))
}

/// GET of the log.
pub fn log(context: &Context<'_>) -> Result<Response<Body>> {
    let options = LogOptions::parse(context.uri, context.name())?;
    let stored = context.stored(&context.key())?;
    let Some(source) = context.server.log_source() else {
        let message = "the sandbox has no pods/log: nobody here plays kubelets that could tell";
        return Err(ApiError::new(501, "NotImplemented", message));
    };
    let opened = source.open(&stored.value(), options.container.as_deref(), options.previous);
    let log = match opened {
        Ok(log) => log,
        Err(NoLog::Nothing) => return Ok(nothing()),
        Err(NoLog::Refused(why)) => return Err(ApiError::bad_request(why)),
    };
    let now = context.server.clock().now();
    let from = options.since(now);
    let mut lines = match options.tail_lines {
        Some(count) => log.last(count, now),
        None => log.between(from, now),
    };
    lines.retain(|line| line.time >= from);
    let mut first = options.write(&lines);
    if let Some(limit) = options.limit_bytes {
        // Cut where the byte is, as the real one does; a letter that it cuts through goes.
        first.truncate(first.floor_char_boundary(limit));
    }
    let left = options.limit_bytes.map(|limit| limit - first.len());
    if !options.follow || options.previous || left == Some(0) {
        return Ok(text(Body::from(first)));
    }
    let reader = Reader {
        server: context.server.clone(),
        shelf: context.resource.shelf.clone(),
        key: context.key(),
        uid: stored.uid.clone(),
        options,
        told: now,
        left,
        log,
    };
    let stream = stream::unfold((Some(first), Some(reader)), |(first, reader)| async move {
        if let Some(first) = first.filter(|first| !first.is_empty()) {
            return Some((Ok::<_, Infallible>(Bytes::from(first)), (None, reader)));
        }
        let mut reader = reader?;
        let chunk = reader.next().await?;
        let reader = (reader.left != Some(0)).then_some(reader);
        Some((Ok(Bytes::from(chunk)), (None, reader)))
    });
    let mut response = text(Body::from_stream(stream));
    response.extensions_mut().insert(Endless);
    Ok(response)
}

fn text(body: Body) -> Response<Body> {
    answer::raw(StatusCode::OK, "text/plain", body)
}

/// There is no node yet that could be asked.
fn nothing() -> Response<Body> {
    let mut response = answer::raw(StatusCode::NO_CONTENT, "text/plain", Body::empty());
    response.headers_mut().remove(http::header::CONTENT_TYPE);
    response
}

/// Follows one run of a container until it ends or its pod is gone.
struct Reader {
    server: Server,
    shelf: std::sync::Arc<Shelf>,
    key: Key,
    uid: Box<str>,
    options: LogOptions,
    /// Lines up to this moment were told.
    told: Timestamp,
    /// Bytes that may still be sent.
    left: Option<usize>,
    log: Box<dyn ContainerLog>,
}

impl Reader {
    async fn next(&mut self) -> Option<String> {
        loop {
            let gone = self.look();
            let now = self.server.clock().now();
            let after = self.told.checked_add(SignedDuration::from_nanos(1)).unwrap_or(self.told);
            let lines = self.log.between(after, now);
            self.told = self.told.max(now);
            if !lines.is_empty() {
                let mut text = self.options.write(&lines);
                if let Some(left) = &mut self.left {
                    text.truncate(text.floor_char_boundary(*left));
                    *left -= text.len();
                }
                return Some(text);
            }
            if gone || self.log.ended().is_some_and(|end| end <= now) {
                return None;
            }
            let next = self.log.next_after(self.told).map(|time| time.duration_since(now));
            let wait = next.and_then(|wait| Duration::try_from(wait).ok()).unwrap_or(LOOK_AGAIN);
            tokio::time::sleep(wait.clamp(Duration::from_millis(1), LOOK_AGAIN)).await;
        }
    }

    /// Reads the pod again; true when there is nothing more to come from it.
    fn look(&mut self) -> bool {
        let Some(stored) = self.shelf.get(&self.key).filter(|stored| stored.uid == self.uid) else {
            return true;
        };
        let Some(source) = self.server.log_source() else { return true };
        match source.open(&stored.value(), self.options.container.as_deref(), false) {
            Ok(log) => {
                // Another run has begun: a reader stays with the one it opened.
                let same = self.log.ended().is_none() || log.ended() == self.log.ended();
                if same {
                    self.log = log;
                }
                !same
            }
            Err(_) => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_nonsense_is_refused() {
        let parse = |query: &str| LogOptions::parse(&format!("/?{query}").parse().unwrap(), "p");
        let options = parse("container=game&follow=true&tailLines=5&timestamps=1").unwrap();
        assert_eq!(
            options,
            LogOptions {
                container: Some("game".into()),
                follow: true,
                timestamps: true,
                tail_lines: Some(5),
                ..LogOptions::default()
            }
        );
        for (query, code) in [
            ("tailLines=-1", 422),
            ("tailLines=x", 400),
            ("sinceSeconds=0", 422),
            ("sinceTime=yesterday", 400),
            ("sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z", 422),
        ] {
            assert_eq!(parse(query).unwrap_err().code, code, "{query}");
        }
    }
}
