//! Addresses: `ip`, `cidr` and `url`.
use std::collections::HashMap;
use std::net::IpAddr;

use cel::common::types::{CelBool, CelInt, CelList, CelMap, CelMapKey, CelString, Type};
use cel::common::value::Val;
use cel::{DeclarationError, Env, ExecutionError, add_member_overload, add_overload};
use http::Uri;

use super::{Boxed, Own, failed};

static IP: Type = Type::new_unspecified_type("net.IP");
static CIDR: Type = Type::new_unspecified_type("net.CIDR");
static URL: Type = Type::new_unspecified_type("kubernetes.URL");

/// A network: an address in it and how many bits all of it share.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Network(IpAddr, u8);

impl Own for IpAddr {
    const TYPE: &'static Type = &IP;
}
impl Own for Network {
    const TYPE: &'static Type = &CIDR;
}
impl Own for Uri {
    const TYPE: &'static Type = &URL;
}

type Ip = Boxed<IpAddr>;
type Cidr = Boxed<Network>;
type Url = Boxed<Uri>;

pub fn add(env: &mut Env) -> Result<(), DeclarationError> {
    for ty in [&IP, &CIDR, &URL] {
        env.add_type((*ty).to_owned())?;
    }
    add_overload!(env, fn ip: (CelString) -> Result<Ip>)?;
    add_overload!(env, fn is_ip: (CelString) -> CelBool, name = "isIP")?;
    add_overload!(env, fn is_canonical: (CelString) -> Result<CelBool>, name = "ip.isCanonical")?;
    add_overload!(env, fn ip_text: (Ip) -> CelString, name = "string")?;
    add_member_overload!(env, fn family: (Ip) -> CelInt)?;
    add_member_overload!(env, fn is_unspecified: (Ip) -> CelBool)?;
    add_member_overload!(env, fn is_loopback: (Ip) -> CelBool)?;
    add_member_overload!(env, fn is_link_local_multicast: (Ip) -> CelBool)?;
    add_member_overload!(env, fn is_link_local_unicast: (Ip) -> CelBool)?;
    add_member_overload!(env, fn is_global_unicast: (Ip) -> CelBool)?;
    add_overload!(env, fn cidr: (CelString) -> Result<Cidr>)?;
    add_overload!(env, fn is_cidr: (CelString) -> CelBool, name = "isCIDR")?;
    add_overload!(env, fn cidr_text: (Cidr) -> CelString, name = "string")?;
    add_member_overload!(env, fn contains_ip_text: (Cidr, CelString) -> Result<CelBool>, name = "containsIP")?;
    add_member_overload!(env, fn contains_ip: (Cidr, Ip) -> CelBool, name = "containsIP")?;
    add_member_overload!(env, fn contains_cidr_text: (Cidr, CelString) -> Result<CelBool>, name = "containsCIDR")?;
    add_member_overload!(env, fn contains_cidr: (Cidr, Cidr) -> CelBool, name = "containsCIDR")?;
    add_member_overload!(env, fn address: (Cidr) -> Ip, name = "ip")?;
    add_member_overload!(env, fn prefix_length: (Cidr) -> CelInt)?;
    add_member_overload!(env, fn masked: (Cidr) -> Cidr)?;
    add_overload!(env, fn url: (CelString) -> Result<Url>)?;
    add_overload!(env, fn is_url: (CelString) -> CelBool, name = "isURL")?;
    add_member_overload!(env, fn get_scheme: (Url) -> CelString)?;
    add_member_overload!(env, fn get_host: (Url) -> CelString)?;
    add_member_overload!(env, fn get_hostname: (Url) -> CelString)?;
    add_member_overload!(env, fn get_port: (Url) -> CelString)?;
    add_member_overload!(env, fn get_escaped_path: (Url) -> CelString)?;
    add_member_overload!(env, fn get_query: (Url) -> CelMap)
}

fn text(text: impl ToString) -> CelString<'static> {
    CelString::from(text.to_string())
}

/// IPv4 addresses written as IPv6 are no addresses here, nor are zones.
fn parse_ip(source: &str) -> Option<IpAddr> {
    let ip: IpAddr = source.parse().ok()?;
    let mapped = matches!(ip, IpAddr::V6(v6) if v6.to_ipv4_mapped().is_some());
    (!mapped).then_some(ip)
}

fn ip(source: &CelString<'_>) -> Result<Ip, ExecutionError> {
    let why =
        || failed("ip", format!("IP Address {:?} parse error during conversion from string", source.inner()));
    parse_ip(source.inner()).map(Boxed).ok_or_else(why)
}

fn is_ip(source: &CelString<'_>) -> CelBool {
    parse_ip(source.inner()).is_some().into()
}

fn is_canonical(source: &CelString<'_>) -> Result<CelBool, ExecutionError> {
    Ok((ip(source)?.0.to_string() == source.inner()).into())
}

fn ip_text(this: &Ip) -> CelString<'static> {
    text(this.0)
}

fn family(this: &Ip) -> CelInt {
    CelInt::from(if this.0.is_ipv4() { 4 } else { 6 })
}

fn is_unspecified(this: &Ip) -> CelBool {
    this.0.is_unspecified().into()
}

fn is_loopback(this: &Ip) -> CelBool {
    this.0.is_loopback().into()
}

fn link_local_multicast(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(v4) => v4.octets()[..3] == [224, 0, 0],
        IpAddr::V6(v6) => v6.segments()[0] & 0xff0f == 0xff02,
    }
}

fn link_local_unicast(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(v4) => v4.is_link_local(),
        IpAddr::V6(v6) => v6.is_unicast_link_local(),
    }
}

