"""First backups at Autodesk's published rates: how near the floor they come.

`account` and `large-project` with limits on, ten times as fast as in truth,
a hundredth of the bytes, 300 ms API latency before scaling, eight workers.
The floor of a tree is the longest of its folder pages at 300 a minute and its
signed URLs at 1,000 a minute. Every sliding minute is counted by the emulator,
which answers 429 to what is too much; the fullest one of the class that the
tree needs longest shows whether its rate is used.
"""

import os
import statistics
import sys
import threading
import time

import plot
import report
from cluster import Cluster, wait_for
from rates import RATES, folder_pages

BIN = os.environ["BIMBACKUP_BIN"]
RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 3
SHAPES = sys.argv[2].split(",") if len(sys.argv) > 2 else [
    "account", "large-project"]
SCALE = 10
WORKERS = 8
BEFORE_THE_END = ("BACKUP_STATE_CRAWLING", "BACKUP_STATE_TRANSFERRING")


def floor(tree):
    """Calls by class that the tree needs, and the seconds they take."""
    projects = {entry["project_id"] for entry in tree}
    files = sum(1 for entry in tree if entry["kind"] == "file")
    calls = {"folders": folder_pages(tree) + len(projects), "storage": files}
    return calls, max(60 / SCALE * calls[name] / RATES[name]
                      for name in RATES)


class Sampler(threading.Thread):
    """Samples how many files are stored until all are."""

    def __init__(self, cluster):
        super().__init__()
        self.cluster = cluster
        self.samples = []
        self.state = "unknown"
        self.ended = threading.Event()

    def run(self):
        started = time.monotonic()
        while not self.ended.is_set():
            backup = self.cluster.backup()
            now = time.monotonic() - started
            if backup is not None:
                progress = backup["progress"]
                self.samples.append((now, int(progress["transfersStored"])))
                self.state = backup["state"]
                if self.state not in BEFORE_THE_END:
                    return
            self.ended.wait(0.1)

    def seconds(self, limit):
        """How long it took until the last blob's commit."""
        self.join(limit)
        self.ended.set()
        if not self.samples or self.state in BEFORE_THE_END:
            raise SystemExit(f"not sampled to the end: {len(self.samples)} "
                             f"samples, the last in {self.state}")
        return self.samples[-1][0]


def busiest(endpoints):
    """(name, counts) of the limited endpoint with the most minutes' calls."""
    return max(((name, entry) for name, entry in endpoints.items()
                if entry["rate"]),
               key=lambda pair: pair[1]["requests"] / pair[1]["rate"])


def throughput(samples):
    """Files a minute of Autodesk's time, in steps of a minute."""
    points = []
    end = samples[-1][0] * SCALE / 60
    before = begin = 0
    while begin < end:
        until = min(begin + 1, end)
        count = max((n for t, n in samples if t * SCALE / 60 <= until),
                    default=0)
        rate = (count - before) / (until - begin)
        points += [(begin, rate), (until, rate)]
        before, begin = count, until
    return points


def run_once(shape):
    flags = (f"--account={shape}", f"--time_scale={SCALE}",
             "--size_scale=0.01", "--api_latency=300ms")
    with Cluster(BIN, flags, api_budget=f"{100 * SCALE}%",
                 log_level="info") as cluster:
        cluster.start(workers=WORKERS)
        wait_for("the workers are there", lambda: sum(
            len(message["workers"])
            for message in cluster.cli_json("workers")) == WORKERS)
        calls, shortest = floor(cluster.admin("/admin/tree")["entries"])
        sampler = Sampler(cluster)
        started = cluster.cli("backup")
        if started.returncode != 0:
            raise SystemExit(started.stderr)
        sampler.start()
        seconds = sampler.seconds(shortest * 3 + 60)
        code, backup = cluster.run_watch(seconds=300)
        stored = int(backup["progress"]["transfersStored"])
        if code != 0 or stored != calls["storage"]:
            raise SystemExit(f"{shape}: exit {code}, {stored} files stored")
        counts = cluster.admin("/admin/requests")
        endpoints = {name: entry for name, entry in
                     counts["endpoints"].items() if entry["requests"]}
        refused = sum(entry["refused"] for entry in endpoints.values())
        name, entry = busiest(endpoints)
        return {"shape": shape, "seconds": seconds,
                "floor": shortest, "calls": calls, "refused": refused,
                "busiest": name,
                "peak": entry["peak_per_minute"] / entry["rate"],
                "sustained": entry["requests"] / (
                    entry["rate"] * seconds * SCALE / 60),
                "endpoints": endpoints, "samples": sampler.samples}


def main():
    rows, bars = [], []
    print(f"### Autodesk's limits, {SCALE} times as fast\n")
    print("| Account | Folder pages | Files | Floor | Runs, ÷ floor | Median |"
          " Busiest | Fullest minute ÷ rate | Calls ÷ rate × time | 429s |\n"
          "|---|---:|---:|---:|---|---:|---|---:|---:|---:|")
    for shape in SHAPES:
        runs = []
        for number in range(RUNS):
            runs.append(run_once(shape))
            print(f"{shape}, run {number + 1}: {runs[-1]['seconds']:.1f} s",
                  file=sys.stderr)
        ratios = [run["seconds"] / run["floor"] for run in runs]
        median = statistics.median(ratios)
        refused = sum(run["refused"] for run in runs)
        peak = statistics.median(run["peak"] for run in runs)
        sustained = statistics.median(run["sustained"] for run in runs)
        print(f"| {shape} | {runs[0]['calls']['folders']} | "
              f"{runs[0]['calls']['storage']} | {runs[0]['floor']:.0f} s "
              f"({runs[0]['floor'] * SCALE / 60:.1f} min) | "
              f"{', '.join(f'{ratio:.3f}' for ratio in ratios)} | "
              f"{median:.3f} | {runs[-1]['busiest']} | {peak:.3f} | "
              f"{sustained:.3f} | {refused} |")
        plot.lines(f"build/bench/limits-{shape}.svg",
                   f"First backup of {shape} at Autodesk's rates",
                   "minutes of Autodesk's time", "files a minute",
                   {"stored": throughput(runs[-1]["samples"]),
                    "rate of signing": [
                        (0, RATES["storage"]),
                        (runs[-1]["seconds"] * SCALE / 60,
                         RATES["storage"])]})
        rows += [{key: value for key, value in run.items()
                  if key != "samples"} for run in runs]
        bars += [report.bar(f"{shape}, time ÷ floor", median, "times", "<=",
                            1.05),
                 report.bar(f"{shape}, fullest sliding minute of the busiest "
                            "class ÷ its rate", peak, "times", ">=", 0.98),
                 report.bar(f"{shape}, 429s", refused, "answers", "<=", 0)]
    return report.finish("limits", rows, bars)


if __name__ == "__main__":
    sys.exit(main())
