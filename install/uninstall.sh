#!/bin/sh
# Takes Browy away: registration, program, extension and its own copy of the Copilot CLI.
set -eu

: "${HOME:?must name your home folder}"
app=$HOME/.browy/app
purge=no
dry_run=no

usage() {
  cat <<TXT
Usage: install/uninstall.sh [OPTIONS]

Takes the registration back and removes program, extension and Browy's own copy of the Copilot CLI.
Settings, saved files, notes and chats stay. Remove the extension itself on chrome://extensions.

  --prefix DIR  where install.sh put program and extension, instead of ~/.browy/app
  --purge       also removes ~/.browy (settings, saved files, notes) and ~/.browseragent (the log);
                chats stay, they belong to the Copilot CLI
  --dry-run     says what it would do
  -h, --help    this text
TXT
}

say() { printf '%s\n' "$*"; }
die() {
  printf 'uninstall.sh: %s\n' "$*" >&2
  exit 1
}
run() {
  if [ "$dry_run" = yes ]; then
    say "would run: $*"
  else
    "$@"
  fi
}

while [ "$#" -gt 0 ]; do
  case $1 in
    --purge) purge=yes ;;
    --dry-run) dry_run=yes ;;
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

if [ -x "$app/bin/browy" ]; then
  # When it fails, something of ours is still registered: keep the program, so that it can be tried again.
  run "$app/bin/browy" uninstall-host || die "the registration could not be taken back; nothing else was removed"
elif [ -e "$HOME/.browy/registered.json" ]; then
  die "$app/bin/browy is not there, but Browy is registered: say where it is with --prefix DIR"
else
  say "$app/bin/browy is not there: no registration to take back."
fi

# Only what install.sh put there; a prefix may hold other things.
for folder in "$app" "$HOME/.browy/app"; do
  [ -d "$folder" ] || continue
  run rm -f "$folder/bin/browy" "$folder/bin/.browy.new"
  run rm -rf "$folder/extension" "$folder/extension.new"
done
run rm -rf "$HOME/.browy/app/copilot"
if [ "$purge" = yes ]; then
  run rm -rf "$HOME/.browy" "$HOME/.browseragent"
fi
for folder in "$app/bin" "$app" "$HOME/.browy/app/bin" "$HOME/.browy/app" "$HOME/.browy"; do
  # Folders with something else in them stay.
  [ ! -d "$folder" ] || run rmdir "$folder" 2>/dev/null || true
done
say "Browy is removed. Remove the extension on chrome://extensions as well."
