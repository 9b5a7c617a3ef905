#!/usr/bin/env bash
# The main job on a fresh Debian 12, without a container engine: installs,
# builds, starts an emulated account, a coordinator and two workers, and backs
# the account up into build/demo/storage.
#
#   deploy/demo.sh          from the start; run it again for a fresh one
#   deploy/demo.sh --stop   ends what it left running
set -euo pipefail
cd "$(dirname "$0")/.."

readonly bin=$PWD/build/release/bin
readonly demo=$PWD/build/demo
readonly emulator=127.0.0.1:8360
readonly coordinator=127.0.0.1:50051

fail() {
  echo "demo.sh: $1" >&2
  exit 1
}

# Whether the process of a pid file is one of ours, and alive.
is_ours() {
  [[ "$(readlink "/proc/$1/exe" 2>/dev/null)" == "$bin"/* ]]
}

# Ends the processes that an earlier run left, and no others: workers first,
# which tell the coordinator that they go.
stop_all() {
  local file pid
  for file in "$demo"/pids/worker-* "$demo"/pids/{coordinator,emulator}; do
    [ -e "$file" ] || continue
    pid=$(cat "$file")
    if is_ours "$pid"; then kill "$pid" 2>/dev/null || true; fi
    for _ in $(seq 450); do
      is_ours "$pid" || break
      sleep 0.2
    done
    if is_ours "$pid"; then kill -9 "$pid" || true; fi
    rm -f "$file"
  done
}

build() {
  if [ "$(id -u)" -eq 0 ]; then
    deploy/install_deps.sh --minimal
  fi
  echo "building (some minutes at the first time; log: build/demo-build.log)"
  mkdir -p build
  local tests=()
  # The tests need more packages; a folder that has them keeps them.
  [ -e build/release/CMakeCache.txt ] || tests=(-DBIMBACKUP_BUILD_TESTS=OFF)
  if ! { timeout 300 cmake --preset release "${tests[@]}" &&
    timeout 3000 cmake --build --preset release --target \
      bim360-emulator bimbackup-coordinator bimbackup-worker bimbackup; } \
    >build/demo-build.log 2>&1; then
    tail -30 build/demo-build.log >&2
    fail "the build failed"
  fi
}

# start NAME BINARY FLAG...: in the background, with its log and pid.
start() {
  local name=$1 binary=$2
  shift 2
  setsid "$bin/$binary" "$@" </dev/null >"$demo/logs/$name.log" 2>&1 &
  echo $! >"$demo/pids/$name"
}

# await NAME COMMAND...: until the command succeeds, for 30 s.
await() {
  local name=$1 attempt
  shift
  for attempt in $(seq 150); do
    if timeout 5 "$@" >/dev/null 2>&1; then return 0; fi
    kill -0 "$(cat "$demo/pids/$name")" 2>/dev/null || break
    sleep 0.2
  done
  tail -5 "$demo/logs/$name.log" >&2
  fail "$name did not start"
}

start_all() {
  rm -rf "$demo"
  mkdir -p "$demo"/{storage,state,logs,pids}
  export APS_CLIENT_ID=emulator APS_CLIENT_SECRET=emulator
  export APS_ACCOUNT_ID=00000000-0000-4000-8000-000000000001
  start emulator bim360-emulator --listen="$emulator"
  await emulator curl -fsS "http://$emulator/admin/requests"
  start coordinator bimbackup-coordinator --listen="$coordinator" \
    --http_listen=127.0.0.1:8080 --state_dir="$demo/state" \
    --storage="file://$demo/storage" --bim360_base_url="http://$emulator"
  await coordinator "$bin/bimbackup" health "$coordinator"
  # Workers hold no credential.
  unset APS_CLIENT_ID APS_CLIENT_SECRET APS_ACCOUNT_ID
  local port
  for port in 50052 50062; do
    start "worker-$port" bimbackup-worker --listen="127.0.0.1:$port" \
      --coordinator="$coordinator" --storage="file://$demo/storage"
    await "worker-$port" "$bin/bimbackup" health "127.0.0.1:$port"
  done
}

show_next() {
  cat <<EOF

The backup is in build/demo/storage; people look into build/demo/storage/latest.
Emulator, coordinator and two workers go on running. Try:

  export PATH=$bin:\$PATH
  bimbackup list; bimbackup snapshots; bimbackup workers
  bimbackup ls --glob '**/*.pdf'

  # Change the account, and back up again: only the change is fetched.
  curl -X POST http://$emulator/admin/edit -d '{"op": "create_file",
    "project": "Riverside Tower", "path": ["Project Files", "Hello.txt"],
    "content": "hello"}'
  bimbackup backup --wait

  deploy/demo.sh --stop
EOF
}

case ${1:-} in
  --stop)
    stop_all
    exit 0
    ;;
  "") ;;
  *)
    echo "usage: deploy/demo.sh [--stop]" >&2
    exit 2
    ;;
esac

build
stop_all
start_all
timeout 600 "$bin/bimbackup" --coordinator="$coordinator" backup --wait ||
  fail "the backup ended with exit code $?; logs are in build/demo/logs"
echo
echo "build/demo/storage/latest:"
find "$demo/storage/latest" -mindepth 1 -maxdepth 3 | sort | head -12 |
  sed "s|$demo/storage/latest/|  |"
echo "  ... $(find "$demo/storage/latest" -type f | wc -l) files," \
  "$(du -sh --apparent-size "$demo/storage/latest" | cut -f1)"
show_next
