//! Invented ids and spread of times: always the same for the same seed and names, so that a run can be repeated.

/// Mixes a seed and some names into 64 well spread bits (FNV-1a, then the finaliser of splitmix64).
pub fn mix(seed: u64, parts: &[&str]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325 ^ spread(seed);
    for part in parts {
        for byte in part.bytes().chain([0xff]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    spread(hash)
}

fn spread(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// 64 hexadecimal digits made from names, in the shape of a SHA-256.
pub fn digest(seed: u64, parts: &[&str]) -> String {
    let first = mix(seed, parts);
    (0..4_u64).map(|word| format!("{:016x}", spread(first ^ (word << 60)))).collect()
}

/// The id that a runtime would give to the `run`-th start of a container.
pub fn container_id(seed: u64, uid: &str, container: &str, run: u32) -> String {
    format!("containerd://{}", digest(seed, &[uid, container, &run.to_string()]))
}

/// The digest reference of an image, in the shape that kubelets report. It depends on the image alone, so that the
/// same image has the same id on every node and in every run.
pub fn image_id(image: &str) -> String {
    if let Some((_, digest)) = image.split_once('@') {
        let name = image.split('@').next().unwrap_or(image);
        return format!("{}@{digest}", repository(name));
    }
    format!("{}@sha256:{}", repository(image), digest(0, &[image]))
}

/// The image's name without its tag; a colon before the last slash belongs to a port.
fn repository(image: &str) -> &str {
    match image.rfind(':') {
        Some(colon) if image.rfind('/').is_none_or(|slash| colon > slash) => &image[..colon],
        _ => image,
    }
}

#[cfg(test)]
mod tests {
    use super::{container_id, digest, image_id, mix};

    #[test]
    fn names_are_not_run_together() {
        assert_ne!(mix(1, &["ab", "c"]), mix(1, &["a", "bc"]));
        assert_ne!(mix(1, &["a"]), mix(2, &["a"]));
        assert_eq!(mix(1, &["a"]), mix(1, &["a"]));
    }

    #[test]
    fn ids_have_the_shape_of_a_runtime() {
        assert_eq!(digest(0, &["x"]).len(), 64);
        assert_ne!(container_id(0, "u", "c", 0), container_id(0, "u", "c", 1));
        assert!(container_id(0, "u", "c", 0).starts_with("containerd://"));
    }

    #[test]
    fn image_ids_keep_the_repository_and_lose_the_tag() {
        assert!(image_id("minecraft:1.12").starts_with("minecraft@sha256:"));
        assert!(image_id("127.0.0.1:5000/games/a").starts_with("127.0.0.1:5000/games/a@sha256:"));
        assert_eq!(image_id("games/a:1@sha256:abc"), "games/a@sha256:abc");
        assert_ne!(image_id("a:1"), image_id("a:2"));
    }
}
