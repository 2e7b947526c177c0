# shellcheck shell=bash
# What can be said about the code without running it.

cpp_files() { find src apps tests \( -name '*.h' -o -name '*.cpp' \) 2>/dev/null | sort || true; }

in_format() {
  have clang-format-19 || die "clang-format-19 is not installed: ./dev setup check"
  cpp_files | xargs -r -P 2 -n 40 clang-format-19 --dry-run -Werror
}

dev_format() {
  have clang-format-19 || die "clang-format-19 is not installed: ./dev setup check"
  cpp_files | xargs -r -P 2 -n 40 clang-format-19 -i
}

shell_scripts() {
  if ! have shellcheck; then
    say "shellcheck is not installed: ./dev setup check"
    return 1
  fi
  # by what they are, not by their suffix
  { grep -rlIE --include='*.sh' '' tools tests || true
    grep -rlIE --exclude='*.*' '^#!.*[/ ](ba)?sh( |$)' dev .ci/run tools tests; } 2>/dev/null | sort -u | xargs -r shellcheck -x
}

tidy_all() { dev_build tidy-batched stoker_generated && python3 tools/run_tidy.py --build build/tidy-batched; }

# dev_check [--quick]: --quick installs nothing and builds nothing.
dev_check() {
  local failures=0
  case "${1:-}" in
    --quick) ;;
    "") dev_setup build test check ;;
    *) die "check takes nothing or --quick" ;;
  esac
  step "format" in_format || ((failures += 1))
  step "include direction" python3 tools/check_includes.py || ((failures += 1))
  step "file sizes" python3 tools/check_sizes.py || ((failures += 1))
  step "shell scripts" shell_scripts || ((failures += 1))
  if [[ ${1:-} != --quick ]]; then
    # Its clang-diagnostic-* checks are clang's own warnings, those of the thread-safety analysis with them.
    step "clang-tidy, with clang's warnings and thread-safety analysis" tidy_all || ((failures += 1))
  fi
  if ((failures > 0)); then
    say "check: $failures failed"
    return 1
  fi
  say "check: all is well"
}
