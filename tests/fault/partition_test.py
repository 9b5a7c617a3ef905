"""Worker, coordinator and Autodesk cut from each other, and joined again.

In network namespaces of the test's own, for longer than a lease lasts. What
is sent meanwhile is lost without a word. Afterwards the backup ends whole, no
transfer is counted twice, and a late result counts only where its blob is
whole.
"""

import pathlib
import subprocess
import sys
import time

import check
from check import expect
from cluster import Cluster, wait_for
from disks import enter_namespace
from nets import Machine, bring_up_loopback
from verify import check_backup, sha256_of

BIN = pathlib.Path(sys.argv[1])
SLOW = ("--connection_bandwidth=500KB/s", "--limits=off")
FILES = 24
ACCOUNT = (f"--account=custom:projects=1,folders=3,files={FILES},"
           "bytes=12000000,largest=1000000")
LEASE_SECONDS = 3
QUIET_SECONDS = 6
CONTROL, BYTES = "10.77.1", "10.77.2"


def insecure_flag():
    """Listening elsewhere than on loopback has to be asked for."""
    text = subprocess.run([BIN / "bimbackup-coordinator", "--help"],
                          capture_output=True, text=True, timeout=30,
                          check=False).stdout
    return ("--insecure",) if "--insecure" in text else ()


def make_cluster(account, *flags, coordinator="127.0.0.1", prefix=()):
    """A cluster whose emulator is 10.77.2.1."""
    cluster = Cluster(
        BIN, account, (f"--lease_duration={LEASE_SECONDS}s",
                       f"--allowed_hosts={BYTES}.1", *insecure_flag(),
                       *flags),
        ("--max_transfers=4", f"--allowed_hosts={BYTES}.1"),
        coordinator_host=coordinator, emulator_host=f"{BYTES}.1",
        coordinator_prefix=prefix)
    return cluster


def progress(cluster):
    return (cluster.backup() or {}).get("progress", {})


def leases_of_first_worker(cluster):
    """How many leases the coordinator thinks that worker 0 holds."""
    pid = cluster.workers[0].pid()
    for message in cluster.cli_json("workers"):
        for worker in message.get("workers", [message]):
            if worker.get("displayName", "").endswith(f" {pid}"):
                return int(worker.get("leases", worker.get("leaseCount", 0)))
    return 0


def part_files(cluster):
    return list((cluster.storage / "tmp").glob("*.part"))


def blobs(cluster):
    return list((cluster.storage / "blobs" / "sha256").glob("*/*"))


def await_end(cluster, state="BACKUP_STATE_SUCCEEDED"):
    backup = wait_for("the backup ends", lambda: (
        (cluster.backup() or {}).get("endTime") and cluster.backup()), 120)
    expect(backup["state"] == state,
           f"{backup} {cluster.cli('failures').stdout}")
    return backup


def check_counted_once(cluster, backup):
    """Every object was counted once, whoever stored it how often."""
    counts = backup["progress"]
    found = blobs(cluster)
    expect(int(counts["transfers"]) == FILES, counts)
    expect(int(counts["transfersStored"]) == FILES, counts)
    expect(int(counts.get("transfersFailed", 0)) == 0, counts)
    expect(len(found) == FILES, f"{len(found)} blobs")
    expect(int(counts["bytesStored"]) == sum(b.stat().st_size for b in found),
           counts)
    check_backup(cluster)


def start_backup(cluster):
    expect(cluster.cli("backup").returncode == 0, "backup starts")


def test_worker_that_is_cut_off_while_another_is_not():
    with Machine("far", CONTROL, BYTES) as machine, \
            make_cluster((ACCOUNT, *SLOW),
                         coordinator=f"{CONTROL}.1") as cluster:
        cluster.start(workers=0)
        cluster.add_worker(prefix=machine.prefix())
        start_backup(cluster)
        wait_for("the far worker holds leases",
                 lambda: leases_of_first_worker(cluster) > 4)
        cluster.add_worker()
        machine.cut(CONTROL)
        # Its bytes go on meanwhile, and it commits blobs nobody hears of.
        wait_for("its leases are over",
                 lambda: leases_of_first_worker(cluster) == 0)
        wait_for("the other one stores some",
                 lambda: int(progress(cluster).get("transfersStored", 0)) > 12)
        machine.join(CONTROL)
        check_counted_once(cluster, await_end(cluster))


