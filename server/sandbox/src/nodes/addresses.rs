//! Pod addresses: every simulated pod has one of its own in 10.128.0.0/9. Nothing listens there.

use std::collections::HashSet;
use std::net::Ipv4Addr;

const FIRST: u32 = 0x0a80_0000;
const COUNT: u32 = 1 << 23;

/// Hands out addresses, and knows which are taken.
#[derive(Debug, Default)]
pub struct Addresses {
    taken: HashSet<u32>,
    next: u32,
}

impl Addresses {
    /// Begins at a place that depends on the seed, so that two simulations in one cluster rarely meet.
    pub fn starting_at(seed: u64) -> Self {
        Self { taken: HashSet::new(), next: u32::try_from(seed % u64::from(COUNT)).unwrap_or(0) }
    }

    /// Marks an address as taken, if it is one of ours.
    pub fn reserve(&mut self, ip: &str) {
        if let Some(offset) = offset(ip) {
            self.taken.insert(offset);
        }
    }

    /// Gives an address back.
    pub fn release(&mut self, ip: &str) {
        if let Some(offset) = offset(ip) {
            self.taken.remove(&offset);
        }
    }

    /// An address that nobody has; none when all eight million are taken. Addresses that were given back are not used
    /// again until the range has been gone through, as real networks do.
    pub fn take(&mut self) -> Option<String> {
        for _ in 0..COUNT {
            let offset = self.next;
            self.next = (self.next + 1) % COUNT;
            let last = offset & 0xff;
            if last != 0 && last != 0xff && self.taken.insert(offset) {
                return Some(Ipv4Addr::from(FIRST + offset).to_string());
            }
        }
        None
    }
}

fn offset(ip: &str) -> Option<u32> {
    let ip: Ipv4Addr = ip.parse().ok()?;
    u32::from(ip).checked_sub(FIRST).filter(|offset| *offset < COUNT)
}

#[cfg(test)]
mod tests {
    use super::{Addresses, COUNT};

    #[test]
    fn no_address_is_given_twice() {
        let mut addresses = Addresses::starting_at(u64::from(COUNT) - 3);
        addresses.reserve("10.128.0.2");
        addresses.reserve("192.168.0.1");
        let given: Vec<String> = (0..300).map(|_| addresses.take().unwrap()).collect();
        let distinct: std::collections::HashSet<&String> = given.iter().collect();
        assert_eq!(distinct.len(), 300);
        assert!(!given.contains(&"10.128.0.2".to_owned()));
        assert!(given.iter().all(|ip| !ip.ends_with(".0") && !ip.ends_with(".255")));
    }

    #[test]
    fn an_address_that_was_given_back_waits_its_turn() {
        let mut addresses = Addresses::starting_at(1);
        let first = addresses.take().unwrap();
        addresses.release(&first);
        assert_ne!(addresses.take().unwrap(), first);
    }
}
