"""What a night costs: nothing changed, then one file in a hundred.

The `account` shape at a thousandth of its bytes, limits off, one worker. After
the first backup come clean nights and then nights with changes, each of other
files, without a recheck; and a clean one with the default recheck.
"""

import os
import random
import statistics
import sys
import time

import report
from cluster import Cluster, wait_for
from rates import PAGE

BIN = os.environ["BIMBACKUP_BIN"]
RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 3
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
SHAPE = sys.argv[3] if len(sys.argv) > 3 else "account"
FLAGS = (f"--account={SHAPE}", "--size_scale=0.001", "--limits=off")
NO_RECHECK = {"BIMBACKUP_RECHECK_BUDGET": "0"}


def calls_of(backup):
    return {name: int(count)
            for name, count in backup["progress"]["apiCalls"].items()}


def run_night(cluster, name):
    started = time.monotonic()
    code, backup = cluster.run_backup(seconds=900)
    if code != 0:
        raise SystemExit(f"{name}: exit {code}: {backup}")
    progress = backup["progress"]
    row = {"run": name, "seconds": time.monotonic() - started,
           "calls": calls_of(backup),
           "listed": int(progress["foldersListed"]),
           "stored": int(progress["transfersStored"]),
           "bytes": int(progress["bytesStored"]),
           "manifests": int(progress["manifestsWritten"])}
    print(f"{name}: {row}", file=sys.stderr)
    return row


def files_of(tree):
    return [entry for entry in tree if entry["kind"] == "file"]


def change_files(cluster, tree, seed):
    """A new version of one file in a hundred; what that must cost."""
    files = files_of(tree)
    chosen = random.Random(seed).sample(files, max(1, len(files) // 100))
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


def run_nights(cluster, tree):
    """Rows of the first backup, clean nights, changed ones with what changed,
    and one with the default recheck."""
    first = run_night(cluster, "first")
    if first["stored"] != len(files_of(tree)):
        raise SystemExit(f"first: {first['stored']} files stored, not "
                         f"{len(files_of(tree))}")
    clean = [run_night(cluster, "clean") for _ in range(RUNS)]
    changed = []
    for number in range(RUNS):
        change = change_files(cluster, tree, SEED + number)
        changed.append(dict(run_night(cluster, "1 % of the files changed"),
                            change=change))
    cluster.coordinator.terminate()
    cluster.start_coordinator()
    return first, clean, changed, run_night(cluster,
                                            "clean, default recheck")


def calls_beyond(row, projects):
    """Folder calls beyond two a project and one a page that must be seen."""
    return row["calls"]["folders"] - 2 * projects - row["change"]["pages"]


def bars_of(clean, changed, projects):
    def most(rows, name):
        return max(row[name] for row in rows)

    def beyond(name, changed_name):
        return report.worst(row[name] - row["change"][changed_name]
                            for row in changed)

    return [
        report.bar("clean: folder calls a project",
                   max(row["calls"].get("folders", 0) for row in clean)
                   / projects, "calls", "<=", 2),
        report.bar("clean: files stored", most(clean, "stored"), "", "<=", 0),
        report.bar("clean: bytes fetched", most(clean, "bytes"), "B", "<=", 0),
        report.bar("clean: manifests written", most(clean, "manifests"), "",
                   "<=", 0),
        report.bar("changed: folder calls beyond 2 a project and the changed "
                   "folders with their ancestors",
                   max(calls_beyond(row, projects) for row in changed),
                   "calls", "<=", 0),
        report.bar("changed: signing calls beyond one for each changed file "
                   "and the batch that is tried",
                   max(row["calls"].get("storage", 0) - row["change"]["files"]
                       for row in changed) - 1, "calls", "<=", 0),
        report.bar("changed: files stored - files changed",
                   beyond("stored", "files"), "", "==", 0),
        report.bar("changed: bytes stored - bytes changed",
                   beyond("bytes", "bytes"), "B", "==", 0),
        report.bar("changed: manifests written - projects changed",
                   beyond("manifests", "projects"), "", "==", 0)]


def median_of(rows):
    """A row for the table: medians, and calls as they were most often."""
    names = {name for row in rows for name in row["calls"]}
    return dict(
        {key: statistics.median(row[key] for row in rows)
         for key in ("seconds", "stored", "bytes", "manifests")},
        run=rows[0]["run"], runs=len(rows),
        calls={name: statistics.median(row["calls"].get(name, 0)
                                       for row in rows) for name in names})


def main():
    with Cluster(BIN, FLAGS, recheck_budget=None,
                 log_level="info") as cluster:
        cluster.start_coordinator(NO_RECHECK)
        cluster.add_worker()
        wait_for("the worker is there", lambda: any(
            message["workers"] for message in cluster.cli_json("workers")))
        tree = cluster.admin("/admin/tree")["entries"]
        projects = len({entry["project_id"] for entry in tree})
        first, clean, changed, recheck = run_nights(cluster, tree)
    print(f"### A night on `{SHAPE}` ({projects} projects), medians, seed "
          f"{SEED}\n")
    print("| Night | Runs | Time | Project calls | Folder calls | Signed | "
          "Files | Bytes | Manifests |\n"
          "|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for row in map(median_of, ([first], clean, changed, [recheck])):
        calls = row["calls"]
        print(f"| {row['run']} | {row['runs']} | {row['seconds']:.1f} s | "
              f"{calls.get('projects', 0):g} | {calls.get('folders', 0):g} | "
              f"{calls.get('storage', 0):g} | {row['stored']:.0f} | "
              f"{row['bytes']:.0f} | {row['manifests']:g} |")
    return report.finish("night", [first, *clean, *changed, recheck],
                         bars_of(clean, changed, projects))


if __name__ == "__main__":
    sys.exit(main())
