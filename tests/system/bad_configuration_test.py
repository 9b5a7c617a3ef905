"""Bad configuration: one clear line, exit code 2, nothing touched."""

import json
import os
import pathlib
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile

import check
from check import expect
from cluster import ACCOUNT, Cluster, SECRET, wait_for

BIN = pathlib.Path(sys.argv[1])
DEMO = ("--account=custom:projects=1,folders=3,files=5,bytes=50000",)


def tree(folder):
    """Every path below a folder with its size: what must not change."""
    return sorted((str(p.relative_to(folder)), p.lstat().st_size)
                  for p in pathlib.Path(folder).rglob("*"))


def run(binary, *arguments, environment=None):
    """Runs a binary that should refuse to start; bounded."""
    base = {k: v for k, v in os.environ.items()
            if not k.startswith(("APS_", "BIM"))}
    return subprocess.run(
        [BIN / binary, *arguments], env={**base, **(environment or {})},
        capture_output=True, text=True, timeout=30, check=False)


CREDENTIALS = {"APS_CLIENT_ID": "emulator", "APS_CLIENT_SECRET": SECRET,
               "APS_ACCOUNT_ID": ACCOUNT}


def expect_refusal(done, *words):
    """Exit code 2 and one line on standard error that holds the words."""
    lines = done.stderr.strip().splitlines()
    expect(done.returncode == 2, f"exit {done.returncode}: {done.stderr}")
    expect(len(lines) == 1, f"not one line: {done.stderr}")
    for word in words:
        expect(word in lines[0], f"{word!r} not in: {lines[0]}")
    expect(SECRET not in done.stderr, "the secret was printed")


class Folders:
    """A fresh storage and state folder."""

    def __enter__(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="bimbackup-bad-"))
        self.storage = self.root / "storage"
        self.state = self.root / "state"
        self.storage.mkdir()
        self.state.mkdir()
        return self

    def __exit__(self, *unused):
        shutil.rmtree(self.root, ignore_errors=True)

    def flags(self):
        return ("--listen=127.0.0.1:0", "--http_listen=127.0.0.1:0",
                f"--storage=file://{self.storage}",
                f"--state_dir={self.state}",
                "--bim360_base_url=http://127.0.0.1:1")


def refuse_coordinator(words, *more, environment=None, storage=None):
    """A coordinator with these flags refuses, and both folders stay empty."""
    with Folders() as folders:
        if storage is not None:
            more = (*more, f"--storage={storage}")
        given = {flag.split("=")[0] for flag in more}
        flags = [flag for flag in folders.flags()
                 if flag.split("=")[0] not in given]
        flags += more
        done = run("bimbackup-coordinator", *flags,
                   environment=CREDENTIALS if environment is None
                   else environment)
        expect_refusal(done, *words)
        expect(tree(folders.root) == [("state", 4096), ("storage", 4096)]
               or not list(folders.storage.iterdir())
               and not list(folders.state.iterdir()),
               f"touched: {tree(folders.root)}")


def test_missing_account():
    environment = {k: v for k, v in CREDENTIALS.items()
                   if k != "APS_ACCOUNT_ID"}
    refuse_coordinator(["APS_ACCOUNT_ID"], environment=environment)


def test_missing_secret():
    environment = {k: v for k, v in CREDENTIALS.items()
                   if k != "APS_CLIENT_SECRET"}
    refuse_coordinator(["APS_CLIENT_SECRET"], environment=environment)


def test_bad_flag_values():
    for flag, word in (("--api_budget=90", "api_budget"),
                       ("--recheck_budget=soon", "recheck_budget"),
                       ("--max_duration=-1h", "max_duration"),
                       ("--latest=maybe", "latest"),
                       ("--max_name_bytes=3", "max_name_bytes"),
                       ("--allowed_hosts=*", "allowed_hosts"),
                       ("--log_level=loud", "log"),
                       ("--no_such_flag=1", "no_such_flag")):
        refuse_coordinator([word], flag)


def test_unknown_storage_scheme():
    refuse_coordinator(["s4"], storage="s4://bucket")


def test_storage_that_does_not_exist():
    refuse_coordinator(["/no/such/folder"], storage="file:///no/such/folder")


def test_storage_that_cannot_be_written():
    refuse_coordinator(["/proc"], storage="file:///proc")


def test_port_taken():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        refuse_coordinator([str(port)], f"--listen=127.0.0.1:{port}")


def test_http_port_taken():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        refuse_coordinator([str(port)], f"--http_listen=127.0.0.1:{port}")


