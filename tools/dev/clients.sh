# shellcheck shell=bash
# NVML clients that nobody here wrote, to be pointed at the simulated driver: nvtop, pynvml and Slurm's gpu_nvml.
# Debian has them in contrib, which we neither enable nor install from: they are unpacked under build/clients/root
# (usr/bin/nvtop, usr/lib/python3/dist-packages, usr/lib/x86_64-linux-gnu/slurm-wlm/gpu_nvml.so).

clients_packages=(nvtop python3-pynvml slurm-wlm-nvml-plugin)

# The mirror that this machine already uses for bookworm.
mirror() {
  local found
  # shellcheck disable=SC2016 # apt fills these in
  found=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' 2>/dev/null |
    awk '$2 == "bookworm" && $3 == "main" { print $1; exit }')
  echo "${found:-http://deb.debian.org/debian}"
}

# apt_of_its_own FOLDER TYPE COMPONENT: an apt that knows this one source of bookworm (deb or deb-src) and leaves the
# machine's alone; updated. Use it with APT_CONFIG=FOLDER/apt.conf.
apt_of_its_own() {
  local apt=$1 type=$2 component=$3
  mkdir -p "$apt"/{lists/partial,cache/archives/partial,sources.list.d}
  echo "$type [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(mirror) bookworm $component" >"$apt/sources.list"
  cat >"$apt/apt.conf" <<CONF
Dir::Etc::sourcelist "$apt/sources.list";
Dir::Etc::sourceparts "$apt/sources.list.d";
Dir::State::lists "$apt/lists";
Dir::Cache "$apt/cache";
APT::Sandbox::User "root";
CONF
  APT_CONFIG=$apt/apt.conf apt-get -q update </dev/null
}

unpack_clients() {
  local apt=$PWD/build/clients/apt debs=$PWD/build/clients/debs root=$PWD/build/clients/root deb
  apt_of_its_own "$apt" deb contrib || return 1
  mkdir -p "$debs" "$root"
  (cd "$debs" && APT_CONFIG=$apt/apt.conf apt-get -q download "${clients_packages[@]}" </dev/null) || return 1
  for deb in "$debs"/*.deb; do dpkg -x "$deb" "$root" || return 1; done
  printf '%s\n' "${clients_packages[@]}" >build/clients/unpacked
}

# dev_clients: quick when they are there. Without a network the tests that need them are skipped, and say so.
dev_clients() {
  if [[ "$(cat build/clients/unpacked 2>/dev/null)" == "$(printf '%s\n' "${clients_packages[@]}")" ]]; then
    return 0
  fi
  step "unpack ${clients_packages[*]} under build/clients" unpack_clients ||
    say "    tests that need them will be skipped"
}
