//! What a kubelet says about a container, in the words of Kubernetes 1.36 (`pkg/kubelet/images/image_manager.go`,
//! `kuberuntime_manager.go`, `kuberuntime_container.go`, `prober.go`).

use std::time::Duration;

use super::super::events::Note;
use super::super::ids::mix;
use super::super::pod::Pod;

/// The words about an image that the registry does not have.
pub fn pull_error(image: &str) -> String {
    format!(
        "failed to pull and unpack image \"{image}\": failed to resolve reference \"{image}\": {image}: not found"
    )
}

/// Says something about the container at `field`.
#[derive(Clone, Copy)]
pub struct Voice<'a> {
    /// Such as `spec.containers{game}`.
    pub field: &'a str,
    /// The container.
    pub container: &'a str,
}

impl Voice<'_> {
    /// An image is fetched.
    pub fn pulling(self, image: &str) -> Note {
        Note::normal("Pulling", format!("Pulling image \"{image}\"")).about(self.field)
    }

    /// An image is there, after so long; or it was there already.
    pub fn pulled(self, image: &str, took: Option<Duration>) -> Note {
        let text = match took {
            None => format!(
                "Container image \"{image}\" already present on machine and can be accessed by the pod"
            ),
            Some(took) => {
                let (took, size) = (go_duration(took), 50_000_000 + mix(0, &[image, "size"]) % 450_000_000);
                format!(
                    "Successfully pulled image \"{image}\" in {took} ({took} including waiting). Image size: {size} bytes."
                )
            }
        };
        Note::normal("Pulled", text).about(self.field)
    }

    /// An image cannot be had.
    pub fn pull_failed(self, image: &str) -> [Note; 2] {
        [
            Note::warning("Failed", format!("Failed to pull image \"{image}\": {}", pull_error(image)))
                .about(self.field),
            Note::warning("Failed", "Error: ErrImagePull").about(self.field),
        ]
    }

    /// The next try for an image waits.
    pub fn pull_backs_off(self, image: &str) -> [Note; 2] {
        [
            Note::normal("BackOff", format!("Back-off pulling image \"{image}\"")).about(self.field),
            Note::warning("Failed", "Error: ImagePullBackOff").about(self.field),
        ]
    }

    /// A container runs.
    pub fn started(self) -> [Note; 2] {
        [
            Note::normal("Created", "Container created").about(self.field),
            Note::normal("Started", "Container started").about(self.field),
        ]
    }

    /// A container that crashed waits for its next start.
    pub fn backs_off(self, pod: &Pod) -> Note {
        let (container, name, namespace, uid) = (self.container, pod.name(), pod.namespace(), pod.uid());
        let text =
            format!("Back-off restarting failed container {container} in pod {name}_{namespace}({uid})");
        Note::warning("BackOff", text).about(self.field)
    }

    /// A container is asked to end for good.
    pub fn stopping(self) -> Note {
        Note::normal("Killing", format!("Stopping container {}", self.container)).about(self.field)
    }

    /// A container is asked to end, because it is replaced.
    pub fn replaced(self) -> Note {
        let text = format!("Container {} definition changed, will be restarted", self.container);
        Note::normal("Killing", text).about(self.field)
    }

    /// A container is asked to end, because its new size needs a restart.
    pub fn resized(self) -> Note {
        Note::normal("Killing", format!("Container {} resize requires restart", self.container))
            .about(self.field)
    }

    /// A container is killed, because it does not answer.
    pub fn not_alive(self) -> [Note; 2] {
        [
            self.probe_failed("Liveness"),
            Note::normal(
                "Killing",
                format!("Container {} failed liveness probe, will be restarted", self.container),
            )
            .about(self.field),
        ]
    }

    /// A probe failed.
    pub fn probe_failed(self, probe: &str) -> Note {
        let text = format!("{probe} probe failed: HTTP probe failed with statuscode: 503");
        Note::warning("Unhealthy", text).about(self.field)
    }
}

/// A duration as Go prints it, to the millisecond: `340ms`, `1.2s`, `1m20s`, `5m0s`.
pub fn go_duration(span: Duration) -> String {
    let (seconds, millis) = (span.as_secs(), span.subsec_millis());
    if seconds == 0 {
        return format!("{millis}ms");
    }
    let fraction = format!("{millis:03}");
    let fraction = fraction.trim_end_matches('0');
    let dot = if fraction.is_empty() { "" } else { "." };
    match (seconds / 60, seconds % 60) {
        (0, rest) => format!("{rest}{dot}{fraction}s"),
        (minutes, rest) => format!("{minutes}m{rest}{dot}{fraction}s"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::go_duration;

    #[test]
    fn durations_read_as_go_prints_them() {
        for (millis, text) in [
            (10_000, "10s"),
            (80_000, "1m20s"),
            (300_000, "5m0s"),
            (250, "250ms"),
            (1_234, "1.234s"),
            (61_500, "1m1.5s"),
        ] {
            assert_eq!(go_duration(Duration::from_millis(millis)), text);
        }
    }
}
