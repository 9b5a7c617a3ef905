"""forget is killed at each of its steps and at random moments: the storage
stays valid, and the next one ends what was begun."""

import os
import pathlib
import random
import subprocess
import sys
import time

import check
from check import expect
from cluster import Cluster, wait_for
from store import check_store
from verify import check_backup

BIN = pathlib.Path(sys.argv[1])
SEED = int(os.environ.get("BIMBACKUP_SEED") or random.randrange(1 << 32))
KILLS = int(os.environ.get("BIMBACKUP_KILLS") or 20)
ACCOUNT = ("--account=custom:projects=3,folders=10,files=60,bytes=300000",
           "--limits=off")
FAILPOINTS = (
    "forget.snapshot_removed", "forget.snapshot_removed:2",
    "forget.snapshots_removed", "sweep.manifest_removed",
    "sweep.manifest_removed:4", "sweep.manifests", "sweep.blobs_forgotten",
    "sweep.blobs_forgotten:2", "sweep.blob_removed", "sweep.blob_removed:19")


def change_all(cluster, word):
    """Gives every file new bytes, so that the next forget has work to do."""
    cluster.admin("/admin/edit", [
        {"op": "change_file", "project": entry["project_name"],
         "path": entry["path"], "content": f"{word} {i}"}
        for i, entry in enumerate(cluster.admin("/admin/tree")["entries"])
        if entry["kind"] == "file"])


def backup(cluster):
    done, record = cluster.run_backup()
    expect(done == 0, f"exit {done}: {record}")


def make_work(cluster, word):
    """Three snapshots of which two are to go, with all their blobs."""
    for night in range(3):
        change_all(cluster, f"{word}, night {night}")
        backup(cluster)


def check_goes_on(cluster):
    """The next forget ends what the killed one began, and all is well."""
    check_store(cluster.storage, orphans=True)
    cluster.start_coordinator()
    done = cluster.cli("forget", "--keep-last", "1", seconds=120)
    expect(done.returncode == 0, done.stdout + done.stderr)
    check_store(cluster.storage)
    check_backup(cluster)
    backup(cluster)
    check_backup(cluster)


def test_forget_killed_at_every_step():
    with Cluster(BIN, ACCOUNT) as cluster:
        cluster.start(workers=1)
        for failpoint in FAILPOINTS:
            make_work(cluster, failpoint)
            cluster.coordinator.terminate()
            cluster.start_coordinator({"BIMBACKUP_FAILPOINT": failpoint})
            done = cluster.cli("forget", "--keep-last", "1", seconds=120)
            expect(done.returncode != 0, f"{failpoint}: {done.stdout}")
            wait_for(f"death at {failpoint}",
                     lambda: not cluster.coordinator.running(), 30)
            expect(cluster.coordinator.exit_code() == -9, failpoint)
            check_goes_on(cluster)


def test_forget_killed_at_random_moments():
    rng = random.Random(SEED)
    hits = 0
    with Cluster(BIN, ACCOUNT) as cluster:
        cluster.start(workers=1)
        make_work(cluster, "measured")
        started = time.monotonic()
        expect(start_forget(cluster).wait(60) == 0, "the measured forget")
        lasts = time.monotonic() - started
        make_work(cluster, "first")
        for turn in range(KILLS):
            call = start_forget(cluster)
            time.sleep(rng.uniform(0, lasts))  # The random moment.
            hits += call.poll() is None
            cluster.coordinator.kill()
            call.wait(60)
            if turn % 5 < 4 and call.returncode != 0:
                check_store(cluster.storage, orphans=True)
                cluster.start_coordinator()
            else:
                check_goes_on(cluster)
                make_work(cluster, f"turn {turn}")
        cluster.coordinator.terminate()
        check_goes_on(cluster)
    print(f"{hits} of {KILLS} kills hit a running forget")
    expect(hits >= KILLS // 4, f"only {hits} kills hit a running forget")


def start_forget(cluster):
    environment = dict(os.environ, BIMBACKUP_COORDINATOR=(
        f"127.0.0.1:{cluster.coordinator_port}"))
    return subprocess.Popen(
        [cluster.bin / "bimbackup", "forget", "--keep-last", "1"],
        env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


TESTS = [value for name, value in sorted(globals().items())
         if name.startswith("test_")]

if __name__ == "__main__":
    print(f"seed {SEED}", flush=True)
    sys.exit(check.run(check.selected(TESTS)))
