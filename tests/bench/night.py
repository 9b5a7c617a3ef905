"""What a night costs: nothing changed, then one file in a hundred.

The `account` shape at a thousandth of its bytes, limits off, one worker.
"""

import os
import random
import sys
import time

import report
from cluster import Cluster, wait_for

BIN = os.environ["BIMBACKUP_BIN"]
FLAGS = ("--account=account", "--size_scale=0.001", "--limits=off")
PAGE = 200


def calls_of(backup):
    return {name: int(count)
            for name, count in backup["progress"]["apiCalls"].items()}


def run_night(cluster, name):
    started = time.monotonic()
    code, backup = cluster.run_backup(seconds=900)
    if code != 0:
        raise SystemExit(f"{name}: exit {code}: {backup}")
    progress = backup["progress"]
    return {"run": name, "seconds": time.monotonic() - started,
            "calls": calls_of(backup),
            "listed": int(progress["foldersListed"]),
            "stored": int(progress["transfersStored"]),
            "bytes": int(progress["bytesStored"]),
            "manifests": int(progress["manifestsWritten"])}


def change_files(cluster, tree, seed):
    """A new version of one file in a hundred; what that must cost."""
    chosen = random.Random(seed).sample(
        [entry for entry in tree if entry["kind"] == "file"],
        sum(1 for entry in tree if entry["kind"] == "file") // 100)
    size, folders = 1000, set()
    edits = []
    for number, entry in enumerate(chosen):
        edits.append({"op": "change_file", "project": entry["project_id"][2:],
                      "path": entry["path"], "size": size + number})
        for depth in range(1, len(entry["path"])):
            folders.add((entry["project_id"], *entry["path"][:depth]))
    cluster.admin("/admin/edit", edits, "POST")
    pages = {}
    for entry in tree:
        parent = (entry["project_id"], *entry["path"][:-1])
        if parent in folders:
            pages[parent] = pages.get(parent, 0) + 1
    return {"files": len(chosen),
            "bytes": sum(size + number for number in range(len(chosen))),
            "projects": len({entry["project_id"] for entry in chosen}),
            "pages": sum(-(-count // PAGE) for count in pages.values())}


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    with Cluster(BIN, FLAGS, log_level="info") as cluster:
        cluster.start(workers=1)
        wait_for("the worker is there", lambda: any(
            message["workers"] for message in cluster.cli_json("workers")))
        tree = cluster.admin("/admin/tree")["entries"]
        projects = len({entry["project_id"] for entry in tree})
        rows = [run_night(cluster, "first"), run_night(cluster, "clean")]
        change = change_files(cluster, tree, seed)
        rows.append(run_night(cluster, "1 % of the files changed"))
    print(f"### A night on `account` ({projects} projects), seed {seed}\n")
    print("| Run | Time | Project calls | Folder calls | Signed | Files | "
          "Bytes | Manifests |\n|---|---:|---:|---:|---:|---:|---:|---:|")
    for row in rows:
        calls = row["calls"]
        print(f"| {row['run']} | {row['seconds']:.1f} s | "
              f"{calls.get('projects', 0)} | {calls.get('folders', 0)} | "
              f"{calls.get('storage', 0)} | {row['stored']} | {row['bytes']} |"
              f" {row['manifests']} |")
    clean, changed = rows[1], rows[2]
    return report.finish("night", rows, [
        report.bar("clean: folder calls a project",
                   clean["calls"].get("folders", 0) / projects, "calls", "<=",
                   2),
        report.bar("clean: bytes fetched", clean["bytes"], "B", "<=", 0),
        report.bar("clean: manifests written", clean["manifests"], "", "<=",
                   0),
        report.bar("changed: folder calls beyond 2 a project and the changed "
                   "folders with their ancestors",
                   changed["calls"]["folders"] - 2 * projects
                   - change["pages"], "calls", "<=", 0),
        report.bar("changed: signed URLs for each changed file",
                   changed["calls"]["storage"] / change["files"], "calls",
                   "<=", 1),
        report.bar("changed: bytes fetched ÷ bytes changed",
                   changed["bytes"] / change["bytes"], "times", "<=", 1),
        report.bar("changed: manifests for each changed project",
                   changed["manifests"] / change["projects"], "", "<=", 1)])


if __name__ == "__main__":
    sys.exit(main())
