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

driver_present() {
  [[ -e /proc/driver/nvidia/version ]] && return 0
  local folder library_path=${LD_LIBRARY_PATH:-}
  for folder in ${library_path//:/ } /usr/lib/x86_64-linux-gnu /usr/lib64 /usr/lib/wsl/lib /run/nvidia/driver/usr/lib/x86_64-linux-gnu; do
    [[ -e $folder/libnvidia-ml.so.1 ]] && return 0
  done
  /sbin/ldconfig -p 2>/dev/null | grep -q 'libnvidia-ml\.so\.1'
}

# dev_up [ARGUMENTS of `stoker up`]: stays in the foreground.
dev_up() {
  local arguments=("$@")
  dev_setup build test
  dev_build release stoker_product
  if [[ " $* " != *" --sim"* && " $* " != *" --help"* && " $* " != *" -h "* ]] && ! driver_present; then
    arguments+=(--sim hgx-h100)
    local place="the data folder"
    [[ " $* " == *" --data"* ]] || { arguments+=(--data build/up-data); place=build/up-data; }
    say
    say "No NVIDIA driver was found on this machine. What you will see are SIMULATED cards: eight H100s that"
    say "exist only in files under $place. The console, the API and the metrics say so too."
    say
  fi
  say "==> stoker up ${arguments[*]}"
  exec build/release/bin/stoker up "${arguments[@]}"
}
