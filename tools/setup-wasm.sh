#!/usr/bin/env bash
# Finds or makes a Rust toolchain that compiles to WebAssembly, and prints on stdout what a build must put into its
# environment to use it (one NAME=VALUE a line; nothing when the active toolchain can do it alone). Messages go to stderr.
#
# The first that holds wins:
#   1. the active rustc has the target's standard library
#   2. Debian's rustc has it, made by an earlier run of step 4
#   3. `rustup target add` brings it (time-limited; SETUP_WASM_SKIP_RUSTUP=1 leaves this out, for machines without that download)
#   4. Debian's newest rustc, cargo and library source are installed and the standard library is built from them once (needs root);
#      beside a rustup the result is linked into it under the name `debian`
# shellcheck source=tools/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

target=wasm32-unknown-unknown
linked=debian
rustup_seconds=${SETUP_WASM_RUSTUP_LIMIT_S:-120}
debian_rustc=/usr/bin/rustc

# Where a compiler keeps its libraries for the target; empty when it cannot say.
libraries() { "$1" --print target-libdir --target "$target" 2>/dev/null || true; }

has_core() {
  local dir
  dir=$(libraries "$1")
  [ -n "$dir" ] && compgen -G "$dir/libcore-*.rlib" >/dev/null
}

# A program that uses std must link, with the whole-program optimisation that the release profile asks for.
links() {
  local dir ok=1
  dir=$(mktemp -d)
  printf '%s\n' '#[unsafe(no_mangle)] pub extern "C" fn digits(n: u32) -> usize { (0..n).map(|i| i.to_string().len()).sum() }' >"$dir/probe.rs"
  if "$1" --edition 2024 --crate-type cdylib --target "$target" -O -C lto=fat -C panic=abort \
    -o "$dir/probe.wasm" "$dir/probe.rs" >"$dir/log" 2>&1; then
    ok=0
  else
    cat "$dir/log" >&2
  fi
  rm -rf "$dir"
  return "$ok"
}

use_debian() {
  if ! have rustup; then
    # Without rustup `cargo` is whatever comes first on PATH.
    printf 'PATH=/usr/bin:%s\n' "$PATH"
    exit 0
  fi
  if ! rustup toolchain list 2>/dev/null | grep -q "^$linked\b"; then
    rustup toolchain link "$linked" /usr >&2 || die "rustup could not link /usr as the toolchain '$linked': run 'rustup toolchain link $linked /usr' and read what it says"
  fi
  printf 'RUSTUP_TOOLCHAIN=%s\n' "$linked"
  exit 0
}

# The stamp names the compiler the libraries were built by: another one does not read them.
stamp_is_current() {
  local dir
  [ -x "$debian_rustc" ] && has_core "$debian_rustc" || return 1
  dir=$(libraries "$debian_rustc")
  # The second name is the one that earlier tools with the same stamp used.
  [ "$(cat "$dir/.pilothouse-wasm" "$dir/.setup-wasm" 2>/dev/null | head -n 1)" = "$("$debian_rustc" -vV | head -n 1)" ]
}

if have rustc && has_core rustc; then exit 0; fi
if stamp_is_current; then use_debian; fi

step "WebAssembly target: the pages also run in the browser, and this Rust cannot compile for it yet"
if [ -n "${SETUP_WASM_SKIP_RUSTUP:-}" ]; then
  say "SETUP_WASM_SKIP_RUSTUP is set: not asking rustup"
elif have rustup; then
  say "asking rustup for $target (at most $rustup_seconds s)"
  if timeout "$rustup_seconds" rustup target add "$target" >&2 && has_core rustc && links rustc; then exit 0; fi
  say "rustup could not bring it; going on with Debian's packages"
fi

have apt-get || die "no way to get the $target library here: run 'rustup target add $target', or install your system's package for it, and try again"
candidate() { LC_ALL=C apt-cache policy "$1" 2>/dev/null | awk '$1 == "Candidate:" && $2 != "(none)" { print $2 }'; }
as_root apt-get -qq update >/dev/null 2>&1 || say "apt-get update did not work; trying with the lists there are"
apt_updated=1
# Debian's stable release carries a current compiler beside its old one, under names with -web.
packages=(rustc-web cargo-web rust-web-src)
[ -n "$(candidate rustc-web)" ] || packages=(rustc cargo rust-src)
apt_install "a compiler whose standard library can be built for WebAssembly" "${packages[@]}" \
  || die "could not install ${packages[*]}: run 'sudo ./dev setup wasm' once, or 'rustup target add $target' where that download works"

