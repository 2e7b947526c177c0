# shellcheck shell=bash
# Real servers of Kubernetes for tests/real. Debian packages none, but its source package `kubernetes` is the whole of
# upstream 1.20.2 with its vendored modules: cmd/kubelet and cmd/kube-apiserver are built from it once, without a network,
# and each is kept outside the tree.

kubernetes_version=1.20.2
kubernetes_servers=(kubelet kube-apiserver)

# kubernetes_cache SERVER: the folder that keeps it.
kubernetes_cache() { echo "${XDG_CACHE_HOME:-$HOME/.cache}/stoker/$1-$kubernetes_version"; }

# kubernetes_source FOLDER: Debian's source package, unpacked into FOLDER/kubernetes-*.
kubernetes_source() {
  apt_of_its_own "$1/apt" deb-src main || return 1
  (cd "$1" && APT_CONFIG=$1/apt/apt.conf apt-get -q source kubernetes </dev/null)
}

# The vendored reflect2 1.0.1 faults with Go 1.18 and later (https://github.com/modern-go/reflect2/issues/21); Debian's
# package of 1.0.2 takes its place.
kubernetes_patch() {
  local vendored=$1/vendor/github.com/modern-go/reflect2
  rm -f "$vendored"/*.go "$vendored"/*.s
  cp /usr/share/gocode/src/github.com/modern-go/reflect2/*.{go,s} "$vendored"/ || return 1
  rm -f "$vendored"/*_test.go
}

# kubernetes_compile SOURCE SERVER...: upstream's makefile generates code and compiles; of both only what the servers are
# made of (a kubelet has no OpenAPI), and without the clouds' clients, which are half of all.
kubernetes_compile() {
  local source=$1 generated="gen_deepcopy gen_defaulter gen_conversion"
  shift
  [[ " $* " == *" kube-apiserver "* ]] && generated+=" gen_openapi"
  sed -i --follow-symlinks "s/^generated_files:.*/generated_files: $generated/" "$source/Makefile.generated_files" || return 1
  mkdir -p "$source/.go/src/k8s.io" && ln -sfn ../../.. "$source/.go/src/k8s.io/kubernetes" || return 1
  env -C "$source" PATH="/usr/lib/go-1.19/bin:$PATH" GOPROXY=off CGO_ENABLED=0 GO111MODULE=off GOPATH="$source/.go" \
    KUBE_GIT_VERSION=v$kubernetes_version KUBE_GIT_COMMIT=debian KUBE_GIT_TREE_STATE=clean \
    make WHAT="${*/#/cmd/}" KUBE_GOFLAGS=-tags=providerless,dockerless GOLDFLAGS="-s -w"
}

# kubernetes_keep SOURCE SERVER...
kubernetes_keep() {
  local source=$1 server
  shift
  for server in "$@"; do
    mkdir -p "$(kubernetes_cache "$server")" && mv "$source/_output/bin/$server" "$(kubernetes_cache "$server")/$server" || return 1
  done
}

# kubernetes_build SERVER...
kubernetes_build() {
  local work source cache status=1
  cache=$(kubernetes_cache "$1")
  mkdir -p "$cache" && work=$(mktemp -d "$cache/build.XXXXXX") || return 1
  # 2 GB that must not stay, however this ends
  # shellcheck disable=SC2064 # the folder of now
  trap "rm -rf '$work'" EXIT
  say "    Debian's source package kubernetes"
  if kubernetes_source "$work" >"$work/source.log" 2>&1; then
    source=$(find "$work" -maxdepth 1 -type d -name 'kubernetes-*')
    kubernetes_patch "$source" && kubernetes_compile "$source" "$@" && kubernetes_keep "$source" "$@" && status=0
  else
    tail -n 20 "$work/source.log"
  fi
  rm -rf "$work"
  trap - EXIT
  return "$status"
}

# dev_kubernetes: builds in one go what is not there yet. Without a network the tests that need it are skipped, and say so.
dev_kubernetes() {
  local server missing=()
  for server in "${kubernetes_servers[@]}"; do
    [[ -x $(kubernetes_cache "$server")/$server ]] || missing+=("$server")
  done
  ((${#missing[@]} > 0)) || return 0
  step "build ${missing[*]} $kubernetes_version from Debian's source package into ${XDG_CACHE_HOME:-$HOME/.cache}/stoker" \
    kubernetes_build "${missing[@]}" || say "    the tests that need them will be skipped"
}
