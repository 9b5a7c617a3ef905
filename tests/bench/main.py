"""One transfer at a time against the default, on accounts with latencies.

`demo` (136 files, 30 folders, 300 MB) and `large-project` (10,653 files, 973
folders, a hundredth of its bytes), with 150 ms to every answer of the API,
100 ms to the first byte of a file and 10 MB/s per connection. Autodesk's
rates hold for `demo`, and ten times as fast for `large-project`, which would
take ten minutes otherwise. Each run is a first backup onto a new storage; for
`demo` the two ways alternate, for `large-project` the time of one transfer
after the other is what its files take at best, computed.
"""

import os
import sys
import time

import report
from cluster import Cluster, wait_for
from rates import RATES, folder_pages

BIN = os.environ["BIMBACKUP_BIN"]
RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 3
API = 0.150
FIRST_BYTE = 0.100
BANDWIDTH = 10e6
ONE = "one at a time"
DEFAULT = "default"
WAYS = {ONE: ("--max_transfers=1",), DEFAULT: ()}


class Account:
    """An account of the emulator, and how many times as fast its clock is."""

    def __init__(self, shape, scale, *flags):
        self.shape = shape
        self.scale = scale
        # What the emulator divides, or multiplies, by its scale.
        self.flags = (
            f"--account={shape}", f"--time_scale={scale}",
            f"--api_latency={API * 1000 * scale:.0f}ms",
            f"--first_byte_latency={FIRST_BYTE * 1000 * scale:.0f}ms",
            f"--connection_bandwidth={BANDWIDTH / scale:.0f}B/s", *flags)


DEMO = Account("demo", 1)
LARGE = Account("large-project", 10, "--size_scale=0.01")


def makespan(account, tree):
    """The shortest time that latency, bandwidth, the largest file and the
    rates allow.

    No file can be asked for before its folder is listed (token, projects,
    top folders and one call for every level, each after the other) and it is
    signed; then its bytes come over one connection. The last call of a class
    waits for as many whole minutes as its rate needs for the others.
    """
    files = [entry for entry in tree if entry["kind"] == "file"]
    path = max(
        (3 + len(entry["path"]) - 1) * API + API + FIRST_BYTE
        + entry["size"] / BANDWIDTH for entry in files)
    calls = {"folders": folder_pages(tree), "storage": len(files)}
    waits = {name: (calls[name] - 1) // rate * 60 / account.scale
             for name, rate in RATES.items()}
    return max(path, 3 * API + waits["folders"] + API + FIRST_BYTE,
               4 * API + waits["storage"] + API + FIRST_BYTE)


def sequential(tree):
    """What one transfer after the other takes at best."""
    files = [entry for entry in tree if entry["kind"] == "file"]
    return sum(FIRST_BYTE + entry["size"] / BANDWIDTH for entry in files)


def run_once(account, worker_flags):
    with Cluster(BIN, account.flags, worker_flags=worker_flags,
                 api_budget=f"{100 * account.scale}%",
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


def measure(account, ways):
    times = {way: [] for way in ways}
    tree = []
    for number in range(RUNS):
        for way in ways:
            took, tree = run_once(account, WAYS[way])
            times[way].append(took)
            print(f"{account.shape}, run {number + 1}, {way}: {took:.2f} s",
                  file=sys.stderr)
    if ONE not in times:
        times = {ONE: [sequential(tree)], **times}
    return times, makespan(account, tree), sequential(tree)


def report_account(account, ways):
    times, shortest, one_by_one = measure(account, ways)
    means = {way: report.summary(values)[0] for way, values in times.items()}
    print(f"### First backup of `{account.shape}`: 150 ms API latency, 100 ms "
          "to the first byte, 10 MB/s per connection\n")
    print("| Way | Runs | Mean | Error | StdDev | Ratio |")
    print("|---|---:|---:|---:|---:|---:|")
    rows = []
    for way, values in times.items():
        mean, error, deviation = report.summary(values)
        ratio = means[ONE] / mean
        runs = len(values) if way in ways else "computed"
        print(f"| {way} | {runs} | {mean:.2f} s | {error:.2f} s | "
              f"{deviation:.2f} s | {ratio:.1f} x |")
        rows.append({"account": account.shape, "way": way, "seconds": values,
                     "mean": mean, "error": error, "stddev": deviation,
                     "ratio": ratio})
    print(f"\nError: half of the 95 % confidence interval. The makespan that "
          f"latency, bandwidth, the largest file and the rates allow is "
          f"{shortest:.2f} s; one transfer after the other takes "
          f"{one_by_one:.1f} s at best.\n")
    rows.append({"account": account.shape, "way": "makespan",
                 "seconds": [shortest], "mean": shortest})
    return rows, [
        report.bar(f"{account.shape}, default against one at a time",
                   means[ONE] / means[DEFAULT], "times", ">=", 12),
        report.bar(f"{account.shape}, default against the makespan",
                   means[DEFAULT] / shortest, "times", "<=", 1.15)]


def main():
    rows, bars = report_account(DEMO, (ONE, DEFAULT))
    more_rows, more_bars = report_account(LARGE, (DEFAULT,))
    return report.finish("main", rows + more_rows, bars + more_bars)


if __name__ == "__main__":
    sys.exit(main())
