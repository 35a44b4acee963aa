#!/bin/sh
# Installs Browy for the person who runs this: from a checkout (builds it) or from a release archive.
set -eu

# Where releases are published. Empty until there is such a place.
RELEASES=""

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
: "${HOME:?must name your home folder}"
app=$HOME/.browy/app
with_deps=no
demo=no
dry_run=no
register=yes

usage() {
  cat <<TXT
Usage: install/install.sh [OPTIONS]

Installs the host, stages the extension, gets the GitHub Copilot CLI when there is none, and tells the
browsers on this machine where the host is. Running it again updates what changed.

  --with-deps                on Debian: installs what is missing (chromium, node, build tools) with apt-get
  --demo                     ends with \`browy demo\`: fills a 26-field form, no sign-in needed
  --prefix DIR               puts program and extension there instead of ~/.browy/app
  --no-browser-registration  leaves the browsers alone
  --dry-run                  says what it would do
  -h, --help                 this text

From a checkout it needs Rust (https://rustup.rs) and a C linker; for the Copilot CLI, npm.
It changes ~/.browy, the prefix, and one file per browser; install/uninstall.sh takes all of it back.
TXT
}

say() { printf '%s\n' "$*"; }
step() { printf '==> %s\n' "$*"; }
die() {
  printf 'install.sh: %s\n' "$*" >&2
  exit 1
}
has() { command -v "$1" >/dev/null 2>&1; }

# run COMMAND…: does it, or says that it would.
run() {
  if [ "$dry_run" = yes ]; then
    say "    would run: $*"
  else
    "$@"
  fi
}

while [ "$#" -gt 0 ]; do
  case $1 in
    --with-deps) with_deps=yes ;;
    --demo) demo=yes ;;
    --dry-run) dry_run=yes ;;
    --no-browser-registration) register=no ;;
    --prefix)
      [ "$#" -ge 2 ] || die "--prefix needs a folder"
      app=$2
      shift
      ;;
    --prefix=*) app=${1#--prefix=} ;;
    -h | --help)
      usage
      exit 0
      ;;
    *) die "unknown option $1 (see --help)" ;;
  esac
  shift
done
case $app in
  /*) ;;
  *) app=$PWD/$app ;;
esac

case $(uname -s) in
  Linux | Darwin) ;;
  *) die "this script is for Linux and macOS; for Windows there is install/install.ps1" ;;
esac

from_checkout=no
if [ -x "$root/browy" ]; then
  built=$root/browy
elif [ -f "$root/Cargo.toml" ]; then
  from_checkout=yes
  built=${CARGO_TARGET_DIR:-$root/target}/release/browy
else
  die "$root is neither a checkout nor a release archive${RELEASES:+; releases are at $RELEASES}"
fi

# --- what is there, what is missing ----------------------------------------------------------------

distribution=other
if [ -r /etc/os-release ]; then
  # shellcheck disable=SC1091
  case $(. /etc/os-release && printf '%s %s' "${ID:-}" "${ID_LIKE:-}") in
    *ubuntu*) distribution=ubuntu ;;
    *debian*) distribution=debian ;;
  esac
fi

browser_there() {
  if [ "$(uname -s)" = Darwin ]; then
    for name in "Google Chrome" Chromium "Microsoft Edge" "Brave Browser"; do
      if [ -d "/Applications/$name.app" ] || [ -d "$HOME/Applications/$name.app" ]; then return 0; fi
    done
    return 1
  fi
  for name in google-chrome google-chrome-stable google-chrome-beta google-chrome-unstable chromium \
    microsoft-edge microsoft-edge-stable microsoft-edge-beta microsoft-edge-dev \
    brave-browser brave-browser-stable brave-browser-beta brave-browser-nightly; do
    case $(command -v "$name" || true) in
      "" | /snap/*) ;; # a snap cannot start a host
      *) return 0 ;;
    esac
  done
  return 1
}

# The Copilot CLI that will be used when none has to be fetched.
copilot_there() {
  own=$(find "$HOME/.browy/app/copilot/node_modules/@github" -maxdepth 2 -name copilot -type f -perm -u+x 2>/dev/null |
    head -n 1)
  if [ -n "${COPILOT_CLI_PATH:-}" ]; then
    printf '%s' "$COPILOT_CLI_PATH"
  elif [ -n "$own" ]; then
    printf '%s' "$own"
  else
    command -v copilot || true
  fi
}

# A browser started from the desktop sees neither this shell's PATH nor its variables: keep what was found.
pin_copilot() {
  config=$HOME/.browy/config.toml
  if [ "$dry_run" = yes ] || grep -qs '^ *cli_path' "$config"; then return 0; fi
  mkdir -p "$HOME/.browy"
  {
    printf 'cli_path = "%s"\n' "$(printf '%s' "$1" | sed 's/[\\"]/\\&/g')"
    cat "$config" 2>/dev/null || true
  } >"$config.new"
  mv -f "$config.new" "$config"
  say "    kept as cli_path in $config"
}

apt_get() {
  if [ "$(id -u)" = 0 ]; then
    run env DEBIAN_FRONTEND=noninteractive apt-get "$@"
  elif has sudo; then
    run sudo env DEBIAN_FRONTEND=noninteractive apt-get "$@"
  else
    die "installing packages needs root: run as root or install sudo"
  fi
}

packages=""
needs() { packages="$packages $1"; }
[ "$from_checkout" = no ] || has cc || needs build-essential
[ -n "$(copilot_there)" ] || has npm || needs "nodejs npm"
browser_there || [ "$distribution" = ubuntu ] || needs chromium

if [ "$with_deps" = yes ] && [ -n "$packages" ]; then
  has apt-get || die "--with-deps works with apt-get only; install yourself:$packages"
  step "Installing$packages"
  apt_get update -qq
  # shellcheck disable=SC2086
  apt_get install -y -qq --no-install-recommends $packages
fi

missing=""
lacks() { missing="$missing
  - $1"; }
if [ "$from_checkout" = yes ]; then
  has cargo || lacks "cargo: install Rust from https://rustup.rs, open a new terminal, and run this again"
  has cc || lacks "a C linker (cc): build-essential on Debian, the command line tools on macOS"
fi
[ -n "$(copilot_there)" ] || has npm || lacks "npm, to get the Copilot CLI: install Node 20 or newer"
if [ "$demo" = yes ] && ! browser_there; then
  if [ "$distribution" = ubuntu ]; then
    lacks "a browser: Ubuntu's chromium is a snap that cannot start a host; install Google Chrome, Edge or Brave as a .deb"
  else
    lacks "a Chromium-family browser"
  fi
fi
if [ -n "$missing" ]; then
  hint=""
  [ "$with_deps" = yes ] || [ "$distribution" != debian ] || hint="
With --with-deps this script installs all but Rust."
  if [ "$dry_run" = yes ]; then
    say "Missing:$missing$hint"
  else
    die "missing:$missing$hint"
  fi
fi

# --- program ---------------------------------------------------------------------------------------

if [ "$from_checkout" = yes ]; then
  step "Building browy (a few minutes the first time)"
  run cargo build --release --locked --manifest-path "$root/Cargo.toml"
fi

# From here on only files of the person's own are written.
umask 077

step "Program: $app/bin/browy"
if cmp -s "$built" "$app/bin/browy"; then
  say "    unchanged"
else
  run mkdir -p "$app/bin"
  # Renamed into place: a host that runs keeps its old file.
  run cp "$built" "$app/bin/.browy.new"
  run chmod 755 "$app/bin/.browy.new"
  run mv -f "$app/bin/.browy.new" "$app/bin/browy"
fi

# --- extension -------------------------------------------------------------------------------------

step "Extension: $app/extension"
run rm -rf "$app/extension.new"
run cp -R "$root/extension" "$app/extension.new"
if [ "$dry_run" = no ] && [ -f "$app/extension/install-hint.json" ]; then
  cp "$app/extension/install-hint.json" "$app/extension.new/install-hint.json"
fi
if diff -rq "$app/extension.new" "$app/extension" >/dev/null 2>&1; then
  rm -rf "$app/extension.new"
  say "    unchanged"
else
  run rm -rf "$app/extension"
  run mv "$app/extension.new" "$app/extension"
fi

# --- Copilot CLI -----------------------------------------------------------------------------------

copilot=$(copilot_there)
step "Copilot CLI: ${copilot:-$HOME/.browy/app/copilot}"
if [ -z "$copilot" ]; then
  run mkdir -p "$HOME/.browy/app/copilot"
  run cp "$root/install/copilot/package.json" "$root/install/copilot/package-lock.json" "$HOME/.browy/app/copilot/"
  # The lock file pins the version and the checksums; no package may run scripts.
  run npm ci --prefix "$HOME/.browy/app/copilot" --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error
  [ "$dry_run" = yes ] || [ -n "$(copilot_there)" ] || die "npm installed no Copilot CLI for this machine"
else
  case $copilot in
    "$HOME/.browy/app/"*) ;; # the host looks there by itself
    *) pin_copilot "$copilot" ;;
  esac
fi

# --- browsers --------------------------------------------------------------------------------------

code=0
if [ "$register" = yes ]; then
  step "Browsers"
  run "$app/bin/browy" install-host || code=$?
  if [ "$code" != 0 ] && [ "$distribution" = ubuntu ] && ! browser_there; then
    say "Ubuntu's chromium is a snap that cannot start a host: install Google Chrome, Edge or Brave as a .deb."
  fi
fi

say ""
say "Next:"
say "  1. Open chrome://extensions (edge://extensions, brave://extensions) and switch on Developer mode."
say "  2. Load unpacked: $app/extension"
say "  3. Open the side panel with Browy's button in the toolbar."
[ "$register" = yes ] || say "Before that, register the host: $app/bin/browy install-host"
say "See it work first, in a browser profile of its own: $app/bin/browy demo"

if [ "$demo" = yes ]; then
  step "Demo"
  if [ "$dry_run" = yes ]; then
    say "    would run: $app/bin/browy demo"
  else
    "$app/bin/browy" demo || exit $?
  fi
fi
exit "$code"
