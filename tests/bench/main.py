"""One transfer at a time against the default, on an account with latencies.

The `demo` account (136 files, 30 folders, 300 MB) with 150 ms to every answer
of the API, 100 ms to the first byte of a file and 10 MB/s per connection.
Each run is a first backup onto a new storage; the two ways alternate.
"""

import os
import sys
import time

import report
from cluster import Cluster, wait_for

BIN = os.environ["BIMBACKUP_BIN"]
RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 3
API = 0.150
FIRST_BYTE = 0.100
BANDWIDTH = 10e6
EMULATOR = ("--account=demo", f"--api_latency={API * 1000:.0f}ms",
            f"--first_byte_latency={FIRST_BYTE * 1000:.0f}ms",
            f"--connection_bandwidth={BANDWIDTH:.0f}B/s")
WAYS = {"one at a time": ("--max_transfers=1",), "default": ()}


def makespan(tree):
    """The shortest time that latency, bandwidth and the largest file allow.

    No file can be asked for before its folder is listed (token, projects,
    top folders and one call for every level, each after the other) and it is
    signed; then its bytes come over one connection.
    """
    files = [entry for entry in tree if entry["kind"] == "file"]
    return max(
        (3 + len(entry["path"]) - 1) * API + API + FIRST_BYTE
        + entry["size"] / BANDWIDTH for entry in files)


def sequential(tree):
    """What one transfer after the other takes at best."""
    files = [entry for entry in tree if entry["kind"] == "file"]
    return sum(FIRST_BYTE + entry["size"] / BANDWIDTH for entry in files)


def run_once(worker_flags):
    with Cluster(BIN, EMULATOR, worker_flags=worker_flags, api_budget="100%",
                 log_level="info") as cluster:
        cluster.start(workers=1)
        wait_for("the worker is there", lambda: any(
            message["workers"] for message in cluster.cli_json("workers")))
        tree = cluster.admin("/admin/tree")["entries"]
        started = time.monotonic()
        code, backup = cluster.run_backup(seconds=600)
        took = time.monotonic() - started
        stored = int(backup["progress"]["transfersStored"])
        files = sum(1 for entry in tree if entry["kind"] == "file")
        if code != 0 or stored != files:
            raise SystemExit(f"exit {code}, {stored} of {files} files stored")
        return took, tree


def main():
    times = {way: [] for way in WAYS}
    tree = []
    for number in range(RUNS):
        for way, flags in WAYS.items():
            took, tree = run_once(flags)
            times[way].append(took)
            print(f"run {number + 1}, {way}: {took:.2f} s", file=sys.stderr)
    shortest = makespan(tree)
    means = {way: report.summary(values)[0] for way, values in times.items()}
    print("### First backup of `demo`: 150 ms API latency, 100 ms to the first"
          " byte, 10 MB/s per connection\n")
    print("| Way | Runs | Mean | Error | StdDev | Ratio |")
    print("|---|---:|---:|---:|---:|---:|")
    rows = []
    for way, values in times.items():
        mean, error, deviation = report.summary(values)
        ratio = means["one at a time"] / mean
        print(f"| {way} | {len(values)} | {mean:.2f} s | {error:.2f} s | "
              f"{deviation:.2f} s | {ratio:.1f} x |")
        rows.append({"way": way, "seconds": values, "mean": mean,
                     "error": error, "stddev": deviation, "ratio": ratio})
    print(f"\nError: half of the 95 % confidence interval. The makespan that "
          f"latency, bandwidth and the largest file allow is {shortest:.2f} s;"
          f" one transfer after the other takes {sequential(tree):.1f} s at "
          f"best.")
    rows.append({"way": "makespan", "seconds": [shortest], "mean": shortest})
    return report.finish("main", rows, [
        report.bar("default against one at a time",
                   means["one at a time"] / means["default"], "times", ">=",
                   8),
        report.bar("default against the makespan",
                   means["default"] / shortest, "times", "<=", 1.25)])


if __name__ == "__main__":
    sys.exit(main())
