"""Workers are added: what that brings, and what the coordinator bears.

1, 2, 4 and 8 workers, each capped at 8 MB/s, fetch 2 GB in 800 files. Then 32
stub workers report 40,000 files as stored at once, with the coordinator on
one core. So many files a second can only be signed in batches, which are on
for that part.
"""

import hashlib
import json
import os
import statistics
import subprocess
import sys
import time

import plot
import report
from children import with_parent
from cluster import Cluster, wait_for
from memory import cpu_seconds

BIN = os.environ["BIMBACKUP_BIN"]
STUBS = os.path.join(BIN, "bimbackup-stub-workers")
RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 3
WORKERS = (1, 2, 4, 8)
CAP = 8_000_000
FILES, BYTES = 800, 2_000_000_000
STUB_COUNT, STUB_FILES = 32, 40_000
EMPTY = hashlib.sha256(b"").hexdigest()


def await_workers(cluster, count):
    wait_for("the workers are there", lambda: sum(
        len(message["workers"])
        for message in cluster.cli_json("workers")) == count)


def run_capped(count):
    shape = (f"custom:projects=2,folders=40,files={FILES},bytes={BYTES},"
             "largest=10000000,sparse=true,kind=acc")
    with Cluster(BIN, (f"--account={shape}", "--limits=off"),
                 worker_flags=(f"--max_bandwidth={CAP}",),
                 log_level="info") as cluster:
        cluster.start(workers=count)
        await_workers(cluster, count)
        started = time.monotonic()
        code, backup = cluster.run_backup(seconds=900)
        took = time.monotonic() - started
        stored = int(backup["progress"]["bytesStored"])
        if code != 0:
            raise SystemExit(f"{count} workers: exit {code}: {backup}")
        return took, stored


def run_stubs():
    shape = (f"custom:projects=20,folders=2000,files={STUB_FILES},bytes=0,"
             "largest=0,kind=acc")
    with Cluster(BIN, (f"--account={shape}", "--limits=off",
                       "--batch_sign=on"),
                 coordinator_prefix=("taskset", "-c", "0"),
                 log_level="info") as cluster:
        cluster.start(workers=0)
        marker = json.loads((cluster.storage / "bimbackup.json").read_text())
        blob = cluster.storage / "blobs/sha256" / EMPTY[:3] / EMPTY
        blob.write_bytes(b"")
        stubs = subprocess.Popen(
            with_parent(STUBS, cluster.coordinator_address,
                        marker["storage_id"], str(STUB_COUNT), EMPTY, "300"),
            stdout=subprocess.PIPE, text=True)
        await_workers(cluster, STUB_COUNT)
        cpu = cpu_seconds(cluster.coordinator)
        code, backup = cluster.run_backup(seconds=300)
        cpu = cpu_seconds(cluster.coordinator) - cpu
        out, _ = stubs.communicate(timeout=60)
        if code != 0 or stubs.returncode != 0:
            raise SystemExit(f"stubs: exit {code}: {backup}")
        return dict(json.loads(out), cpu=cpu)


def main():
    times = {count: [] for count in WORKERS}
    for number in range(RUNS):
        for count in WORKERS:
            took, stored = run_capped(count)
            times[count].append(took)
            print(f"run {number + 1}, {count} workers: {took:.1f} s, "
                  f"{stored} bytes", file=sys.stderr)
    stubs = [run_stubs() for _ in range(RUNS)]
    medians = {count: statistics.median(values)
               for count, values in times.items()}
    print(f"### {BYTES / 1e9:g} GB in {FILES} files, workers capped at "
          f"{CAP / 1e6:g} MB/s\n")
    print("| Workers | Runs | Median | MB/s | Speed-up |\n|---:|---|---:|---:|"
          "---:|")
    for count, values in times.items():
        print(f"| {count} | {', '.join(f'{v:.1f}' for v in values)} s | "
              f"{medians[count]:.1f} s | {BYTES / 1e6 / medians[count]:.1f} | "
              f"{medians[1] / medians[count]:.2f} x |")
    rate = statistics.median(run["results"] / run["seconds"] for run in stubs)
    p99 = statistics.median(run["p99"] for run in stubs)
    print(f"\n{STUB_COUNT} stub workers, {STUB_FILES} files, the coordinator "
          f"on one core: {rate:.0f} results/s, {stubs[-1]['cpu']:.1f} s of "
          f"its CPU; Synchronize p50 "
          f"{stubs[-1]['p50'] * 1000:.1f} ms, p99 {p99 * 1000:.1f} ms.")
    plot.lines("build/bench/scale.svg", "Throughput over workers", "workers",
               "MB/s", {"measured": [(count, BYTES / 1e6 / medians[count])
                                     for count in WORKERS],
                        "cap": [(count, count * CAP / 1e6)
                                for count in WORKERS]})
    rows = [{"workers": count, "seconds": values}
            for count, values in times.items()] + stubs
    return report.finish("scale", rows, [
        report.bar("8 workers against one", medians[1] / medians[8], "times",
                   ">=", 7.4),
        report.bar("results committed with the coordinator on one core", rate,
                   "results/s", ">=", 5000),
        report.bar("Synchronize, p99", p99 * 1000, "ms", "<=", 100)])


if __name__ == "__main__":
    sys.exit(main())
