# shellcheck shell=bash
# The test suites. Each adds to the three counters; the last line of ./dev test sums them up.

passed=0 failed=0 skipped=0
remarks=() # "failed: NAME" and "unsteady: NAME", said again at the end

# Where a sanitizer stops, it says file and line. The children that tests with threads fork start threads too (those of
# apps/stoker/inquirer_test.cpp), which the thread sanitizer has to be told to let pass.
export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:external_symbolizer_path=/usr/lib/llvm-19/bin/llvm-symbolizer
export UBSAN_OPTIONS=print_stacktrace=1:external_symbolizer_path=/usr/lib/llvm-19/bin/llvm-symbolizer
export TSAN_OPTIONS=die_after_fork=0:second_deadlock_stack=1:external_symbolizer_path=/usr/lib/llvm-19/bin/llvm-symbolizer

fail() {
  ((failed += 1))
  remarks+=("failed: $1")
}

# count RESULTS [AGAIN]: adds what tools/count_tests.py says of them.
count() {
  local lines numbers
  if mapfile -t lines < <(python3 tools/count_tests.py "$@") && ((${#lines[@]} > 0)); then
    read -r -a numbers <<<"${lines[0]}"
    ((passed += numbers[0], failed += numbers[1], skipped += numbers[2], 1))
    remarks+=("${lines[@]:1}")
  else
    fail "$1 can't be read"
  fi
}

# one TITLE COMMAND...: a step that counts as one test.
one() {
  if step "$@"; then ((passed += 1)); else fail "$1"; fi
}

# suite PRESET CTEST-ARGUMENT...: builds and runs; a build that fails is one failed test. What fails runs once more,
# alone: what passes then is counted, and named as unsteady, since on a busy machine a deadline may be missed for no
# fault of ours.
suite() {
  local preset=$1 results again=() failed_before=$failed status=0
  shift
  dev_build "$preset" || { fail "build of build/$preset"; return 0; }
  results=$PWD/build/$preset/results.xml
  rm -f "$results" "$results.again"
  step "tests in build/$preset ($*)" ctest --test-dir "build/$preset" --output-junit "$results" \
    --output-on-failure -j "${STOKER_TEST_JOBS:-2}" "$@" || status=$?
  if ((status != 0)) && step "those that failed in build/$preset, once more" ctest --test-dir "build/$preset" \
    --rerun-failed --output-junit "$results.again" --output-on-failure; then
    status=0
  fi
  [[ -f $results.again ]] && again=("$results.again")
  count "$results" "${again[@]}"
  # ctest knows of failures that its file does not, such as a program that could not list its tests.
  if ((status != 0 && failed == failed_before)); then fail "ctest in build/$preset"; fi
}

# The revision that our work is compared with.
base_revision() {
  local base
  if [[ -n ${STOKER_BASE:-} ]]; then
    say "$STOKER_BASE"
  elif base=$(git merge-base HEAD origin/main 2>/dev/null) && [[ $base != "$(git rev-parse HEAD)" ]]; then
    say "$base"
  else
    git rev-parse -q --verify HEAD~ || git hash-object -t tree /dev/null
  fi
}

tidy_changed() {
  dev_build tidy stoker_generated || return 1
  if git rev-parse -q --verify HEAD >/dev/null 2>&1; then
    python3 tools/run_tidy.py --changed-since "$(base_revision)" --at-most 80
  else
    python3 tools/run_tidy.py
  fi
}

verdict() {
  say
  ((${#remarks[@]} == 0)) || printf '%s\n' "${remarks[@]}"
  say "$passed passed, $failed failed, $skipped skipped"
  ((failed == 0))
}

# Without its packages nothing can be tested, which is a failure and not a silence.
test_setup() {
  dev_setup "$@" && return 0
  fail "./dev setup $*"
  verdict
  exit 1
}

dev_test() {
  local started=$SECONDS
  case "${1:-}" in
    "")
      test_setup build test check
      suite release -LE real
      fuzz_a_while
      ;;
    --real)
      test_setup
      dev_clients
      dev_kubernetes
      suite release -L real
      suite asan-ubsan -LE 'real|noasan'
      suite tsan -LE 'real|notsan'
      one "clang-tidy on what changed" tidy_changed
      ;;
    *) die "test takes nothing or --real" ;;
  esac
  say "    all of it took $((SECONDS - started)) s"
  verdict
}

# fuzzers_built: the libFuzzer programs of build/asan-ubsan, one a line.
fuzzers_built() { find build/asan-ubsan/bin -name '*_fuzz' -type f -executable 2>/dev/null | sort; }

# run_fuzzer PROGRAM SECONDS: seeds come from tests/fuzz/NAME/, what it finds is kept under build/fuzz/corpus.
run_fuzzer() {
  local program=$1 seconds=$2 name corpus seeds=()
  name=$(basename "$program" _fuzz)
  corpus=build/fuzz/corpus/$name
  mkdir -p "$corpus" build/fuzz/crashes
  [[ -d tests/fuzz/$name ]] && seeds=("tests/fuzz/$name")
  "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 -verbosity=0 \
    -artifact_prefix="build/fuzz/crashes/$name-" "$corpus" "${seeds[@]}"
}

has_fuzzers() { [[ -n $(find src tests -name '*_fuzz.cpp' -print -quit 2>/dev/null) ]]; }

# A share of STOKER_FUZZ_SECONDS for each fuzzer; one whose sources changed gets three shares and goes first.
fuzz_a_while() {
  local seconds=${STOKER_FUZZ_SECONDS:-180} program source folder first=() later=() share base
  has_fuzzers || return 0
  dev_build asan-ubsan stoker_fuzzers || { fail "build of the fuzzers"; return 0; }
  base=$(base_revision 2>/dev/null) || base=
  while read -r program; do
    source=$(find src tests -name "$(basename "$program").cpp" -print -quit)
    folder=$(dirname "$source")
    if [[ -n $base ]] && ! git diff --quiet "$base" -- "$folder" 2>/dev/null; then
      first+=("$program")
    else
      later+=("$program")
    fi
  done < <(fuzzers_built)
  share=$((seconds / (3 * ${#first[@]} + ${#later[@]} + (${#first[@]} + ${#later[@]} == 0))))
  ((share > 0)) || share=1
  for program in "${first[@]}"; do
    one "fuzz $(basename "$program") for $((3 * share)) s" run_fuzzer "$program" $((3 * share))
  done
  for program in "${later[@]}"; do
    one "fuzz $(basename "$program") for $share s" run_fuzzer "$program" "$share"
  done
}

# dev_fuzz SECONDS: every fuzzer for that long.
dev_fuzz() {
  local program
  has_fuzzers || { say "there are no fuzzers (*_fuzz.cpp)"; return 0; }
  dev_build asan-ubsan stoker_fuzzers
  while read -r program; do
    one "fuzz $(basename "$program") for $1 s" run_fuzzer "$program" "$1"
  done < <(fuzzers_built)
  verdict
}
