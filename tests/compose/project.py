"""One compose project of docker-compose.yml, with its own ports and folder."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import urllib.request

from cluster import free_port, wait_for

ROOT = pathlib.Path(__file__).parents[2]
COMPOSE = os.environ.get("BIMBACKUP_COMPOSE", "docker-compose").split()
USER = 10001
# An address of this machine that containers can reach.
BRIDGE = "172.17.0.1"


class Project:
    """deploy/demo.env with the given settings instead of some of its own.

    With `certs`, a folder of deploy/make_certs.sh, deploy/docker-compose.tls.yml
    lies on top.
    """

    def __init__(self, name, certs=None, **settings):
        self._tls = certs is not None
        files = ["-f", "docker-compose.yml"]
        if self._tls:
            files += ["-f", "deploy/docker-compose.tls.yml"]
            settings["BIMBACKUP_CERTS"] = str(certs)
        self._command = [*COMPOSE, *files, "--env-file", "deploy/demo.env",
                         "--profile", "demo"]
        self.name = f"bimbackup-test-{name}"
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="bimbackup-"))
        self.storage = self.folder / "storage"
        self.storage.mkdir()
        for path in (self.folder, self.storage):
            os.chown(path, USER, USER)
        self.emulator_port = free_port()
        self.port = free_port()
        self._environment = {
            **{k: v for k, v in os.environ.items()
               if not k.startswith(("APS_", "BIM"))},
            "COMPOSE_PROJECT_NAME": self.name,
            "BIMBACKUP_BACKUP_DIR": str(self.storage),
            "BIMBACKUP_PORT": str(self.port),
            "BIMBACKUP_HTTP_PORT": str(free_port()),
            "BIMBACKUP_FILE_SCAN_PORT": str(free_port()),
            "BIM360_EMULATOR_PORT": str(self.emulator_port),
            "BIMBACKUP_RECHECK_BUDGET": "0", **settings}

    def __enter__(self):
        # What an interrupted run may have left.
        self.compose("down", "--volumes", "--timeout=5", "--remove-orphans")
        return self

    def __exit__(self, kind, value, trace):
        if kind is not None:
            print(self.compose("logs", "--no-color", "--tail=30").stdout)
        self.compose("down", "--volumes", "--timeout=5", "--remove-orphans")
        shutil.rmtree(self.folder, ignore_errors=True)

    def compose(self, *arguments, seconds=300):
        """Runs docker-compose as README does; returns the finished process."""
        return subprocess.run(
            [*self._command, *arguments], cwd=ROOT, env=self._environment, timeout=seconds,
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
            check=False)

    def must(self, *arguments, seconds=300):
        """compose() that fails the test when the command fails."""
        done = self.compose(*arguments, seconds=seconds)
        if done.returncode != 0:
            raise AssertionError(f"{arguments}: exit {done.returncode}\n"
                                 f"{done.stdout[-3000:]}{done.stderr[-3000:]}")
        return done.stdout

    def up(self, *arguments):
        self.must("up", "-d", *arguments)
        wait_for("the emulator answers", self._emulator_answers)

    def start_backup(self, *arguments):
        """`docker-compose run --rm backup`, in the background."""
        return subprocess.Popen(
            [*self._command, "run", "--rm", "-T", "backup", *arguments],
            cwd=ROOT,
            env=self._environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def run_backup(self, *arguments, seconds=300):
        """Runs a one-shot to its end; returns its exit code and output."""
        process = self.start_backup(*arguments)
        output, _ = process.communicate(timeout=seconds)
        return process.returncode, output

    def messages(self, *arguments):
        """What the command line says, as JSON."""
        if self._tls:
            # The coordinator's certificate may not ask; the operator's may.
            text = self.must("run", "--rm", "-T", "--no-deps", "backup",
                             "--output=json", *arguments)
        else:
            text = self.must("exec", "-T", "coordinator", "bimbackup",
                             "--output=json", *arguments)
        return [json.loads(line) for line in text.splitlines()]

    def containers(self, service):
        return self.must("ps", "-q", service).split()

    def admin(self, path, body=None):
        """Calls the emulator's admin API."""
        data = None if body is None else json.dumps(body).encode()
        url = f"http://127.0.0.1:{self.emulator_port}{path}"
        with urllib.request.urlopen(url, data=data, timeout=30) as answer:
            return json.load(answer)

    def _emulator_answers(self):
        with contextlib.suppress(OSError):
            self.admin("/admin/requests")
            return True
        return False

    def compare(self):
        """compare_backup.py's verdict and what it printed."""
        done = subprocess.run(
            ["/usr/bin/python3", ROOT / "tests/support/compare_backup.py",
             f"--emulator=http://127.0.0.1:{self.emulator_port}",
             f"--latest={self.storage}/latest", f"--storage={self.storage}"],
            capture_output=True, text=True, timeout=300, check=False)
        return done.returncode, done.stdout + done.stderr
