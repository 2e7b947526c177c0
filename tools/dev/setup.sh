# shellcheck shell=bash
# Debian packages from the one list, tools/packages.txt.

sections() { sed -n 's/^\[\(.*\)\]$/\1/p' tools/packages.txt; }

# packages_of SECTION: its package names, one a line.
packages_of() {
  awk -v want="[$1]" '/^\[/ { inside = ($0 == want); next } inside && NF && !/^#/ { print $1 }' tools/packages.txt
}

# missing PACKAGE...: those that are not installed.
missing() {
  local package state
  for package in "$@"; do
    state=$(dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null) || state=
    [[ $state == ii* ]] || say "$package"
  done
}

as_root() {
  if ((EUID == 0)); then
    "$@"
  elif have sudo; then
    sudo "$@"
  else
    die "installing packages needs root or sudo; missing: ${to_install[*]}"
  fi
}

apt() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=600 \
    -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 "$@" </dev/null
}

# Debian starts a service when it installs it; a test starts its own. policy-rc.d says no, for this install only.
install_packages() {
  local policy=/usr/sbin/policy-rc.d ours=no status=0
  if [[ ! -e $policy ]]; then
    printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
    as_root chmod 755 "$policy"
    ours=yes
  fi
  apt install --no-install-recommends "$@" || status=$?
  [[ $ours == no ]] || as_root rm -f "$policy"
  return "$status"
}

# The console's build wants Node 18 to 22. One that is there is kept; Debian's comes only where there is none.
setup_node() {
  [[ -f web/package.json ]] || return 0
  if have node; then
    local major
    major=$(node -p 'process.versions.node.split(".")[0]')
    ((major >= 18 && major <= 22)) || die "Node $major is installed; the console builds with 18 to 22"
    have npm || die "node is installed without npm; install npm for Node $major"
  else
    to_install+=(nodejs npm)
  fi
}

# dev_setup [SECTION...]: idempotent, and quick where everything is there.
dev_setup() {
  local wanted=("$@") section found to_install=()
  mapfile -t known < <(sections)
  if ((${#wanted[@]} == 0)); then
    wanted=("${known[@]}")
    setup_node
  fi
  have dpkg-query || die "this is not Debian: install what tools/packages.txt lists by your own means"
  for section in "${wanted[@]}"; do
    [[ " ${known[*]} " == *" $section "* ]] || die "no section '$section' in tools/packages.txt (${known[*]})"
    mapfile -t found < <(packages_of "$section")
    mapfile -t -O "${#to_install[@]}" to_install < <(missing "${found[@]}")
  done
  if ((${#to_install[@]} == 0)); then
    say "==> packages of ${wanted[*]}: all there"
    return 0
  fi
  say "    to install: ${to_install[*]}"
  step "update the package lists" apt update || return 1
  step "install ${#to_install[@]} Debian packages (${wanted[*]})" install_packages "${to_install[@]}"
}
