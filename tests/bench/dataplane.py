"""The worker's data path against aria2c, curl --parallel and rclone.

The same nginx on loopback serves 20,000 files of 10 KB, 2,000 of 1 MB and 8 of
1 GiB; every contender fetches all of them into an empty folder on the same
file system, and its time ends with `sync -f` on that folder. The engine is
the worker's with its storage, durability included; with "sizes" it compares
sizes only, as the others do, with "digests" SHA-256 and SHA-1 as well. The
runs of the contenders alternate. What a run has stored is emptied, and removed
only after the last: ext4 without a journal passes over each inode that was
freed in the last minute, one by one, for every file that it makes, so that a
removal would cost the next run several times what it measures.
"""

import contextlib
import hashlib
import json
import os
import pathlib
import random
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import report
from children import end_on_sigterm, with_parent

BIN = pathlib.Path(os.environ["BIMBACKUP_BIN"])
RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 7
KINDS = {"10 KB": (20_000, 10_000), "1 MB": (2_000, 1_000_000),
         "1 GiB": (8, 1 << 30)}
if len(sys.argv) > 2:
    KINDS = {name: KINDS[name] for name in sys.argv[2].split(",")}
PARALLEL = 32
# A GiB a file is large enough that more than the files' number at once would
# help only with several connections for each, which curl does not have.
NGINX = """
worker_processes 1;
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 1000000;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port};
    root {root};
    autoindex on;
  }}
}}
"""