host=$("$debian_rustc" -vV | sed -n 's/^host: //p')
commit=$("$debian_rustc" -vV | sed -n 's/^commit-hash: //p')
llvm=$("$debian_rustc" -vV | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p')
sysroot=$("$debian_rustc" --print sysroot)
source_dir=$(readlink -f "$sysroot/lib/rustlib/src/rust" || true)
[ -f "$source_dir/library/std/Cargo.toml" ] || die "Debian's Rust came without its library source: run 'apt-get install --reinstall ${packages[2]}'"

# The linker: rustc looks for rust-lld beside itself, then on PATH; Debian ships it as plain lld.
linker=$sysroot/lib/rustlib/$host/bin/rust-lld
if [ ! -x "$linker" ] && ! have rust-lld; then
  lld=/usr/lib/llvm-$llvm/bin/lld
  if [ ! -x "$lld" ]; then
    apt_install "the linker for WebAssembly" "lld-$llvm" || die "could not install lld-$llvm, the linker: run 'apt-get install lld-$llvm'"
  fi
  as_root mkdir -p "$(dirname "$linker")"
  as_root ln -sfn "$lld" "$linker"
fi

say "building the standard library for $target with $("$debian_rustc" --version) (about a minute)"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/probe/src" "$work/home"
printf '#![no_std]\n' >"$work/probe/src/lib.rs"
printf '[package]\nname = "probe"\nversion = "0.0.0"\nedition = "2021"\n[profile.release]\ncodegen-units = 1\npanic = "abort"\n' >"$work/probe/Cargo.toml"
# What std itself depends on lies beside its source: no registry is asked.
offline=()
if [ -d "$source_dir/library/vendor" ]; then
  offline=(--offline --config 'source.crates-io.replace-with="vendored"' --config "source.vendored.directory='$source_dir/library/vendor'")
fi
# A clean environment keeps the caller's flags and wrappers out. Bitcode must be embedded (cargo leaves it out of std, and then
# `lto = true` cannot link). Paths are mapped away, so that every build of one std is the same to the last byte: cargo would not
# notice another one under old target folders.
(
  cd "$work/probe"
  env -i HOME="$work/home" CARGO_HOME="$work/home" PATH=/usr/bin:/bin LC_ALL=C.UTF-8 RUSTC="$debian_rustc" RUSTC_BOOTSTRAP=1 \
    CARGO_TARGET_DIR="$work/out" CARGO_INCREMENTAL=0 \
    RUSTFLAGS="-Cembed-bitcode=yes --remap-path-prefix=$source_dir=/rustc/$commit --remap-path-prefix=$sysroot/lib/rustlib/src/rust=/rustc/$commit --remap-path-prefix=$work=/setup-wasm" \
    /usr/bin/cargo build "${offline[@]}" --release --target "$target" -Zbuild-std=std,panic_abort,panic_unwind,proc_macro,test >"$work/log" 2>&1
) || {
  tail -n 20 "$work/log" >&2
  die "the standard library did not build (see above): try 'rustup target add $target' instead"
}
built=$work/out/$target/release/deps
rm -f "$built"/libprobe*
dir=$(libraries "$debian_rustc")
# Beside its place first, so that a build that runs meanwhile never sees half of it.
as_root rm -rf "$dir.new" "$dir.old"
as_root mkdir -p "$dir.new"
as_root install -m 0644 "$built"/*.rlib "$dir.new/"
"$debian_rustc" -vV | head -n 1 | as_root tee "$dir.new/.pilothouse-wasm" >/dev/null
[ ! -d "$dir" ] || as_root mv -T "$dir" "$dir.old"
as_root mkdir -p "$(dirname "$dir")"
as_root mv -T "$dir.new" "$dir"
as_root rm -rf "$dir.old"
if ! links "$debian_rustc"; then
  as_root rm -f "$dir/.pilothouse-wasm"
  die "the standard library is built, but a small program does not link with it (see above): report this with the lines above"
fi
say "ready: $("$debian_rustc" --version) builds for $target"
use_debian
