# shellcheck shell=bash
# Configure and build a preset; run the product.

configure() { cmake --preset "$1" >"build/$1.configure.log" 2>&1 || { cat "build/$1.configure.log"; return 1; }; }

# dev_build PRESET [TARGET...]
dev_build() {
  local preset=$1
  shift
  mkdir -p build
  step "configure build/$preset" configure "$preset" || return 1
  step "build build/$preset" ninja -C "build/$preset" -j "$(jobs_count)" "$@"
}

# A library without a loaded driver is none. /dev/dxg: the cards of WSL, whose driver is Windows'.
driver_present() { [[ -e /proc/driver/nvidia/version || -e /dev/nvidiactl || -e /dev/dxg ]]; }

# Is one of the flags $2... among the arguments $1, alone or as --flag=value?
has_flag() {
  local flag
  for flag in "${@:2}"; do [[ " $1 " == *" $flag "* || " $1 " == *" $flag="* ]] && return 0; done
  return 1
}

# dev_up [ARGUMENTS of `stoker up`]: stays in the foreground.
dev_up() {
  local arguments=("$@")
  dev_setup build test
  dev_build release stoker_product
  if ! has_flag "$*" --sim --replay --wait-driver --config --help -h && ! driver_present; then
    arguments+=(--sim hgx-h100)
    local place="the data folder"
    has_flag "$*" --data || { arguments+=(--data build/up-data); place=build/up-data; }
    say
    say "No NVIDIA driver was found on this machine. What you will see are SIMULATED cards: eight H100s that"
    say "exist only in files under $place. The console, the API and the metrics say so too."
    say
  fi
  say "==> stoker up ${arguments[*]}"
  exec build/release/bin/stoker up "${arguments[@]}"
}
