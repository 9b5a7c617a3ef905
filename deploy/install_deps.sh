#!/usr/bin/env bash
# Installs, on Debian 12 and as root, what building bimbackup needs. Safe to
# run again.
#
#   deploy/install_deps.sh            what building, testing and linting need
#   deploy/install_deps.sh --minimal  only what building the binaries needs
#   deploy/install_deps.sh --docker   and a container engine with compose,
#                                     where none is there
#   deploy/install_deps.sh --tools    and grpcurl and buf, into /usr/local/bin
set -euo pipefail

readonly grpcurl_version=v1.9.4
readonly buf_version=v1.75.0
readonly go_version=1.23

readonly minimal=(
  ca-certificates cmake curl g++ libabsl-dev libboost-dev libc-ares-dev
  libcli11-dev libcpp-httplib-dev libcurl4-openssl-dev libgrpc++-dev
  libprotobuf-dev libsimdjson-dev libspdlog-dev libsqlite3-dev libssl-dev
  libtcmalloc-minimal4 liburing-dev libutf8proc-dev libzstd-dev ninja-build
  pkg-config
  prometheus-cpp-dev protobuf-compiler protobuf-compiler-grpc)
readonly development=(
  ccache clang-14 clang-format-14 clang-tidy-14 debootstrap git jq
  libbenchmark-dev libclang-rt-14-dev libgmock-dev libgtest-dev lld-14
  procps python3 python3-jsonschema python3-yaml sqlite3 time wrk zstd)

want_minimal=false
want_docker=false
want_tools=false
for argument in "$@"; do
  case $argument in
    --minimal) want_minimal=true ;;
    --docker) want_docker=true ;;
    --tools) want_tools=true ;;
    *) echo "install_deps.sh: unknown argument $argument" >&2; exit 2 ;;
  esac
done

fail() {
  echo "install_deps.sh: $1" >&2
  exit 1
}

# Runs a command up to three times: a mirror may be changing.
try() {
  local attempt
  for attempt in 1 2 3; do
    if timeout 1200 "$@" >"$log" 2>&1; then return 0; fi
    sleep $((attempt * 3))
  done
  tail -20 "$log" >&2
  fail "failed three times: $*"
}

missing() {
  local package
  for package in "$@"; do
    dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null |
      grep -qx installed || echo "$package"
  done
}

updated=false
install() {
  local wanted
  mapfile -t wanted < <(missing "$@")
  if [ ${#wanted[@]} -eq 0 ]; then return 0; fi
  # One mirror of several that cannot be reached is for the install to judge.
  if ! $updated; then
    (try apt-get update) || echo "apt-get update failed; going on without"
    updated=true
  fi
  echo "installing ${#wanted[@]} packages"
  try apt-get install -y --no-install-recommends "${wanted[@]}"
}

# Debian 12's own Go is too old for the tools; its backports have one that
# fetches the newer toolchain which a module asks for.
install_go() {
  if command -v go >/dev/null && go version | grep -qE 'go1\.(2[1-9]|[3-9])'
  then
    return 0
  fi
  local list=/etc/apt/sources.list.d/bookworm-backports.list
  if ! apt-cache policy "golang-$go_version-go" 2>/dev/null |
    grep -q Candidate; then
    echo "deb http://deb.debian.org/debian bookworm-backports main" >"$list"
    updated=false
  fi
  install "golang-$go_version-go" ca-certificates
  PATH=/usr/lib/go-$go_version/bin:$PATH
}

install_tools() {
  if command -v grpcurl >/dev/null && command -v buf >/dev/null; then
    return 0
  fi
  install_go
  export GOBIN=/usr/local/bin GOTOOLCHAIN=auto
  command -v grpcurl >/dev/null ||
    try go install "github.com/fullstorydev/grpcurl/cmd/grpcurl@$grpcurl_version"
  command -v buf >/dev/null ||
    try go install "github.com/bufbuild/buf/cmd/buf@$buf_version"
}

install_docker() {
  if ! command -v docker >/dev/null; then
    install docker.io iptables
  fi
  if ! command -v docker-compose >/dev/null &&
    ! docker compose version >/dev/null 2>&1; then
    install docker-compose
  fi
}

[ "$(id -u)" -eq 0 ] || fail "run it as root"
grep -q '^VERSION_ID="12"' /etc/os-release || fail "this is not Debian 12"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
readonly log
trap 'rm -f "$log"' EXIT

install "${minimal[@]}"
$want_minimal || install "${development[@]}"
if $want_docker; then install_docker; fi
if $want_tools; then install_tools; fi