fn is_link_local_multicast(this: &Ip) -> CelBool {
    link_local_multicast(this.0).into()
}

fn is_link_local_unicast(this: &Ip) -> CelBool {
    link_local_unicast(this.0).into()
}

/// As Go counts it: private addresses are global, the broadcast address is not.
fn is_global_unicast(this: &Ip) -> CelBool {
    let ip = this.0;
    let broadcast = matches!(ip, IpAddr::V4(v4) if v4.is_broadcast());
    let other = ip.is_unspecified() || ip.is_loopback() || ip.is_multicast() || link_local_unicast(ip);
    (!broadcast && !other).into()
}

fn parse_cidr(source: &str) -> Option<Network> {
    let (address, bits) = source.split_once('/')?;
    let address = parse_ip(address)?;
    let plain = bits.bytes().all(|b| b.is_ascii_digit()) && (bits == "0" || !bits.starts_with('0'));
    let bits: u8 = bits.parse().ok().filter(|_| plain)?;
    (bits <= width(address)).then_some(Network(address, bits))
}

fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

/// The address with all bits after the first `bits` cleared.
fn mask(address: IpAddr, bits: u8) -> IpAddr {
    match address {
        IpAddr::V4(v4) => {
            let kept = u32::MAX.checked_shl(u32::from(32 - bits.min(32))).unwrap_or(0);
            IpAddr::V4((u32::from(v4) & kept).into())
        }
        IpAddr::V6(v6) => {
            let kept = u128::MAX.checked_shl(u32::from(128 - bits.min(128))).unwrap_or(0);
            IpAddr::V6((u128::from(v6) & kept).into())
        }
    }
}

fn cidr(source: &CelString<'_>) -> Result<Cidr, ExecutionError> {
    let words = "network address parse error during conversion from string";
    let why = || {
        let reason = if source.inner().contains('/') { "no address, or no length" } else { "no '/'" };
        failed("cidr", format!("{words}: {words}: netip.ParsePrefix({:?}): {reason}", source.inner()))
    };
    parse_cidr(source.inner()).map(Boxed).ok_or_else(why)
}

fn is_cidr(source: &CelString<'_>) -> CelBool {
    parse_cidr(source.inner()).is_some().into()
}

fn cidr_text(this: &Cidr) -> CelString<'static> {
    text(format!("{}/{}", this.0.0, this.0.1))
}

fn holds(network: Network, ip: IpAddr) -> bool {
    network.0.is_ipv4() == ip.is_ipv4() && mask(network.0, network.1) == mask(ip, network.1)
}

fn contains_ip(this: &Cidr, other: &Ip) -> CelBool {
    holds(this.0, other.0).into()
}

fn contains_ip_text(this: &Cidr, other: &CelString<'_>) -> Result<CelBool, ExecutionError> {
    Ok(holds(this.0, ip(other)?.0).into())
}

fn contains_cidr(this: &Cidr, other: &Cidr) -> CelBool {
    (this.0.1 <= other.0.1 && holds(this.0, other.0.0)).into()
}

fn contains_cidr_text(this: &Cidr, other: &CelString<'_>) -> Result<CelBool, ExecutionError> {
    Ok(contains_cidr(this, &cidr(other)?))
}

fn address(this: &Cidr) -> Ip {
    Boxed(this.0.0)
}

fn prefix_length(this: &Cidr) -> CelInt {
    CelInt::from(i64::from(this.0.1))
}

fn masked(this: &Cidr) -> Cidr {
    Boxed(Network(mask(this.0.0, this.0.1), this.0.1))
}

/// An absolute URL or an absolute path.
fn parse_url(source: &str) -> Option<Uri> {
    let absolute = source.starts_with('/') || source.contains("://");
    source.parse().ok().filter(|_| absolute)
}

fn url(source: &CelString<'_>) -> Result<Url, ExecutionError> {
    let why =
        || failed("url", format!("URL parse error during conversion from string: {:?}", source.inner()));
    parse_url(source.inner()).map(Boxed).ok_or_else(why)
}

fn is_url(source: &CelString<'_>) -> CelBool {
    parse_url(source.inner()).is_some().into()
}

fn get_scheme(this: &Url) -> CelString<'static> {
    text(this.0.scheme_str().unwrap_or_default())
}

/// Host and port, without who.
fn host(url: &Uri) -> &str {
    let authority = url.authority().map_or("", |a| a.as_str());
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

fn get_host(this: &Url) -> CelString<'static> {
    text(host(&this.0))
}

fn get_hostname(this: &Url) -> CelString<'static> {
    text(this.0.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']'))
}

fn get_port(this: &Url) -> CelString<'static> {
    text(this.0.port().map(|port| port.as_str().to_owned()).unwrap_or_default())
}

fn get_escaped_path(this: &Url) -> CelString<'static> {
    text(this.0.path())
}

fn get_query(this: &Url) -> CelMap<'static> {
    let pairs =
        axum::extract::Query::<Vec<(String, String)>>::try_from_uri(&this.0).map(|q| q.0).unwrap_or_default();
    let mut lists: HashMap<String, Vec<Box<dyn Val>>> = HashMap::new();
    for (name, value) in pairs {
        lists.entry(name).or_default().push(Box::new(text(value)));
    }
    let boxed = |list| Box::new(CelList::from(list)) as Box<dyn Val>;
    let map: HashMap<CelMapKey<'static>, Box<dyn Val>> =
        lists.into_iter().map(|(name, list)| (CelMapKey::from(name), boxed(list))).collect();
    CelMap::from(map)
}
