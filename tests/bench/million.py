"""A million files: the coordinator's CPU and memory, and a clean second run.

1,000,000 files of 0 to 100 bytes in 60,000 folders of 600 projects, limits
off. Crawl and plan are a dry run; then a backup fetches everything, and three
more find nothing, nothing, and one project in a hundred changed.
"""

import os
import sys
import time

import report
from cluster import Cluster, wait_for
from memory import cpu_seconds, peak_mb

BIN = os.environ["BIMBACKUP_BIN"]
FILES = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
PROJECTS = max(10, FILES * 600 // 1_000_000)
SHAPE = (f"custom:projects={PROJECTS},folders={FILES * 6 // 100},"
         f"files={FILES},bytes={FILES * 50},largest=100,kind=acc")
CHANGED = max(1, PROJECTS // 100)


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
           "manifests": int(progress["manifestsWritten"]),
           "calls": {key: int(value)
                     for key, value in progress["apiCalls"].items()}}
    print(f"{name}: {row}", file=sys.stderr)
    return row


def main():
    with Cluster(BIN, (f"--account={SHAPE}", "--limits=off"),
                 log_level="info") as cluster:
        cluster.start(workers=1)
        wait_for("the worker is there", lambda: any(
            message["workers"] for message in cluster.cli_json("workers")))
        rows = [run(cluster, "crawl and plan (dry run)", "--dry-run"),
                run(cluster, "first backup"), run(cluster, "clean")]
        tree = cluster.admin("/admin/tree")["entries"]
        first_files = {}
        for entry in tree:
            if entry["kind"] == "file":
                first_files.setdefault(entry["project_id"], entry)
        chosen = list(first_files.values())[:CHANGED]
        cluster.admin("/admin/edit", [
            {"op": "change_file", "project": entry["project_id"][2:],
             "path": entry["path"], "size": 77} for entry in chosen], "POST")
        rows.append(run(cluster, "1 % of the projects changed"))
        worker_mb = peak_mb(cluster.workers[0])
    plan, _, clean, changed = rows
    print(f"### {FILES:,} files in {PROJECTS} projects\n")
    print("| Run | Time | Coordinator's CPU | its peak | Files stored | "
          "Manifests | Calls |\n|---|---:|---:|---:|---:|---:|---:|")
    for row in rows:
        print(f"| {row['run']} | {row['seconds']:.1f} s | {row['cpu']:.1f} s |"
              f" {row['peak_mb']:.0f} MB | {row['stored']} | "
              f"{row['manifests']} | {sum(row['calls'].values())} |")
    print(f"\nThe worker's peak was {worker_mb:.0f} MB.")
    return report.finish("million", rows, [
        report.bar("crawl and plan, files a second of CPU",
                   plan["files"] / plan["cpu"], "files/s", ">=", 40_000),
        report.bar("coordinator's peak", max(row["peak_mb"] for row in rows),
                   "MB", "<=", 256),
        report.bar("worker's peak", worker_mb, "MB", "<=", 192),
        report.bar("clean second run, its API calls included",
                   clean["seconds"], "s", "<=", 5),
        report.bar("manifests written with 1 % changed",
                   changed["manifests"], "", "<=", CHANGED)])


if __name__ == "__main__":
    sys.exit(main())
