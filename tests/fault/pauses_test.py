"""A backup whose storage or state folder cannot be written waits, and says so.

Each disk fills up, turns read-only, vanishes or is denied for real, in a
mount namespace of the test's own. Nothing is tried over and over meanwhile,
no transfer's attempts are used up, and the backup ends whole once the cause
is gone.
"""

import contextlib
import os
import pathlib
import sqlite3
import sys
import time

import check
from check import expect
from cluster import Cluster, wait_for
from disks import Disk, Mount, WITHOUT_OVERRIDE, enter_namespace
from verify import check_backup

BIN = pathlib.Path(sys.argv[1])
ACCOUNT = ("--account=custom:projects=2,folders=8,files=40,bytes=24000000,"
           "largest=2000000", "--limits=off")
# Slow enough that there is a middle to stop in.
SLOW = ("--api_latency=40ms", "--connection_bandwidth=1MB/s")
# Outcomes of attempts: see transfer.proto. A lease that is given back, because
# its grant crossed a call, is none that could be used up.
STORED, RELEASED = 1, 8
# How long a pause is watched for what should not happen in it.
WATCHED_SECONDS = 3


def requests(cluster, endpoint):
    return cluster.admin("/admin/requests")["endpoints"][endpoint]["requests"]


def stored(cluster):
    backup = cluster.backup() or {}
    return int(backup.get("progress", {}).get("transfersStored", 0))


def await_pause(cluster, reason, words):
    """Until backup, health and metrics all say why nothing goes on."""
    def says_so():
        backup = cluster.backup() or {}
        expect("endTime" not in backup, f"ended instead: {backup}")
        return (words in backup.get("message", "")
                and backup["progress"].get("limitedBy") == "LIMIT_STORAGE"
                and words in cluster.http("/healthz")
                and f'bimbackup_paused{{reason="{reason}"}} 1'
                in cluster.http("/metrics"))
    wait_for(f"paused for {reason}: {words!r}", says_so)
    expect(words in cluster.cli("show").stdout, "`show` says why")
    expect(cluster.cli("health").returncode == 0, "a paused server serves")


def check_nothing_is_retried(cluster, allowed=0):
    """What had begun ends; then no more requests than `allowed` go out."""
    def made():
        return requests(cluster, "storage") + requests(cluster, "contents")

    def in_a_while():
        before = made()
        time.sleep(WATCHED_SECONDS)
        return made() - before
    wait_for("it is quiet", lambda: in_a_while() <= allowed, 40)
    expect(in_a_while() <= allowed, "it tries over and over")


def check_end(cluster):
    """The backup ended by itself, whole, as if nothing had happened."""
    backup = wait_for("the backup ends", lambda: (
        (cluster.backup() or {}).get("endTime") and cluster.backup()), 120)
    expect(backup["state"] == "BACKUP_STATE_SUCCEEDED", backup)
    expect(not backup.get("message"), backup)
    wait_for("health is plain again",
             lambda: cluster.http("/healthz") == "ok\n", 10)
    expect('reason="storage_full"} 0' in cluster.http("/metrics"), "unpaused")
    check_backup(cluster)
    with contextlib.closing(sqlite3.connect(
            f"file:{cluster.state / 'catalog.db'}?mode=ro",
            uri=True)) as catalog:
        used_up = catalog.execute(
            "SELECT transfer, outcome, message FROM attempts "
            "WHERE outcome NOT IN (?, ?)", (STORED, RELEASED)).fetchall()
    expect(not used_up, f"attempts were used up: {used_up}")


def start_backup(cluster, *arguments):
    done = cluster.cli("backup", *arguments)
    expect(done.returncode == 0, done.stderr)


def test_full_storage():
    with Cluster(BIN, (*ACCOUNT, *SLOW)) as cluster, \
            Disk(cluster.storage, 64) as disk:
        cluster.start(workers=2)
        disk.fill(leave_megabytes=10)
        start_backup(cluster)
        await_pause(cluster, "storage_full", "full")
        check_nothing_is_retried(cluster)
        # A new process finds it full, too, and waits as well.
        cluster.coordinator.kill()
        cluster.start_coordinator()
        await_pause(cluster, "storage_full", "full")
        disk.make_room()
        check_end(cluster)


def test_storage_that_is_full_for_the_last_file_only():
    with Cluster(BIN, ("--account=custom:projects=1,folders=1,files=0,"
                       "bytes=0", "--limits=off")) as cluster, \
            Disk(cluster.storage, 96) as disk:
        project = cluster.admin("/admin/tree")["entries"][0]["project_name"]
        cluster.admin("/admin/edit", {
            "op": "create_file", "project": project,
            "path": ["Project Files", "large.bin"], "size": 28 << 20})
        cluster.start(workers=1)
        disk.fill(leave_megabytes=20)
        start_backup(cluster)
        # There is room again as soon as the file has failed, but not enough.
        await_pause(cluster, "worker_storage", "MiB are needed")
        check_nothing_is_retried(cluster)
        disk.make_room()
        check_end(cluster)


