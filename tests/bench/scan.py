"""Line readers and their gRPC stream, each as a multiple of GNU wc -l.

Every figure is the median, over interleaved runs, of a time divided by that
of `wc -l` on the same file in the same run.
"""

import argparse
import collections
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

import report

GIB = 1 << 30
# Case, bar, and what it is called in the report.
BARS = (
    ("count, blocking", 1.0, "count, one thread, read"),
    ("count, io_uring", 0.85, "count, one thread, io_uring"),
    ("count, mmap", 0.7, "count, one thread, mmap"),
    ("count, parallel", 0.65, "count, two threads"),
    ("view, io_uring", 1.25, "view every line, one thread, io_uring"),
    ("view, parallel", 0.9, "view every line, two threads"),
    ("keep, blocking", 2.6, "keep 10,000 lines, owned copies"),
    ("keep views, blocking", 1.5, "keep 10,000 lines, views"),
    ("stream, lengths counted", 5.0, "stream over gRPC, 256 KB batches"),
)
STREAM_CPU_BAR = 1.1
LESSON = (
    ("async, 1 KB", "blocking, 1 KB"),
    ("async, 10 MB", "blocking, 10 MB"),
    ("async, 1 KB", "async, 10 MB"),
    ("ReadLines, one line a message", "ReadLines, 256 KB a message"),
)


def measure(folder, binaries, runs):
    """All measurements, as a list of objects."""
    bench = binaries / "bimbackup-scan-bench"
    if not bench.exists():
        sys.exit(f"{bench} is missing: configure with "
                 "-DBIMBACKUP_BUILD_TESTS=ON, and build")
    done = subprocess.run(
        [bench, f"--folder={folder}", f"--runs={runs}",
         f"--server={binaries / 'bimbackup-file-scan'}"],
        stdout=subprocess.PIPE, text=True, timeout=3000, check=False)
    if done.returncode != 0:
        sys.exit("bimbackup-scan-bench failed")
    return [json.loads(line) for line in done.stdout.splitlines()]


def summarise(samples):
    """One row a case: medians, and the median ratio to wc in the same run."""
    wc = {s["run"]: s["seconds"] / s["bytes"] for s in samples
          if s["group"] == "wc"}
    cases = collections.defaultdict(list)
    for sample in samples:
        cases[sample["name"]].append(sample)
    rows = {}
    for name, runs in cases.items():
        seconds = statistics.median(s["seconds"] for s in runs)
        size = runs[0]["bytes"]
        rows[name] = {
            "name": name, "group": runs[0]["group"], "bytes": size,
            "runs": len(runs), "median_seconds": round(seconds, 5),
            "gb_per_second": round(size / seconds / 1e9, 3),
            "ratio_to_wc": round(statistics.median(
                s["seconds"] / s["bytes"] / wc[s["run"]] for s in runs), 3),
            "cpu_seconds_per_gib": round(statistics.median(
                s["cpu_seconds"] for s in runs) * GIB / size, 3)}
    return rows


def print_rows(title, rows):
    print(f"\n{title}\n\n| | median | GB/s | ÷ wc -l | CPU s/GiB |\n"
          "|---|---:|---:|---:|---:|")
    for row in rows:
        print(f"| {row['name']} | {row['median_seconds']:.3f} s | "
              f"{row['gb_per_second']:.2f} | {row['ratio_to_wc']:.2f} | "
              f"{row['cpu_seconds_per_gib']:.2f} |")


def print_lesson(rows):
    print("\nWhat awaiting costs, a byte:\n\n| | times |\n|---|---:|")
    for slow, fast in LESSON:
        factor = rows[fast]["gb_per_second"] / rows[slow]["gb_per_second"]
        print(f"| {slow} ÷ {fast} | {factor:.1f} |")
    print("\nAn idle machine shows it worst: a sleeping core has to wake for "
          "every refill.")


def peers(folder):
    """Other programs on the same file; what is not installed is left out."""
    path = str(folder / "scan-large.txt")
    python = ("import sys\nn = 0\nfor line in open(sys.argv[1], 'rb'): n += 1")
    commands = {"wc -l": ["wc", "-l", path],
                "rg -c": ["rg", "-c", "", path],
                "mawk": ["mawk", "END { print NR }", path],
                "python3": ["python3", "-c", python, path]}
    source = pathlib.Path(__file__).parent / "scan" / "ReadLines.cs"
    if shutil.which("mono") and shutil.which("mcs"):
        program = str(folder / "ReadLines.exe")
        subprocess.run(["mcs", f"-out:{program}", str(source)], check=True)
        for mode in ("blocking", "async-1KB", "async-10MB"):
            commands[f"mono {mode}"] = ["mono", program, mode, path]
    rows = []
    for name, command in commands.items():
        if shutil.which(command[0]) is None:
            print(f"left out: {command[0]} is not installed", file=sys.stderr)
            continue
        started = time.monotonic()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        seconds = time.monotonic() - started
        rows.append({"name": name, "group": "peer", "seconds": seconds,
                     "gb_per_second": round(
                         os.path.getsize(path) / seconds / 1e9, 3)})
    print("\nOther programs, one run each:\n\n| | s | GB/s |\n|---|---:|---:|")
    for row in rows:
        print(f"| {row['name']} | {row['seconds']:.2f} | "
              f"{row['gb_per_second']:.2f} |")
    return rows


def bars_of(rows):
    bars = [report.bar(name, rows[case]["ratio_to_wc"], "x wc -l", "<=", limit)
            for case, limit, name in BARS if case in rows]
    stream = rows["stream, lengths counted"]
    bars.append(report.bar("stream over gRPC, both ends",
                           stream["cpu_seconds_per_gib"], "CPU s/GiB", "<=",
                           STREAM_CPU_BAR))
    return bars


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--peers", action="store_true")
    arguments = parser.parse_args()
    folder = pathlib.Path("build/bench").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    binaries = pathlib.Path(
        os.environ.get("BIMBACKUP_BIN", "build/release/bin")).resolve()
    rows = summarise(measure(folder, binaries, arguments.runs))
    wc = rows["wc -l"]
    print(f"1 GiB in lines of 80 bytes, warm; `wc -l` {wc['gb_per_second']} "
          f"GB/s; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print_rows("Readers and stream", [r for r in rows.values()
                                      if r["group"] != "lesson"])
    print_rows("100 MiB, lines kept in a list", [r for r in rows.values()
                                                 if r["group"] == "lesson"])
    print_lesson(rows)
    more = peers(folder) if arguments.peers else []
    return report.finish("scan", list(rows.values()) + more, bars_of(rows))


if __name__ == "__main__":
    sys.exit(main())
