"""Memory and CPU: coordinator and worker stay within their bounds.

On `account` (170 projects, 11,737 folders, 40,230 files) at a thousandth of
its bytes with limits off, and, for the worker, on 64 files of 256 MB.
"""

import os
import re
import sys
import time

import report
from cluster import Cluster, wait_for

BIN = os.environ["BIMBACKUP_BIN"]
ACCOUNT = ("--account=account", "--size_scale=0.001", "--limits=off")
BIG_FILES = ("--account=custom:projects=1,folders=8,files=64,"
             f"bytes={64 * 256_000_000},largest=256000000,sparse=true",
             "--limits=off")
TICK = os.sysconf("SC_CLK_TCK")


def peak_mb(process):
    """Peak resident memory so far, in MB."""
    with open(f"/proc/{process.pid()}/status", encoding="utf-8") as status:
        kib = re.search(r"VmHWM:\s+(\d+) kB", status.read()).group(1)
    return int(kib) * 1024 / 1e6


def cpu_seconds(process):
    """User and system time so far."""
    with open(f"/proc/{process.pid()}/stat", encoding="utf-8") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def measure(name, emulator_flags, workers, *backup_flags):
    """One backup; what it took of time, CPU and memory."""
    with Cluster(BIN, emulator_flags, log_level="info") as cluster:
        cluster.start(workers=workers)
        if workers:
            wait_for("the worker is there", lambda: any(
                message["workers"] for message in cluster.cli_json("workers")))
        cpu = cpu_seconds(cluster.coordinator)
        started = time.monotonic()
        code, backup = cluster.run_backup(*backup_flags, seconds=1200)
        if code != 0:
            raise SystemExit(f"{name}: exit {code}: {backup}")
        progress = backup["progress"]
        row = {"run": name, "seconds": time.monotonic() - started,
               "folders_listed": int(progress["foldersListed"]),
               "files_stored": int(progress["transfersStored"]),
               "bytes_stored": int(progress["bytesStored"]),
               "coordinator_mb": peak_mb(cluster.coordinator),
               "coordinator_cpu": cpu_seconds(cluster.coordinator) - cpu}
        if workers:
            row["worker_mb"] = peak_mb(cluster.workers[0])
            row["worker_cpu"] = cpu_seconds(cluster.workers[0])
        return row


def main():
    crawl = measure("account, dry run", ACCOUNT, 0, "--dry-run")
    account = measure("account", ACCOUNT, 1)
    big = measure("64 files of 256 MB", BIG_FILES, 1)
    rows = [crawl, account, big]
    print("### Memory and CPU\n")
    print("| Run | Time | Folders | Files | Coordinator | its CPU | Worker | "
          "its CPU |\n|---|---:|---:|---:|---:|---:|---:|---:|")
    for row in rows:
        worker = (f"{row['worker_mb']:.0f} MB | {row['worker_cpu']:.1f} s"
                  if "worker_mb" in row else "- | -")
        print(f"| {row['run']} | {row['seconds']:.1f} s | "
              f"{row['folders_listed']} | {row['files_stored']} | "
              f"{row['coordinator_mb']:.0f} MB | "
              f"{row['coordinator_cpu']:.1f} s | {worker} |")
    return report.finish("memory", rows, [
        report.bar("coordinator, peak on account", max(
            crawl["coordinator_mb"], account["coordinator_mb"]), "MB", "<=",
            128),
        report.bar("coordinator, CPU of the crawl", crawl["coordinator_cpu"],
                   "s", "<=", 6),
        report.bar("worker, peak on account", account["worker_mb"], "MB",
                   "<=", 192),
        report.bar("worker, peak on big files", big["worker_mb"], "MB", "<=",
                   192)])


if __name__ == "__main__":
    sys.exit(main())