def test_second_coordinator_on_one_state_folder():
    with Cluster(BIN, DEMO) as cluster:
        cluster.start(workers=0)
        before = tree(cluster.storage)
        done = run("bimbackup-coordinator", "--listen=127.0.0.1:0",
                   "--http_listen=127.0.0.1:0",
                   f"--storage=file://{cluster.storage}",
                   f"--state_dir={cluster.state}", environment=CREDENTIALS)
        expect_refusal(done, str(cluster.state))
        expect(tree(cluster.storage) == before, "the storage was touched")


def stopped_cluster(change, *words):
    """After `change` to a cluster's folders its coordinator refuses."""
    with Cluster(BIN, DEMO) as cluster:
        cluster.start(workers=0)
        cluster.coordinator.terminate()
        change(cluster)
        before = tree(cluster.storage)
        done = run("bimbackup-coordinator", "--listen=127.0.0.1:0",
                   "--http_listen=127.0.0.1:0",
                   f"--storage=file://{cluster.storage}",
                   f"--state_dir={cluster.state}", environment=CREDENTIALS)
        expect_refusal(done, *words)
        expect(tree(cluster.storage) == before, "the storage was touched")


def test_storage_of_newer_format():
    def change(cluster):
        marker = cluster.storage / "bimbackup.json"
        content = json.loads(marker.read_text())
        content["format"] = 99
        marker.chmod(0o644)
        marker.write_text(json.dumps(content))
    stopped_cluster(change, "format", "99")


def test_storage_without_its_marker():
    def change(cluster):
        (cluster.storage / "bimbackup.json").unlink()
    stopped_cluster(change, "bimbackup.json")


def test_unmounted_storage():
    def change(cluster):
        shutil.rmtree(cluster.storage)
        cluster.storage.mkdir()
    stopped_cluster(change, "bimbackup.json")


def test_another_storage():
    def change(cluster):
        marker = cluster.storage / "bimbackup.json"
        content = json.loads(marker.read_text())
        content["storage_id"] = "11111111-2222-4333-8444-555555555555"
        marker.chmod(0o644)
        marker.write_text(json.dumps(content))
    stopped_cluster(change, "11111111-2222-4333-8444-555555555555")


def test_catalog_of_newer_schema():
    def change(cluster):
        with sqlite3.connect(cluster.state / "catalog.db") as catalog:
            catalog.execute("PRAGMA user_version = 9999")
    stopped_cluster(change, "9999")


def test_worker_without_storage():
    expect_refusal(run("bimbackup-worker", "--listen=127.0.0.1:0"), "storage")


def test_worker_with_bad_flag():
    expect_refusal(run("bimbackup-worker", "--storage=file:///tmp",
                       "--max_transfers=0"), "max_transfers")
    expect_refusal(run("bimbackup-worker", "--storage=file:///tmp",
                       "--max_bandwidth=fast"), "max_bandwidth")


def test_worker_that_sees_another_folder():
    with Cluster(BIN, DEMO) as cluster, Cluster(BIN, DEMO) as other:
        cluster.start(workers=0)
        other.start(workers=0)
        done = run(*cluster.worker_arguments(storage=other.storage))
        last = [line for line in done.stderr.splitlines() if line][-1]
        expect(done.returncode == 2, f"exit {done.returncode}: {done.stderr}")
        expect("storage" in last, last)
        wait_for("no partial file", lambda: not other.partial_files())


def test_file_scan_without_root():
    expect_refusal(run("bimbackup-file-scan", "--listen=127.0.0.1:0"), "root")


def test_emulator_with_unknown_account():
    expect_refusal(run("bim360-emulator", "--listen=127.0.0.1:0",
                       "--account=castle"), "castle")


def test_command_line_tool():
    expect_refusal(run("bimbackup", "frobnicate"), "frobnicate")
    done = run("bimbackup", "--coordinator=127.0.0.1:1", "list")
    expect(done.returncode == 4, f"exit {done.returncode}: {done.stderr}")
    expect("127.0.0.1:1" in done.stderr, done.stderr)


def test_file_scan_flag_on_either_side_of_scan():
    flag = "--file_scan=127.0.0.1:1"
    for arguments in ((flag, "scan", "a.txt"), ("scan", flag, "a.txt"),
                      ("scan", "a.txt", flag)):
        done = run("bimbackup", *arguments)
        expect(done.returncode == 4, f"exit {done.returncode}: {done.stderr}")
        expect("127.0.0.1:1" in done.stderr, done.stderr)


TESTS = [value for name, value in sorted(globals().items())
         if name.startswith("test_")]

if __name__ == "__main__":
    sys.exit(check.run(check.selected(TESTS)))
