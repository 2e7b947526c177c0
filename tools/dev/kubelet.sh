# shellcheck shell=bash
# A real kubelet for tests/real/kubelet_test.py. Debian packages none, but its source package `kubernetes` is the whole
# of upstream 1.20.2 with its vendored modules: cmd/kubelet is built from it once, without a network, and kept outside
# the tree.

kubelet_version=1.20.2

kubelet_cache() { echo "${XDG_CACHE_HOME:-$HOME/.cache}/stoker/kubelet-$kubelet_version"; }

# kubelet_source FOLDER: Debian's source package, unpacked into FOLDER/kubernetes-*.
kubelet_source() {
  apt_of_its_own "$1/apt" deb-src main || return 1
  (cd "$1" && APT_CONFIG=$1/apt/apt.conf apt-get -q source kubernetes </dev/null)
}

# The vendored reflect2 1.0.1 faults with Go 1.18 and later (https://github.com/modern-go/reflect2/issues/21); Debian's
# package of 1.0.2 takes its place.
kubelet_patch() {
  local vendored=$1/vendor/github.com/modern-go/reflect2
  rm -f "$vendored"/*.go "$vendored"/*.s
  cp /usr/share/gocode/src/github.com/modern-go/reflect2/*.{go,s} "$vendored"/ || return 1
  rm -f "$vendored"/*_test.go
}

# kubelet_compile SOURCE: upstream's makefile generates code and compiles; of both only what a kubelet is made of, and
# without the clouds' clients, which are half of all.
kubelet_compile() {
  sed -i --follow-symlinks 's/^generated_files:.*/generated_files: gen_deepcopy gen_defaulter gen_conversion/' \
    "$1/Makefile.generated_files" || return 1
  mkdir -p "$1/.go/src/k8s.io" && ln -sfn ../../.. "$1/.go/src/k8s.io/kubernetes" || return 1
  env -C "$1" PATH="/usr/lib/go-1.19/bin:$PATH" GOPROXY=off CGO_ENABLED=0 GO111MODULE=off GOPATH="$1/.go" \
    KUBE_GIT_VERSION=v$kubelet_version KUBE_GIT_COMMIT=debian KUBE_GIT_TREE_STATE=clean \
    make WHAT=cmd/kubelet KUBE_GOFLAGS=-tags=providerless,dockerless GOLDFLAGS="-s -w"
}

kubelet_build() {
  local work source cache status=1
  cache=$(kubelet_cache)
  mkdir -p "$cache" && work=$(mktemp -d "$cache/build.XXXXXX") || return 1
  # 2 GB that must not stay, however this ends
  # shellcheck disable=SC2064 # the folder of now
  trap "rm -rf '$work'" EXIT
  say "    Debian's source package kubernetes"
  if kubelet_source "$work" >"$work/source.log" 2>&1; then
    source=$(find "$work" -maxdepth 1 -type d -name 'kubernetes-*')
    kubelet_patch "$source" && kubelet_compile "$source" && mv "$source/_output/bin/kubelet" "$cache/kubelet" && status=0
  else
    tail -n 20 "$work/source.log"
  fi
  rm -rf "$work"
  trap - EXIT
  return "$status"
}

# dev_kubelet: quick when it is there. Without a network the test that needs it is skipped, and says so.
dev_kubelet() {
  [[ -x $(kubelet_cache)/kubelet ]] && return 0
  step "build kubelet $kubelet_version from Debian's source package into $(kubelet_cache)" kubelet_build ||
    say "    the test that needs it will be skipped"
}
