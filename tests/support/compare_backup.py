#!/usr/bin/env python3
"""Compares a backup with the emulator's account, over HTTP only.

Every file under latest/ must have the bytes that the emulator has now, with
no file missing and none too many. With --storage, the newest snapshot's
manifests are read as well: every file and folder stands in them once.
Prints one line and exits 0, or up to 20 differences and exits 1.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import urllib.request

BLOCK = 1 << 20
# What a stored name never has as it is: see "Names on disk" in
# ARCHITECTURE.md. Names without any of it are stored unchanged.
RESERVED = set('<>:"/\\|?*%')
DEVICES = {"CON", "PRN", "AUX", "NUL",
           *(f"{d}{n}" for d in ("COM", "LPT") for n in range(10))}


def is_plain(name):
    """Whether a name must be its own stored name."""
    return (name and not RESERVED.intersection(name)
            and all(ord(c) >= 32 and ord(c) != 127 for c in name)
            and name[-1] not in ". " and len(name.encode()) < 143
            and name.split(".")[0].upper() not in DEVICES)


def fetch_tree(base):
    """Every live folder and file of the account."""
    with urllib.request.urlopen(f"{base}/admin/tree", timeout=300) as answer:
        return json.load(answer)["entries"]


def read_manifests(storage):
    """The lines of all manifests of the newest snapshot."""
    newest = max((storage / "snapshots").glob("*.json"))
    snapshot = json.loads(newest.read_text())
    entries = []
    for project in snapshot["projects"]:
        digest = project["manifest_sha256"]
        path = storage / "manifests/sha256" / digest[:3] / (
            digest + ".jsonl.zst")
        text = subprocess.run(["zstd", "-dcq", path], check=True, timeout=300,
                              capture_output=True).stdout
        entries += [json.loads(line) for line in text.splitlines()]
    return entries


def same_bytes(base, entry, path):
    """None, or what differs between a file and the emulator's content."""
    try:
        stored = open(path, "rb")
    except OSError as error:
        return f"missing: {path} ({error.strerror})"
    with stored, urllib.request.urlopen(base + entry["content_url"],
                                        timeout=300) as content:
        offset = 0
        while True:
            theirs = content.read(BLOCK)
            ours = stored.read(len(theirs) or 1)
            if ours != theirs:
                return f"differs after byte {offset}: {path}"
            if not theirs:
                return None
            offset += len(theirs)


def key_of(entry):
    """What identifies an entry in the tree and in the manifests."""
    return (entry["project_id"], entry["kind"], tuple(entry["path"]))


def check_manifests(tree, manifest):
    """Yields what stands in the one and not in the other, or twice."""
    seen = {}
    for entry in manifest:
        # The root folder has no path, and is not in the emulator's tree.
        if entry["path"]:
            seen[key_of(entry)] = seen.get(key_of(entry), 0) + 1
    wanted = {key_of(entry) for entry in tree}
    for key, count in seen.items():
        if count != 1:
            yield f"{count} lines in the manifests for {key}"
        if key not in wanted:
            yield f"in the manifests, not in the account: {key}"
    for key in wanted - seen.keys():
        yield f"in the account, not in the manifests: {key}"


def stored_path(entry, by_item):
    """Where a file should be under latest/; None where nobody can say."""
    if entry["id"] in by_item:
        return by_item[entry["id"]]
    names = [entry["project_name"], *entry["path"]]
    return "/".join(names) if all(map(is_plain, names)) else None


def check_files(base, tree, latest, by_item):
    """Yields the differences between latest/ and the account."""
    expected = {}
    for entry in tree:
        if entry["kind"] != "file" or not entry["has_content"]:
            continue
        path = stored_path(entry, by_item)
        if path is None:
            yield f"cannot say where this is stored: {entry['path']}"
        else:
            expected[os.path.join(latest, path)] = entry
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        jobs = [pool.submit(same_bytes, base, entry, path)
                for path, entry in expected.items()]
        yield from (job.result() for job in jobs if job.result())
    for folder, _, files in os.walk(latest):
        for name in files:
            path = os.path.join(folder, name)
            if path not in expected:
                yield f"not in the account: {path}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--emulator", required=True, metavar="URL")
    parser.add_argument("--latest", type=pathlib.Path, required=True)
    parser.add_argument("--storage", type=pathlib.Path)
    arguments = parser.parse_args()
    tree = fetch_tree(arguments.emulator)
    differences = []
    by_item = {}
    if arguments.storage:
        manifest = read_manifests(arguments.storage)
        differences += check_manifests(tree, manifest)
        by_item = {entry["item_id"]: entry["stored_path"]
                   for entry in manifest if entry["kind"] == "file"}
    differences += check_files(arguments.emulator, tree, arguments.latest,
                               by_item)
    for line in differences[:20]:
        print(line)
    files = [e for e in tree if e["kind"] == "file"]
    size = sum(e["size"] for e in files)
    print(f"{len(files)} files, {len(tree) - len(files)} folders, {size} "
          f"bytes compared: {len(differences)} differences")
    return 1 if differences or not files else 0


if __name__ == "__main__":
    sys.exit(main())