def test_storage_that_is_full_when_the_snapshot_is_written():
    with Cluster(BIN, ACCOUNT) as cluster, Disk(cluster.storage, 96) as disk:
        cluster.start(workers=1)
        expect(cluster.run_backup()[0] == 0, "the first backup succeeds")
        entry = next(e for e in cluster.admin("/admin/tree")["entries"]
                     if e["kind"] == "file")
        cluster.admin("/admin/edit", {
            "op": "rename", "project": entry["project_name"],
            "path": entry["path"], "name": "renamed.bin"})
        disk.fill()
        start_backup(cluster, "--full-recheck")
        await_pause(cluster, "storage_full", "the snapshot could not be")
        disk.make_room()
        check_end(cluster)


def test_storage_that_is_full_when_the_latest_view_is_made():
    with Cluster(BIN, ACCOUNT, ("--latest=copy",)) as cluster, \
            Disk(cluster.storage, 96) as disk:
        cluster.start(workers=1)
        disk.fill(leave_megabytes=40)
        start_backup(cluster)
        await_pause(cluster, "storage_full", "the latest view is not up to")
        disk.make_room()
        check_end(cluster)


def test_state_folder_that_is_full_while_folders_are_listed():
    with Cluster(BIN, (*ACCOUNT, *SLOW)) as cluster, \
            Disk(cluster.state, 24) as disk:
        cluster.start(workers=1)
        start_backup(cluster)
        wait_for("a folder is listed",
                 lambda: requests(cluster, "contents") > 1)
        disk.fill()
        await_pause(cluster, "catalog_full", "no room in the state folder")
        disk.make_room()
        check_end(cluster)
        expect(requests(cluster, "contents") <= 10 + 8,
               "no folder is listed twice")


def test_state_folder_that_is_full_while_bytes_move():
    with Cluster(BIN, (*ACCOUNT, *SLOW)) as cluster, \
            Disk(cluster.state, 24) as disk:
        cluster.start(workers=1)
        start_backup(cluster)
        wait_for("files are stored", lambda: stored(cluster) > 2)
        disk.fill()
        await_pause(cluster, "catalog_full", "no room in the state folder")
        disk.make_room()
        check_end(cluster)
        expect(requests(cluster, "storage") == 40, "no file came twice")


def test_storage_that_is_read_only():
    with Cluster(BIN, ACCOUNT) as cluster, Disk(cluster.storage, 96) as disk:
        cluster.start(workers=1)
        cluster.workers[0].await_log("connected to the coordinator")
        disk.set_read_only()
        start_backup(cluster)
        await_pause(cluster, "storage_denied", "Read-only file system")
        check_nothing_is_retried(cluster)
        disk.set_writable()
        check_end(cluster)


def test_storage_that_vanishes_and_comes_back():
    with Cluster(BIN, (*ACCOUNT, *SLOW)) as cluster, \
            Disk(cluster.storage, 96) as disk:
        cluster.start(workers=1)
        start_backup(cluster)
        wait_for("files are stored", lambda: stored(cluster) > 2)
        disk.unplug()
        await_pause(cluster, "storage_missing", "is it mounted?")
        counted = stored(cluster)
        check_nothing_is_retried(cluster)
        expect(stored(cluster) == counted, "counted what may be gone")
        expect(not os.listdir(cluster.storage),
               f"written beneath the mount: {os.listdir(cluster.storage)}")
        disk.plug()
        check_end(cluster)


def test_storage_that_one_worker_has_lost():
    with Cluster(BIN, (*ACCOUNT, *SLOW)) as cluster, \
            Disk(cluster.storage, 96):
        cluster.start(workers=0)
        mount = cluster.folder / "mount"
        mount.mkdir()
        with Mount(cluster.storage, mount) as own:
            worker = cluster.add_worker(storage=mount)
            worker.await_log("connected to the coordinator")
            own.unplug()
            worker.await_log("is it mounted")
            start_backup(cluster)
            await_pause(cluster, "worker_storage", "is it mounted?")
            own.plug()
            check_end(cluster)


def test_folder_for_temporary_files_that_is_denied():
    with Cluster(BIN, ACCOUNT, coordinator_prefix=WITHOUT_OVERRIDE,
                 worker_prefix=WITHOUT_OVERRIDE) as cluster:
        cluster.start(workers=1)
        cluster.workers[0].await_log("connected to the coordinator")
        (cluster.storage / "tmp").chmod(0o555)
        start_backup(cluster)
        await_pause(cluster, "storage_denied", "Permission denied")
        check_nothing_is_retried(cluster)
        (cluster.storage / "tmp").chmod(0o755)
        check_end(cluster)


def test_folder_of_blobs_that_is_denied():
    with Cluster(BIN, ACCOUNT, coordinator_prefix=WITHOUT_OVERRIDE,
                 worker_prefix=WITHOUT_OVERRIDE) as cluster:
        cluster.start(workers=1)
        cluster.workers[0].await_log("connected to the coordinator")
        (cluster.storage / "blobs").chmod(0o000)
        start_backup(cluster)
        await_pause(cluster, "worker_storage", "Permission denied")
        # One transfer at a time finds out whether it is still so.
        check_nothing_is_retried(cluster, allowed=3)
        (cluster.storage / "blobs").chmod(0o755)
        check_end(cluster)


TESTS = [value for name, value in sorted(globals().items())
         if name.startswith("test_")]

if __name__ == "__main__":
    enter_namespace("mount")
    sys.exit(check.run(check.selected(TESTS)))
