"""Real processes under test: emulator, coordinator and workers on loopback.

Every wait has a deadline, every process dies with the cluster, every file
stands in one temporary folder that a failed test leaves for reading.
"""

import contextlib
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request

from children import end_on_sigterm, with_parent

SECRET = "emulator-secret-5d0c1f"
ACCOUNT = "00000000-0000-4000-8000-000000000001"


class Failure(AssertionError):
    """A condition that did not hold, with what was seen instead."""


def wait_for(what, condition, seconds=60):
    """Returns the condition's first true value; fails after the deadline."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.01)
    raise Failure(f"not within {seconds} s: {what}")


def get_json(url, body=None, method=None, timeout=120):
    """Calls the emulator's admin API."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, method=method)
    if data is not None:
        request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=timeout) as answer:
        text = answer.read()
    return json.loads(text) if text else None


class Process:
    """One server process and its log."""

    def __init__(self, folder, name, arguments, environment):
        self.name = name
        self.log_path = folder / f"{name}.log"
        self._arguments = arguments
        self._environment = environment
        self._log = open(self.log_path, "ab")
        self._child = None

    def start(self, extra_environment=None):
        environment = dict(self._environment, **(extra_environment or {}))
        self._child = subprocess.Popen(
            with_parent(*self._arguments), stdin=subprocess.DEVNULL,
            stdout=self._log, stderr=self._log, env=environment)

    def running(self):
        return self._child is not None and self._child.poll() is None

    def kill(self):
        self._child.send_signal(signal.SIGKILL)
        self._child.wait(10)

    def pause(self):
        """Stops the process where it is, until resume()."""
        self._child.send_signal(signal.SIGSTOP)

    def resume(self):
        self._child.send_signal(signal.SIGCONT)

    def terminate(self, seconds=60):
        if not self.running():
            return self.exit_code()
        self._child.send_signal(signal.SIGTERM)
        return self._child.wait(seconds)

    def wait(self, seconds):
        return self._child.wait(seconds)

    def pid(self):
        return self._child.pid

    def exit_code(self):
        return None if self._child is None else self._child.poll()

    def stop(self):
        if self.running():
            self.kill()
        self._log.close()

    def log(self):
        return self.log_path.read_text(errors="replace")

    def await_log(self, pattern, seconds=30, start=0):
        """The first match of `pattern` in the log after byte `start`."""
        def search():
            match = re.search(pattern, self.log()[start:])
            if match is None and not self.running():
                raise Failure(f"{self.name} ended early:\n{self.log()}")
            return match
        return wait_for(f"{pattern!r} in {self.log_path}", search, seconds)


# A process is given none twice before it was given all.
_next_port = itertools.count(random.randrange(5_000))


def free_port():
    """A port that nobody has, also while its server is being restarted.

    Below those that the system gives, and apart from those of tests that run
    beside these, whose slot is another.
    """
    first = 20_000 + 5_000 * (int(os.environ.get("BIMBACKUP_TEST_SLOT", 0)) % 2)
    for _ in range(1000):
        port = first + next(_next_port) % 5_000
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise Failure("no port is free")


