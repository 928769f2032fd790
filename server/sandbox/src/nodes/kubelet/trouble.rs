//! Trouble by annotation, read for one container: `VALUE` means the first container, `game=VALUE,proxy=VALUE` names them.

use std::time::Duration;

use super::super::pod::{Container, Pod};
use super::{Machine, grace};

/// The code of a process that was killed: 128 and the number of SIGKILL.
pub const KILLED: i32 = 137;

/// What an annotation says about this container.
pub fn wish<'a>(pod: &'a Pod, spec: &Container, key: &str) -> Option<&'a str> {
    pod.wish(key)?.split(',').find_map(|part| match part.split_once('=') {
        Some((name, value)) => (name.trim() == spec.name).then(|| value.trim()),
        None => {
            let first = pod.spec.containers.first();
            first.is_some_and(|first| first.name == spec.name).then(|| part.trim())
        }
    })
}

/// The code with which a container shall crash again and again.
pub fn crash_code(pod: &Pod, spec: &Container) -> Option<i32> {
    wish(pod, spec, "crash")?.parse().ok()
}

/// The code with which a container shall crash once. The text after an `@` makes it another wish, to crash once more.
pub fn crash_once(pod: &Pod, spec: &Container) -> Option<(i32, String)> {
    let wish = wish(pod, spec, "crash-once")?;
    let code = wish.split('@').next().and_then(|code| code.trim().parse().ok())?;
    Some((code, wish.to_owned()))
}

/// True when a probe of this container shall fail.
pub fn fails(pod: &Pod, spec: &Container, probe: &str) -> bool {
    wish(pod, spec, probe).is_some_and(|value| value.eq_ignore_ascii_case("fail"))
}

/// How long an image takes to be pulled, if an annotation says so.
pub fn pull_span(pod: &Pod, machine: &Machine<'_>) -> Option<Duration> {
    pod.wish("pull").and_then(|text| span(text, "slow", machine.timing.slow_image_pull))
}

/// How long a container needs to start, if an annotation says so.
pub fn start_span(pod: &Pod, spec: &Container, machine: &Machine<'_>) -> Option<Duration> {
    wish(pod, spec, "start").and_then(|text| span(text, "slow", machine.timing.slow_start))
}

/// True for images that cannot be had.
pub fn pull_fails(pod: &Pod, image: &str) -> bool {
    let named =
        |wish: &str| wish == "fail" || wish.strip_prefix("fail=").is_some_and(|bad| bad.trim() == image);
    pod.wish("pull").is_some_and(named) || image.contains("does-not-exist")
}

/// How long the pod's processes take to end once they are asked to: the grace period is the most they get.
pub fn stop_span(pod: &Pod, machine: &Machine<'_>) -> Duration {
    let process = process_stop(pod, machine);
    grace(pod).map_or(process, |grace| process.min(grace))
}

/// The code with which processes end that are asked to: 137 when the grace period cut them off.
pub fn stop_code(pod: &Pod, spec: &Container, machine: &Machine<'_>) -> i32 {
    if grace(pod).is_some_and(|grace| grace < process_stop(pod, machine)) {
        return KILLED;
    }
    wish(pod, spec, "exit").and_then(|code| code.parse().ok()).unwrap_or(0)
}

/// How long the processes would take if nobody cut them off.
fn process_stop(pod: &Pod, machine: &Machine<'_>) -> Duration {
    let usual = || machine.spread(machine.timing.stop, &[pod.uid(), "stop"]);
    pod.wish("stop").and_then(|text| span(text, "stuck", Duration::MAX)).unwrap_or_else(usual)
}

/// Reads `1500ms`, `30s`, `2m`, or a word that stands for a span.
fn span(text: &str, word: &str, meaning: Duration) -> Option<Duration> {
    if text == word {
        return Some(meaning);
    }
    let end = text.find(|c: char| !c.is_ascii_digit())?;
    let number: u64 = text[..end].parse().ok()?;
    match text[end..].trim() {
        "ms" => Some(Duration::from_millis(number)),
        "s" => Some(Duration::from_secs(number)),
        "m" => Some(Duration::from_secs(number.checked_mul(60)?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_words_or_numbers_with_a_unit() {
        let slow = Duration::from_secs(60);
        for (text, expected) in [
            ("slow", Some(slow)),
            ("1500ms", Some(Duration::from_millis(1500))),
            ("30s", Some(Duration::from_secs(30))),
            ("2m", Some(Duration::from_secs(120))),
            ("", None),
            ("30", None),
            ("-3s", None),
            ("99999999999999999999s", None),
        ] {
            assert_eq!(span(text, "slow", slow), expected, "{text}");
        }
    }
}
