"""Minutes of faults, kills and a disk that fills up, backup after backup.

Every few moments something goes wrong at random: a worker dies, the emulator
lies or breaks off for a while, the storage has no room. At the end all is
well again: one backup must end SUCCEEDED, everything must verify, nothing may
be orphaned, and the snapshot must hold the emulator's bytes.
"""

import os
import pathlib
import random
import sys
import time

import chaos
import check
from check import expect
from cluster import Cluster
from disks import Disk, enter_namespace
from verify import check_no_secret

BIN = pathlib.Path(sys.argv[1])
SEED = int(os.environ.get("BIMBACKUP_SEED") or random.randrange(1 << 32))
MINUTES = float(os.environ.get("BIMBACKUP_SOAK_MINUTES") or 10)
ACCOUNT = ("--account=custom:projects=3,folders=60,files=300,bytes=90000000,"
           "largest=9000000", "--api_latency=5ms",
           "--connection_bandwidth=4MB/s", "--limits=off")
FAULTS = (
    ("storage", {"type": "status", "status": 500}),
    ("storage", {"type": "status", "status": 503,
                 "body": "<Error><Code>SlowDown</Code></Error>"}),
    ("storage", {"type": "status", "status": 403,
                 "body": "<Error><Code>AccessDenied</Code></Error>"}),
    ("storage", {"type": "reset", "bytes": 10_000}),
    ("storage", {"type": "short", "bytes": 1000}),
    ("storage", {"type": "corrupt", "bytes": 100}),
    ("sign", {"type": "status", "status": 500}),
    ("sign", {"type": "expired"}),
    ("sign", {"type": "malformed_json"}),
    ("contents", {"type": "status", "status": 503}),
    ("contents", {"type": "reset", "bytes": 50}),
    ("contents", {"type": "malformed_json"}),
    ("contents", {"type": "status", "status": 404}),
)


def set_fault(cluster, rng, _disk):
    endpoint, action = rng.choice(FAULTS)
    cluster.admin("/admin/faults", {
        "match": {"endpoint": endpoint, "count": rng.randrange(1, 12)},
        "action": action})


def kill_worker(cluster, rng, _disk):
    worker = rng.choice(cluster.workers)
    worker.kill()
    worker.start()


def kill_coordinator(cluster, _rng, _disk):
    cluster.coordinator.kill()
    cluster.start_coordinator()


def stall_worker(cluster, rng, _disk):
    """Past its lease, with whatever it has open."""
    worker = rng.choice(cluster.workers)
    worker.pause()
    time.sleep(rng.uniform(1, 5))
    worker.resume()


def fill_storage(_cluster, rng, disk):
    disk.fill(leave_megabytes=rng.randrange(3))
    time.sleep(rng.uniform(1, 4))
    disk.make_room()


def unplug_storage(_cluster, rng, disk):
    disk.unplug()
    time.sleep(rng.uniform(1, 4))
    disk.plug()


def forget_token(cluster, _rng, _disk):
    cluster.admin("/admin/tokens", method="DELETE")


TROUBLE = (set_fault, set_fault, set_fault, kill_worker, kill_coordinator,
           stall_worker, fill_storage, unplug_storage, forget_token)


def keep_busy(cluster, rng, ended):
    """Starts the next backup; counts how the ones before it ended."""
    backup = cluster.backup()
    if backup is not None and "endTime" not in backup:
        return
    if backup is not None and backup["name"] not in ended:
        ended[backup["name"]] = backup["state"]
        if rng.random() < 0.3 and chaos.has_command(cluster, "forget"):
            chaos.forget_all_but(cluster, 2)
    chaos.edit_account(cluster, rng, rng.randrange(1, 30))
    cluster.cli("backup", *rng.choice(((), ("--full-recheck",))))


def test_soak():
    rng = random.Random(SEED)
    counts, ended = {}, {}
    deadline = time.monotonic() + 60 * MINUTES
    with Cluster(BIN, ACCOUNT, ("--lease_duration=3s",),
                 ("--max_transfers=8", "--idle_limit=5s"),
                 log_level="info") as cluster, \
            Disk(cluster.storage, 1024) as disk:
        cluster.start(workers=2)
        while time.monotonic() < deadline:
            keep_busy(cluster, rng, ended)
            trouble = rng.choice(TROUBLE)
            trouble(cluster, rng, disk)
            counts[trouble.__name__] = counts.get(trouble.__name__, 0) + 1
            time.sleep(rng.uniform(0, 2))
        print(f"trouble: {counts}", flush=True)
        print(f"backups: {sorted(ended.values())}", flush=True)
        cluster.admin("/admin/faults", method="DELETE")
        if chaos.is_running(cluster):
            chaos.await_end(cluster)
        expect(all(process.running() for process in
                   (cluster.coordinator, *cluster.workers)), "somebody died")
        chaos.check_after(cluster)
        check_no_secret(cluster)


if __name__ == "__main__":
    enter_namespace("mount")
    print(f"seed {SEED}, {MINUTES:g} minutes", flush=True)
    sys.exit(check.run([test_soak]))
