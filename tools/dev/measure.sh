# shellcheck shell=bash
# Benchmarks, and the long runs that never go into CI.

dev_bench() {
  local program status=0
  for program in build/release/bin/*_bench; do
    [[ -x $program ]] || continue
    step "$(basename "$program")" "$program" || status=1
  done
  if [[ -x tests/bench/run ]]; then
    step "tests/bench/run" tests/bench/run || status=1
  fi
  return "$status"
}

# dev_soak NAME [ARGUMENTS]: the script's last line is its result. A script may print `seed: N`.
dev_soak() {
  local name=${1:-} started=$SECONDS status=0 log seed result
  [[ -n $name && -x tests/soak/$name ]] || die "soak NAME: one of $(find tests/soak -type f -executable -printf '%f ' 2>/dev/null)"
  shift
  if ! grep -q '^# Needs no build' "tests/soak/$name"; then
    dev_setup build test check real
    dev_build release
  fi
  mkdir -p build/soak
  log=build/soak/$name.log
  step "tests/soak/$name $*" "tests/soak/$name" "$@" > >(tee "$log") 2>&1 || status=$?
  seed=$(sed -n 's/^seed: *//p' "$log" | tail -n 1)
  result=$(grep -v '^    \|^==>' "$log" | tail -n 1)
  ((status == 0)) || result="FAILED ($status): $result"
  say "for docs/measurements.md:"
  say "| $(date -u +%F) | $(git rev-parse --short HEAD 2>/dev/null || echo '?') | \`./dev soak $name $*\` | ${seed:--} | $((SECONDS - started)) s | $result |"
  return "$status"
}
