# shellcheck shell=bash
# What every step of ./dev uses: talk, and run a thing while saying how long it took.

say() { printf '%s\n' "$*"; }

# die MESSAGE: what went wrong and what to do, exit 2.
die() {
  printf './dev: %s\n' "$*" >&2
  exit 2
}

# step TITLE COMMAND...: runs it, says how long it took, and returns its status.
step() {
  local title=$1 status=0 started=$SECONDS
  shift
  say "==> $title"
  "$@" || status=$?
  if ((status == 0)); then
    say "    done in $((SECONDS - started)) s: $title"
  else
    say "    FAILED (status $status) after $((SECONDS - started)) s: $title"
  fi
  return "$status"
}

have() { command -v "$1" >/dev/null 2>&1; }

jobs_count() { echo "${STOKER_JOBS:-$(nproc)}"; }
