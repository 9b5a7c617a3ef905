#!/usr/bin/env bash
# Makes sure that the engine has debian:bookworm-slim: pulls it, or, where no
# registry can be reached, builds the like of it with debootstrap.
set -euo pipefail

readonly image=debian:bookworm-slim
readonly mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}

if docker image inspect "$image" >/dev/null 2>&1; then
  exit 0
fi
if timeout 60 docker pull --quiet "$image" >/dev/null 2>&1; then
  echo "pulled $image"
  exit 0
fi

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
echo "no registry to be reached: making $image with debootstrap"
timeout 600 debootstrap --variant=minbase bookworm "$root" "$mirror" \
  >"$root.log" 2>&1 || { tail -20 "$root.log" >&2; exit 1; }
rm -f "$root.log"
# Security updates as the published image has them, and no package lists.
cat >"$root/etc/apt/sources.list" <<EOF
deb $mirror bookworm main
deb $mirror bookworm-updates main
deb ${mirror%/debian}/debian-security bookworm-security main
EOF
rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/*
tar -C "$root" -c . | docker import --change 'CMD ["bash"]' - "$image" \
  >/dev/null
echo "made $image"
