"""Limits that change while a backup runs."""

import pathlib
import sys

import check
from check import expect
from cluster import Cluster, wait_for
from verify import check_backup

BIN = pathlib.Path(sys.argv[1])


def listed_workers(cluster):
    pages = cluster.cli_json("workers")
    return [worker for page in pages for worker in page.get("workers", [])]


def set_limits(cluster, *arguments):
    """Changes limits; returns them as they are read back."""
    done = cluster.cli("limits", *arguments)
    expect(done.returncode == 0, f"limits {arguments}: {done.stderr}")
    return cluster.cli_json("limits")[0]["limits"]


def bandwidths(cluster):
    """The last bandwidth that each worker was told, by worker."""
    told = []
    for worker in cluster.workers:
        lines = [line.split("bandwidth: ")[1].split()[0]
                 for line in worker.log().splitlines()
                 if "bandwidth: " in line]
        told.append(int(lines[-1]) if lines else None)
    return told


def await_bandwidths(cluster, *wanted):
    wait_for(f"the workers' bandwidths are {wanted}, last "
             f"{bandwidths(cluster)}",
             lambda: sorted(bandwidths(cluster)) == sorted(wanted))


def test_bandwidth_changes_while_a_backup_runs():
    with Cluster(BIN, ("--account=custom:projects=1,folders=8,files=80,"
                       "bytes=80000000", "--limits=off")) as cluster:
        cluster.start(workers=2)
        # Slow enough to be lowered in the middle.
        set_limits(cluster, "--max_bandwidth=1MB")
        expect(cluster.cli("backup").returncode == 0, "backup")
        wait_for("both workers hold leases",
                 lambda: sum(worker.get("leases", 0) > 0
                             for worker in listed_workers(cluster)) == 2)
        limits = set_limits(cluster, "--max_bandwidth=20KB")
        expect(limits["maxBandwidth"] == "20000", limits)
        await_bandwidths(cluster, 10000, 10000)
        check_one_worker(cluster)
        record = cluster.backup()
        expect(record["state"] == "BACKUP_STATE_TRANSFERRING", record)
        limits = set_limits(cluster, "--max_bandwidth=unlimited")
        expect(int(limits.get("maxBandwidth", 0)) == 0, limits)
        # At 20 KB/s, what is left would take the best part of an hour.
        code, record = cluster.run_watch(seconds=120)
        expect(code == 0, f"exit {code}: {record}")
        await_bandwidths(cluster, 0, 0)
        check_backup(cluster)


def check_one_worker(cluster):
    """What one worker may not use of the cap of all goes to the other."""
    worker_id = listed_workers(cluster)[0]["workerId"]
    limits = set_limits(cluster, "--max_bandwidth=5KB", "--worker", worker_id)
    expect(limits["workerBandwidth"] == {worker_id: "5000"}, limits)
    await_bandwidths(cluster, 5000, 15000)
    limits = set_limits(cluster, "--max_bandwidth=unlimited", "--worker",
                        worker_id)
    expect(not limits.get("workerBandwidth"), limits)
    await_bandwidths(cluster, 10000, 10000)
    done = cluster.cli("limits", "--max_bandwidth=1MB", "--worker", "nobody")
    expect(done.returncode == 1, f"{done.returncode} {done.stderr}")


TESTS = [value for name, value in sorted(globals().items())
         if name.startswith("test_")]

if __name__ == "__main__":
    sys.exit(check.run(check.selected(TESTS)))
