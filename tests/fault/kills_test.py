"""SIGKILL at random moments: the backup ends whole, nothing is done twice.

A worker dies 20 times and the coordinator 20 times while bytes move, and the
coordinator once at each of its failpoints, so that its deaths spread over
crawl, signing, commit and manifest writing. URLs are signed in batches, but
for the worker's deaths at its failpoints.
"""

import os
import pathlib
import random
import sys
import time

import check
from check import expect
from cluster import Cluster, wait_for
from verify import check_backup, check_no_secret, committed_pages

BIN = pathlib.Path(sys.argv[1])
SEED = int(os.environ.get("BIMBACKUP_SEED") or random.randrange(1 << 32))
KILLS = int(os.environ.get("BIMBACKUP_KILLS") or 20)
ACCOUNT = ("--account=custom:projects=2,folders=60,files=240,"
           "bytes=240000000,largest=12000000")
# So that what a dead worker held soon goes to others.
LEASE = ("--lease_duration=5s",)
SLOW = ("--api_latency=30ms", "--first_byte_latency=50ms",
        "--connection_bandwidth=1MB/s", "--limits=off")
BATCHES = "--batch_sign=on"
FAILPOINTS = (
    "catalog.page_commit.before:7", "catalog.page_commit.after:11",
    "crawl.page_listed:5", "coordinator.signed:9", "coordinator.granted:3",
    "coordinator.before_results_commit:2", "catalog.results_commit:3",
    "coordinator.committing", "snapshot.manifest", "snapshot.manifests",
    "snapshot.file", "latest.marked", "latest.removed", "latest.added")
WORKER_FAILPOINTS = (
    "worker.part_recorded:2", "worker.before_commit:3",
    "storage.commit.durable:2", "storage.commit.moved:2",
    "worker.after_commit:3", "worker.before_report:2")


def live_lease_and_partial_file(cluster):
    """Whether a worker holds a lease and a temporary file holds bytes."""
    backup = cluster.backup()
    if backup is None or "endTime" in backup:
        return False
    leased = int(backup.get("progress", {}).get("transfersLeased", 0))
    return leased > 0 and bool(cluster.partial_files())


def running(cluster):
    backup = cluster.backup()
    return backup is not None and "endTime" not in backup


def await_end(cluster, seconds=300):
    return wait_for("the backup ends", lambda: (
        (cluster.backup() or {}).get("endTime") and cluster.backup()), seconds)


def kill_while_bytes_move(cluster, rng, kill, restart, times):
    """Kills `times` times; returns how often a lease and a part were live."""
    live = 0
    for _ in range(times):
        if not running(cluster):
            break
        try:
            wait_for("a lease and a partial file", lambda:
                     live_lease_and_partial_file(cluster), 30)
        except AssertionError:
            break
        time.sleep(rng.uniform(0, 0.3))  # The random moment.
        hit = live_lease_and_partial_file(cluster)
        kill()
        live += hit
        restart()
    return live


def check_whole(cluster, pages_before):
    """The ended backup is SUCCEEDED and whole; committed pages stayed so."""
    backup = await_end(cluster)
    expect(backup["state"] == "BACKUP_STATE_SUCCEEDED", backup)
    check_backup(cluster)
    asked = cluster.admin("/admin/requests")["pages"]
    for page, committed_asks in pages_before.items():
        expect(asked[page]["requests"] == committed_asks,
               f"{page} was committed, then asked for again")


def note_committed_pages(cluster, pages):
    """Remembers how often each page had been asked for once committed."""
    asked = cluster.admin("/admin/requests")["pages"]
    for page in committed_pages(cluster) & set(asked):
        pages.setdefault(page, asked[page]["requests"])


def count_batches(cluster):
    """How many batches of URLs were signed."""
    counts = cluster.admin("/admin/requests")["endpoints"]
    return counts["batch_sign"]["answered"]