class Cluster:
    """An emulator, a coordinator and any number of workers."""

    def __init__(self, bin_folder, emulator_flags=(), coordinator_flags=(),
                 worker_flags=(), recheck_budget="0",
                 api_budget="unlimited", log_level="debug",
                 coordinator_host="127.0.0.1", emulator_host="127.0.0.1",
                 coordinator_prefix=(), worker_prefix=()):
        """The prefixes are commands that run the processes, with exec.

        A `recheck_budget` of None leaves the coordinator its default.
        """
        self.bin = pathlib.Path(bin_folder)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="bimbackup-fault-"))
        self.storage = self.folder / "storage"
        self.state = self.folder / "state"
        self.storage.mkdir()
        self.state.mkdir()
        self.emulator_port = free_port()
        self.coordinator_port = free_port()
        self.http_port = free_port()
        self.coordinator_address = (
            f"{coordinator_host}:{self.coordinator_port}")
        self.emulator_url = f"http://{emulator_host}:{self.emulator_port}"
        self._base = {k: v for k, v in os.environ.items()
                      if not k.startswith(("APS_", "BIM"))}
        self._worker_flags = [f"--log_level={log_level}", *worker_flags]
        self._worker_prefix = list(worker_prefix)
        credentials = {
            "APS_CLIENT_ID": "emulator", "APS_CLIENT_SECRET": SECRET,
            "APS_ACCOUNT_ID": ACCOUNT}
        recheck = [] if recheck_budget is None else [
            f"--recheck_budget={recheck_budget}"]
        self.emulator = Process(
            self.folder, "emulator",
            [self.bin / "bim360-emulator",
             f"--listen={emulator_host}:{self.emulator_port}",
             *emulator_flags],
            dict(self._base, **credentials))
        self.coordinator = Process(
            self.folder, "coordinator",
            [*coordinator_prefix, self.bin / "bimbackup-coordinator",
             f"--listen={self.coordinator_address}",
             f"--http_listen=127.0.0.1:{self.http_port}",
             f"--state_dir={self.state}", f"--storage=file://{self.storage}",
             f"--bim360_base_url={self.emulator_url}",
             f"--log_level={log_level}", f"--api_budget={api_budget}",
             *recheck, *coordinator_flags],
            dict(self._base, **credentials))
        self.workers = []

    def __enter__(self):
        end_on_sigterm()
        self.emulator.start()
        wait_for("the emulator answers",
                 lambda: self._answers("/admin/requests"))
        return self

    def __exit__(self, kind, value, trace):
        for process in (*self.workers, self.coordinator, self.emulator):
            with contextlib.suppress(Exception):
                process.stop()
        if kind is None:
            shutil.rmtree(self.folder, ignore_errors=True)
        else:
            print(f"left for reading: {self.folder}", flush=True)

    def _answers(self, path):
        with contextlib.suppress(OSError):
            self.admin(path)
            return True
        return False

    def admin(self, path, body=None, method=None):
        return get_json(f"{self.emulator_url}{path}", body, method)

    def start(self, workers=1):
        """Starts the coordinator, waits for it, starts the workers."""
        self.start_coordinator()
        for _ in range(workers):
            self.add_worker()

    def start_coordinator(self, extra_environment=None):
        self.coordinator.start(extra_environment)
        wait_for("the coordinator answers",
                 lambda: self.cli("list").returncode == 0)

    def worker_arguments(self, storage=None):
        return [self.bin / "bimbackup-worker", "--listen=127.0.0.1:0",
                f"--coordinator={self.coordinator_address}",
                f"--storage=file://{storage or self.storage}",
                *self._worker_flags]

    def add_worker(self, storage=None, prefix=()):
        worker = Process(self.folder, f"worker-{len(self.workers)}",
                         [*prefix, *self._worker_prefix,
                          *self.worker_arguments(storage)], self._base)
        self.workers.append(worker)
        worker.start()
        return worker

    def cli(self, *arguments, seconds=60):
        """Runs the command-line tool; returns the finished process."""
        environment = dict(
            self._base, BIMBACKUP_COORDINATOR=self.coordinator_address)
        return subprocess.run(
            with_parent(self.bin / "bimbackup", *arguments), env=environment,
            capture_output=True, text=True, timeout=seconds, check=False)

    def cli_json(self, *arguments, seconds=60):
        """What the tool prints with --output=json, a list of messages."""
        done = self.cli(*arguments, "--output=json", seconds=seconds)
        return [json.loads(line) for line in done.stdout.splitlines() if line]

    def backup(self):
        """The newest backup, or None while the coordinator is away."""
        messages = self.cli_json("show")
        if not messages:
            return None
        return messages[-1].get("backup", messages[-1])

    def run_backup(self, *arguments, seconds=300):
        """Runs one backup to its end; returns (exit code, backup)."""
        done = self.cli("backup", "--wait", *arguments, seconds=seconds)
        return done.returncode, self.backup()

    def run_watch(self, seconds=300):
        """Follows the newest backup to its end; returns as run_backup."""
        done = self.cli("watch", seconds=seconds)
        return done.returncode, self.backup()

    def http(self, path):
        """A page of the coordinator's HTTP side."""
        url = f"http://127.0.0.1:{self.http_port}{path}"
        with urllib.request.urlopen(url, timeout=10) as answer:
            return answer.read().decode()

    def partial_files(self):
        """Temporary files of the storage that hold bytes."""
        found = []
        for path in (self.storage / "tmp").glob("*"):
            with contextlib.suppress(OSError):
                if path.stat().st_blocks > 0:
                    found.append(path)
        return found
