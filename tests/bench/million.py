"""A million files: the coordinator's CPU and memory, and a clean second run.

1,000,000 files of 0 to 100 bytes in 60,000 folders of 600 projects, limits
off. Crawl and plan are dry runs, each of a new coordinator. Then one backup
fetches everything, some find nothing, and as many find one project in a
hundred changed, each time other ones.
"""

import os
import statistics
import sys
import time

import report
from cluster import Cluster, wait_for
from memory import cpu_seconds, peak_mb

BIN = os.environ["BIMBACKUP_BIN"]
FILES = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
RUNS = int(sys.argv[2]) if len(sys.argv) > 2 else 3
PROJECTS = max(10, FILES * 600 // 1_000_000)
SHAPE = (f"custom:projects={PROJECTS},folders={FILES * 6 // 100},"
         f"files={FILES},bytes={FILES * 50},largest=100,kind=acc")
CHANGED = max(1, PROJECTS // 100)
CHANGED_SIZE = 77
PLAN = "crawl and plan (dry run)"


def run(cluster, name, *flags):
    cpu = cpu_seconds(cluster.coordinator)
    started = time.monotonic()
    code, backup = cluster.run_backup(*flags, seconds=3000)
    if code != 0:
        raise SystemExit(f"{name}: exit {code}: {backup}")
    progress = backup["progress"]
    row = {"run": name, "seconds": time.monotonic() - started,
           "cpu": cpu_seconds(cluster.coordinator) - cpu,
           "peak_mb": peak_mb(cluster.coordinator),
           "files": int(progress["files"]),
           "stored": int(progress["transfersStored"]),
           "bytes": int(progress["bytesStored"]),
           "manifests": int(progress["manifestsWritten"]),
           "calls": {key: int(value)
                     for key, value in progress["apiCalls"].items()}}
    print(f"{name}: {row}", file=sys.stderr)
    return row


def make_cluster():
    return Cluster(BIN, (f"--account={SHAPE}", "--limits=off"),
                   log_level="info")


def plan():
    with make_cluster() as cluster:
        cluster.start(workers=0)
        return run(cluster, PLAN, "--dry-run")


def change_projects(cluster, first_files, number):
    """A new version of a file in one project of a hundred."""
    chosen = [first_files[(number * CHANGED + i) % len(first_files)]
              for i in range(CHANGED)]
    cluster.admin("/admin/edit", [
        {"op": "change_file", "project": entry["project_id"][2:],
         "path": entry["path"], "size": CHANGED_SIZE} for entry in chosen],
        "POST")


def run_backups(cluster):
    """Rows of a plan, the first backup, clean ones and changed ones."""
    first = [run(cluster, PLAN, "--dry-run"), run(cluster, "first backup")]
    if first[1]["stored"] != FILES:
        raise SystemExit(f"{first[1]['stored']} files stored, not {FILES}")
    clean = [run(cluster, "clean") for _ in range(RUNS)]
    first_files = {}
    for entry in cluster.admin("/admin/tree")["entries"]:
        if entry["kind"] == "file":
            first_files.setdefault(entry["project_id"], entry)
    changed = []
    for number in range(RUNS):
        change_projects(cluster, list(first_files.values()), number)
        changed.append(run(cluster, "1 % of the projects changed"))
    return *first, clean, changed


def bars_of(rows, plans, clean, changed, worker_mb):
    def beyond(name, expected):
        return report.worst(row[name] - expected for row in changed)

    return [
        report.bar("crawl and plan, files a second of CPU",
                   statistics.median(row["files"] / row["cpu"]
                                     for row in plans),
                   "files/s", ">=", 40_000),
        report.bar("coordinator's peak", max(row["peak_mb"] for row in rows),
                   "MB", "<=", 256),
        report.bar("worker's peak", worker_mb, "MB", "<=", 192),
        report.bar("clean run, its API calls included",
                   statistics.median(row["seconds"] for row in clean), "s",
                   "<=", 5),
        report.bar("clean: files stored and manifests written",
                   max(row["stored"] + row["manifests"] for row in clean), "",
                   "<=", 0),
        report.bar("changed: files stored - files changed",
                   beyond("stored", CHANGED), "", "==", 0),
        report.bar("changed: bytes stored - bytes changed",
                   beyond("bytes", CHANGED * CHANGED_SIZE), "B", "==", 0),
        report.bar("changed: manifests written - projects changed",
                   beyond("manifests", CHANGED), "", "==", 0)]


def median_of(rows):
    """A row for the table."""
    return dict({key: statistics.median(row[key] for row in rows)
                 for key in ("seconds", "cpu", "stored", "manifests")},
                run=rows[0]["run"], runs=len(rows),
                peak_mb=max(row["peak_mb"] for row in rows),
                calls=statistics.median(sum(row["calls"].values())
                                        for row in rows))


def main():
    plans = [plan() for _ in range(RUNS - 1)]
    with make_cluster() as cluster:
        cluster.start(workers=1)
        wait_for("the worker is there", lambda: any(
            message["workers"] for message in cluster.cli_json("workers")))
        last_plan, first, clean, changed = run_backups(cluster)
        worker_mb = peak_mb(cluster.workers[0])
    plans.append(last_plan)
    print(f"### {FILES:,} files in {PROJECTS} projects, medians\n")
    print("| Run | Runs | Time | Coordinator's CPU | its peak | Files stored |"
          " Manifests | Calls |\n|---|---:|---:|---:|---:|---:|---:|---:|")
    for row in map(median_of, (plans, [first], clean, changed)):
        print(f"| {row['run']} | {row['runs']} | {row['seconds']:.1f} s | "
              f"{row['cpu']:.1f} s | {row['peak_mb']:.0f} MB | "
              f"{row['stored']:.0f} | {row['manifests']:g} | "
              f"{row['calls']:g} |")
    print(f"\nThe worker's peak was {worker_mb:.0f} MB.")
    rows = [*plans, first, *clean, *changed]
    return report.finish("million", rows,
                         bars_of(rows, plans, clean, changed, worker_mb))


if __name__ == "__main__":
    sys.exit(main())
