"""README's grpcurl commands, run by the real grpcurl.

Every command of every block marked ```sh grpcurl is run, in README's order;
each must have an expectation here, and each expectation a command.
"""

import contextlib
import fcntl
import pathlib
import re
import socket
import struct
import subprocess
import sys

import check
import cluster
from check import expect

BIN = pathlib.Path(sys.argv[1])
README = pathlib.Path(__file__).parents[2] / "README.md"
SERVING = r'"status": "SERVING"'

# (what the command holds, what its output must hold). The first that fits.
EXPECTED = (
    (":50051 list", r"(?s)bimbackup\.v1\.CoordinatorService.*"
                    r"bimbackup\.v1\.WorkerPoolService.*"
                    r"grpc\.health\.v1\.Health"),
    (":50051 describe", r"rpc StartBackup"),
    (":50051 grpc.health", SERVING),
    (":50052 grpc.health", SERVING),
    (":50053 grpc.health", SERVING),
    ("validate_only", r'"validateOnly": true'),
    ("StartBackup", r'"name": "backups/'),
    ("WatchBackup", r'BACKUP_STATE_SUCCEEDED'),
    ("GetBackup", r'(?s)"transfersStored": "136".*"snapshot": "snapshots/'),
    ("ListBackups", r'(?s)"backups": \[.*"name": "backups/'),
    ("ListTransfers", r"^\{\s*\}$"),
    ("ListSnapshots", r'"files": "136"'),
    ("ListFiles", r'(?s)"storedPath".*"nextPageToken"'),
    ("ListWorkers", r'"workerId"'),
    ("VerifySnapshot", r'(?s)"blobsRead".*"done": true'),
    ("RestoreSnapshot", r'(?s)"entries".*\.pdf'),
    ("ForgetSnapshots", r'(?s)"kept": true.*"done": true'),
    ("ProtectSnapshot", r'"isProtected": true'),
    ("RebuildLatestView", r'(?s)"entriesDone".*"done": true'),
    ("UpdateLimits", r'(?s)"apiBudget": "50%".*"maxBandwidth": "20000000"'),
    ("GetLimits", r'"apiBudget": "50%"'),
    # The dry run may have ended already; then it cannot be cancelled.
    ("CancelBackup", r"BACKUP_STATE_CANCELLED|FailedPrecondition"),
    ("GetStatus", r'"connected": true'),
    ("/Drain", r"\{"),
    ("FileScanService/Scan", r'(?s)"done": true.*"lines": "1"'),
    ("FileScanService/ReadLines", r'"lineLengths"'),
    ("FileScanService/Benchmark", r'(?s)"row".*"mean'),
)


def bring_up_loopback():
    """A fresh network has its loopback interface down."""
    with socket.socket() as any_socket, contextlib.suppress(OSError):
        request = struct.pack("16sh14x", b"lo", 0x1 | 0x40)
        fcntl.ioctl(any_socket, 0x8914, request)  # SIOCSIFFLAGS: up, running


def readme_commands():
    """The commands of README's marked blocks, in order."""
    blocks = re.findall(r"```sh grpcurl\n(.*?)```", README.read_text(), re.S)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    return [line for line in lines if line.startswith("grpcurl ")]


class FixedPorts(cluster.Cluster):
    """A cluster on the ports that README names."""

    def __init__(self):
        ports = iter((8360, 50051, 8080))
        cluster.free_port = lambda: next(ports)
        super().__init__(BIN)
        self.file_scan = None

    def worker_arguments(self, storage=None):
        return [("--listen=127.0.0.1:50052" if str(a).startswith("--listen")
                 else a) for a in super().worker_arguments(storage)]

    def start_file_scan(self):
        self.file_scan = cluster.Process(
            self.folder, "file-scan",
            [BIN / "bimbackup-file-scan", "--listen=127.0.0.1:50053",
             f"--root={self.storage}"], self._base)
        self.file_scan.start()
        cluster.wait_for("file-scan answers", lambda: self.cli(
            "health", "127.0.0.1:50053").returncode == 0)

    def __exit__(self, *failure):
        if self.file_scan:
            self.file_scan.stop()
        super().__exit__(*failure)


def expectation(command):
    for part, pattern in EXPECTED:
        if part in command:
            return part, pattern
    raise AssertionError(f"README has a command without a test: {command}")


def camel_case_keys(text):
    """Some versions of grpcurl print keys as in the proto, some as in JSON."""
    return re.sub(r'"([a-z]+(?:_[a-z]+)+)":', lambda key: '"' + re.sub(
        "_(.)", lambda letter: letter[1].upper(), key[1]) + '":', text)


def run_commands(commands):
    used = set()
    for command in commands:
        part, pattern = expectation(command)
        used.add(part)
        done = subprocess.run(command, shell=True, capture_output=True,
                              text=True, timeout=300, check=False)
        output = camel_case_keys(done.stdout.strip() + done.stderr.strip())
        expect(re.search(pattern, output),
               f"{command}\nwants {pattern}\nsays {output[-2000:]}")
        print(f"  {command[:110]}", flush=True)
    return used


def test_readme_commands_work():
    commands = readme_commands()
    expect(len(commands) >= 15, f"only {len(commands)} commands in README")
    bring_up_loopback()
    with FixedPorts() as servers:
        servers.start(workers=1)
        servers.start_file_scan()
        cluster.wait_for("the worker answers", lambda: servers.cli(
            "health", "127.0.0.1:50052").returncode == 0)
        used = run_commands(commands)
        # What the last command asked for: the worker ends in order.
        cluster.wait_for("the drained worker ends",
                         lambda: not servers.workers[0].running())
        expect(servers.workers[0].exit_code() == 0, "the worker failed")
    unused = {part for part, _ in EXPECTED} - used
    expect(not unused, f"no command in README for {unused}")


def test_every_method_of_the_services_is_described():
    bring_up_loopback()
    protos = README.parent / "protos/bimbackup/v1"
    with FixedPorts() as servers:
        servers.start(workers=1)
        servers.start_file_scan()
        for port, name in (("50051", "coordinator"), ("50051", "worker_pool"),
                           ("50052", "download_worker"),
                           ("50053", "file_scan")):
            text = (protos / f"{name}_service.proto").read_text()
            service = re.search(r"service (\w+)", text).group(1)
            done = subprocess.run(
                ["grpcurl", "-plaintext", f"127.0.0.1:{port}", "describe",
                 f"bimbackup.v1.{service}"], capture_output=True, text=True,
                timeout=30, check=False)
            for method in re.findall(r"^  rpc (\w+)", text, re.M):
                expect(f"rpc {method} " in done.stdout,
                       f"{service}.{method}: {done.stdout}{done.stderr}")


if __name__ == "__main__":
    sys.exit(check.run(check.selected([
        test_readme_commands_work,
        test_every_method_of_the_services_is_described])))