def test_late_results_are_adopted_where_their_blobs_are_whole():
    with Machine("far", CONTROL, BYTES) as machine, \
            make_cluster((ACCOUNT, *SLOW),
                         coordinator=f"{CONTROL}.1") as cluster:
        cluster.start(workers=0)
        cluster.add_worker(prefix=machine.prefix())
        start_backup(cluster)
        wait_for("the far worker holds all that is left", lambda: (
            leases_of_first_worker(cluster)
            + int(progress(cluster).get("transfersStored", 0)) == FILES))
        machine.cut(CONTROL)
        wait_for("its leases are over",
                 lambda: leases_of_first_worker(cluster) == 0)
        wait_for("all that had begun is done", lambda: not part_files(cluster))
        reported = int(progress(cluster).get("transfersStored", 0))
        late = blobs(cluster)
        expect(len(late) - reported >= 2, f"{len(late)} blobs, {reported} told")
        # One of them is lost, one torn, before anybody hears of them.
        newest = sorted(late, key=lambda blob: blob.stat().st_mtime)[-2:]
        newest[0].unlink()
        size = newest[1].stat().st_size
        newest[1].chmod(0o644)
        with open(newest[1], "r+b") as torn:
            torn.truncate(size // 2)
        asked = storage_requests(cluster)
        machine.join(CONTROL)
        check_counted_once(cluster, await_end(cluster))
        # Only what was not whole came again, and what had not begun.
        expect(storage_requests(cluster) - asked <= FILES - len(late) + 2,
               f"{storage_requests(cluster) - asked} requests after the cut")


def is_quiet(cluster):
    """Whether the emulator was asked for no folder for some seconds."""
    def asked():
        counts = cluster.admin("/admin/requests")["endpoints"]
        return counts["contents"]["requests"]
    before = asked()
    time.sleep(QUIET_SECONDS)
    return asked() == before


def storage_requests(cluster):
    return cluster.admin("/admin/requests")["endpoints"]["storage"]["requests"]


def test_coordinator_that_is_cut_from_autodesk():
    account = "--account=custom:projects=2,folders=600,files=24,bytes=2400000"
    with Machine("hub", CONTROL, BYTES) as machine, \
            make_cluster((account, "--limits=off", "--api_latency=300ms"),
                         coordinator=f"{CONTROL}.2",
                         prefix=machine.prefix()) as cluster:
        cluster.start(workers=1)
        start_backup(cluster)
        wait_for("folders are listed", lambda: int(
            progress(cluster).get("foldersListed", 0)) > 5)
        machine.cut(BYTES)
        wait_for("no call arrives any more", lambda: is_quiet(cluster))
        machine.join(BYTES)
        backup = wait_for("the backup ends", lambda: (
            (cluster.backup() or {}).get("endTime") and cluster.backup()), 240)
        before = {blob: sha256_of(blob) for blob in blobs(cluster)}
        if backup["state"] != "BACKUP_STATE_SUCCEEDED":
            # Cut for longer than calls are repeated: it says so by name.
            expect(backup["state"] == "BACKUP_STATE_PARTIAL", backup)
            expect(cluster.cli("failures").stdout, backup)
            start_backup(cluster)
            await_end(cluster)
        for blob, digest in before.items():
            expect(sha256_of(blob) == digest, f"{blob} changed")
        check_backup(cluster)


TESTS = [value for name, value in sorted(globals().items())
         if name.startswith("test_")]

if __name__ == "__main__":
    enter_namespace("net")
    bring_up_loopback()
    sys.exit(check.run(check.selected(TESTS)))