class Origin:
    """The files and the nginx that serves them."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.root = self.folder / "www"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.digests = {}

    def make(self, kind):
        """Writes the files of a kind; returns their names and sizes."""
        count, size = KINDS[kind]
        target = self.root / kind.replace(" ", "")
        target.mkdir(parents=True)
        block = random.Random(1).randbytes(min(size, 1 << 20))
        names = []
        for number in range(count):
            name = f"{number:06d}.bin"
            with open(target / name, "wb") as file:
                digest = hashlib.sha1()
                head = number.to_bytes(8, "big")
                written = 0
                while written < size:
                    piece = (head + block)[:size - written]
                    file.write(piece)
                    digest.update(piece)
                    written += len(piece)
            self.digests[(kind, name)] = digest.hexdigest()
            names.append(name)
        return names

    def url(self, kind, name=""):
        return (f"http://127.0.0.1:{self.port}/{kind.replace(' ', '')}/"
                f"{name}")

    @contextlib.contextmanager
    def serving(self):
        config = self.folder / "nginx.conf"
        config.write_text(NGINX.format(folder=self.folder, port=self.port,
                                       root=self.root))
        # Killed, it would leave its worker process behind.
        server = subprocess.Popen(with_parent(
            "nginx", "-c", config, "-e", self.folder / "error.log",
            sent="TERM"))
        try:
            for _ in range(500):
                with contextlib.suppress(OSError):
                    socket.create_connection(("127.0.0.1", self.port),
                                             1).close()
                    break
                time.sleep(0.02)
            yield
        finally:
            server.terminate()
            server.wait(10)


def engine(digests):
    def command(origin, kind, names, target):
        listing = origin.folder / f"{kind}-{digests}.list"
        size = KINDS[kind][1]
        listing.write_text("".join(
            f"{origin.url(kind, name)} {size} "
            f"{origin.digests[(kind, name)] if digests == 'digests' else '-'}"
            f"\n" for name in names))
        return [BIN / "bimbackup-dataplane-bench", listing, target, digests,
                str(PARALLEL)]
    return command


def aria2(origin, kind, names, target):
    listing = origin.folder / f"{kind}.aria2"
    listing.write_text("".join(f"{origin.url(kind, name)}\n"
                               for name in names))
    return ["aria2c", "-q", "--no-conf", "--file-allocation=none",
            f"-j{PARALLEL}", "-x4", "-s4", "-d", target, "-i", listing]


def curl(origin, kind, names, target):
    listing = origin.folder / f"{kind}.curl"
    listing.write_text("".join(
        f'url = "{origin.url(kind, name)}"\noutput = "{target}/{name}"\n'
        for name in names))
    return ["curl", "-s", "--fail", "--parallel", "--parallel-max",
            str(PARALLEL), "-K", listing]


def rclone(origin, kind, names, target):
    listing = origin.folder / f"{kind}.rclone"
    listing.write_text("".join(f"{name}\n" for name in names))
    return ["rclone", "copy", "--config", "/dev/null", "--http-url",
            origin.url(kind), ":http:", target, "--files-from-raw", listing,
            "--transfers", str(PARALLEL), "--no-traverse", "--no-check-dest",
            "--multi-thread-streams", "4", "-q"]


CONTENDERS = {"engine, sizes": engine("sizes"),
              "engine, digests": engine("digests"), "curl": curl,
              "rclone": rclone, "aria2c": aria2}


def stored(folder):
    """Files and bytes of more than a hundred bytes beneath the folder."""
    files = bytes_ = 0
    for path, _, names in os.walk(folder):
        for name in names:
            size = os.stat(os.path.join(path, name)).st_size
            if size > 100:
                files += 1
                bytes_ += size
    return files, bytes_


def make_empty(folder):
    """Gives the blocks of the files beneath the folder back, not the inodes."""
    for path, _, names in os.walk(folder):
        for name in names:
            os.truncate(os.path.join(path, name), 0)


def run_once(origin, kind, names, contender):
    target = pathlib.Path(tempfile.mkdtemp(prefix="target-",
                                           dir=origin.folder))
    try:
        command = CONTENDERS[contender](origin, kind, names, target)
        if contender.startswith("engine"):
            # The storage's folders stand, as on every night but the first.
            empty = origin.folder / "empty.list"
            empty.write_text("")
            subprocess.run([command[0], empty, target, "sizes", "1"],
                           check=True, stdout=subprocess.DEVNULL)
        os.sync()
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        started = time.monotonic()
        subprocess.run(with_parent(*command), check=True,
                       stdout=subprocess.DEVNULL, timeout=600)
        subprocess.run(["sync", "-f", target], check=True)
        took = time.monotonic() - started
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        files, bytes_ = stored(target)
        count, size = KINDS[kind]
        if (files, bytes_) != (count, count * size):
            raise SystemExit(f"{contender}, {kind}: {files} files, {bytes_} "
                             f"bytes")
        cpu = (after.ru_utime + after.ru_stime
               - before.ru_utime - before.ru_stime)
        return took, cpu / (bytes_ / 1e9)
    finally:
        make_empty(target)


def digest_seconds(count, size):
    """What SHA-256 and SHA-1 of so many files cost one core by themselves.

    As the worker's own classes compute them: begun and ended for each file,
    of pieces no larger than come from a connection at once.
    """
    answer = subprocess.run(
        [BIN / "bimbackup-dataplane-bench", str(count), str(size)], check=True,
        stdout=subprocess.PIPE)
    return json.loads(answer.stdout)["cpu_seconds"]


def compare(kind, results):
    """The bars of one kind of file."""
    took = {name: statistics.median(run[0] for run in runs)
            for name, runs in results.items()}
    peers = {name: took[name] for name in ("curl", "rclone", "aria2c")}
    best = min(peers, key=peers.get)
    count, size = KINDS[kind]
    cores = min(2, os.cpu_count() or 1)
    allowed = 1.1 * digest_seconds(count, size) / cores
    added = took["engine, digests"] - took["engine, sizes"]
    return [
        report.bar(f"{kind}: engine with sizes ÷ {best}",
                   took["engine, sizes"] / peers[best], "times", "<=",
                   1.25 if kind == "10 KB" else 1.0),
        report.bar(f"{kind}: what digests add ÷ 1.1 of their CPU on {cores} "
                   "cores", added / allowed, "times", "<=", 1)]


def main():
    for tool in ("nginx", "aria2c", "curl", "rclone"):
        if shutil.which(tool) is None:
            raise SystemExit(f"{tool} is missing: apt-get install nginx-light "
                             "aria2 curl rclone")
    end_on_sigterm()
    rows, bars = [], []
    with tempfile.TemporaryDirectory(prefix="bimbackup-dataplane-") as folder:
        os.chmod(folder, 0o755)
        for kind in KINDS:
            origin = Origin(os.path.join(folder, kind.replace(" ", "")))
            names = origin.make(kind)
            with origin.serving():
                results = {name: [] for name in CONTENDERS}
                for number in range(RUNS):
                    for name in CONTENDERS:
                        took, cpu = run_once(origin, kind, names, name)
                        results[name].append((took, cpu))
                        print(f"{kind}, run {number + 1}, {name}: {took:.2f} "
                              f"s, {cpu:.2f} CPU s/GB", file=sys.stderr)
            shutil.rmtree(origin.folder)
            print(f"### {KINDS[kind][0]:,} × {kind}\n")
            print("| Contender | Median | Min | Max | CPU s/GB |\n"
                  "|---|---:|---:|---:|---:|")
            for name, runs in results.items():
                took = [run[0] for run in runs]
                cpu = statistics.median(run[1] for run in runs)
                print(f"| {name} | {statistics.median(took):.2f} s | "
                      f"{min(took):.2f} s | {max(took):.2f} s | {cpu:.2f} |")
                rows.append({"kind": kind, "contender": name,
                             "seconds": took, "cpu_per_gb": cpu})
            print()
            bars += compare(kind, results)
    return report.finish("dataplane", rows, bars)


if __name__ == "__main__":
    sys.exit(main())