def test_worker_killed_while_bytes_move():
    rng = random.Random(SEED)
    with Cluster(BIN, (ACCOUNT, *SLOW, BATCHES), LEASE,
                 worker_flags=("--max_transfers=4",)) as cluster:
        cluster.start(workers=2)
        expect(cluster.cli("backup").returncode == 0, "backup starts")
        turn = iter(range(1 << 30))
        victim = []

        def kill():
            victim[:] = [cluster.workers[next(turn) % 2]]
            victim[0].kill()

        live = kill_while_bytes_move(cluster, rng, kill,
                                     lambda: victim[0].start(), KILLS)
        expect(live >= KILLS * 3 // 4, f"only {live} kills hit live leases")
        print(f"worker: {live} of {KILLS} kills with a live lease and part")
        check_whole(cluster, {})
        expect(count_batches(cluster) > 0, "no URL was signed in a batch")
        check_no_secret(cluster)


def test_coordinator_killed_while_bytes_move():
    rng = random.Random(SEED + 1)
    pages = {}
    with Cluster(BIN, (ACCOUNT, *SLOW, BATCHES), LEASE,
                 worker_flags=("--max_transfers=4",)) as cluster:
        cluster.start(workers=2)
        expect(cluster.cli("backup").returncode == 0, "backup starts")

        def kill():
            cluster.coordinator.kill()
            note_committed_pages(cluster, pages)

        live = kill_while_bytes_move(cluster, rng, kill,
                                     cluster.start_coordinator, KILLS)
        expect(live >= KILLS * 3 // 4, f"only {live} kills hit live leases")
        print(f"coordinator: {live} of {KILLS} kills with a live lease and "
              "part")
        check_whole(cluster, pages)
        expect(count_batches(cluster) > 0, "no URL was signed in a batch")
        check_no_secret(cluster)


def test_coordinator_killed_at_every_step():
    pages = {}
    batches = 0
    with Cluster(BIN, (ACCOUNT, "--size_scale=0.1", "--limits=off", BATCHES),
                 LEASE) as cluster:
        cluster.start(workers=2)
        for failpoint in FAILPOINTS:
            cluster.coordinator.terminate()
            cluster.coordinator.start({"BIMBACKUP_FAILPOINT": failpoint})
            wait_for("the coordinator answers or dies", lambda:
                     not cluster.coordinator.running()
                     or cluster.cli("list").returncode == 0)
            if not running(cluster):
                change_every_file(cluster)
                cluster.cli("backup")
            wait_for(f"death at {failpoint}",
                     lambda: not cluster.coordinator.running(), 90)
            expect(cluster.coordinator.exit_code() == -9, failpoint)
            note_committed_pages(cluster, pages)
            cluster.start_coordinator()
            check_whole(cluster, pages)
            batches += count_batches(cluster)
            cluster.admin("/admin/requests", method="DELETE")
            pages.clear()
        expect(batches > 0, "no URL was signed in a batch")
        check_no_secret(cluster)


def change_every_file(cluster):
    """So that the next backup has folders to list and bytes to move."""
    edits = [{"op": "change_file", "project": entry["project_name"],
              "path": entry["path"], "size": entry["size"]}
             for entry in cluster.admin("/admin/tree")["entries"]
             if entry["kind"] == "file"]
    cluster.admin("/admin/edit", edits)


def put_file_of_several_parts(cluster):
    entries = cluster.admin("/admin/tree")["entries"]
    cluster.admin("/admin/edit", {
        "op": "create_file", "project": entries[0]["project_name"],
        "path": ["Project Files", "large.bin"], "size": 100_000_000})


def test_worker_killed_at_every_step():
    with Cluster(BIN, ("--account=custom:projects=1,folders=5,files=40,"
                       "bytes=4000000", "--limits=off"), LEASE) as cluster:
        put_file_of_several_parts(cluster)
        cluster.start(workers=1)
        for failpoint in WORKER_FAILPOINTS:
            worker = cluster.workers[0]
            worker.terminate()
            worker.start({"BIMBACKUP_FAILPOINT": failpoint})
            change_every_file(cluster)
            cluster.cli("backup")
            wait_for(f"death at {failpoint}",
                     lambda worker=worker: not worker.running(), 90)
            expect(worker.exit_code() == -9, failpoint)
            worker.start()
            check_whole(cluster, {})
        check_no_secret(cluster)


TESTS = [value for name, value in sorted(globals().items())
         if name.startswith("test_")]

if __name__ == "__main__":
    print(f"seed {SEED}", flush=True)
    sys.exit(check.run(check.selected(TESTS)))
