"""A run ends when it is told to, however long Autodesk makes it wait."""

import pathlib
import sys
import time

import check
from check import expect
from cluster import Cluster, wait_for
from verify import check_backup

BIN = pathlib.Path(sys.argv[1])
ACCOUNT = ("--account=custom:projects=1,folders=10,files=60,bytes=600000",
           "--limits=off")
# What the API answers; its limiter then lets nothing through for so long.
PAUSE = {"type": "status", "status": 429, "retry_after": "600"}
# An answer that does not come.
SILENCE = {"type": "stall", "bytes": -1}


def spoil(cluster, endpoint, action, nth=1):
    cluster.admin("/admin/faults", {
        "match": {"endpoint": endpoint, "nth": nth}, "action": action})


def met(cluster):
    return any(rule["applied"] for rule in
               cluster.admin("/admin/faults")["faults"])


def cancel_quickly(cluster, what):
    started = time.monotonic()
    done = cluster.cli("cancel")
    took = time.monotonic() - started
    expect(done.returncode == 0, done.stderr)
    record = cluster.backup()
    expect(record["state"] == "BACKUP_STATE_CANCELLED", record)
    expect(took < 2, f"{what}: cancelled after {took:.1f} s")


def check_cancel(endpoint, action, nth=1):
    with Cluster(BIN, ACCOUNT) as cluster:
        spoil(cluster, endpoint, action, nth)
        cluster.start(workers=1)
        cluster.cli("backup")
        wait_for("Autodesk makes it wait", lambda: met(cluster))
        cancel_quickly(cluster, endpoint)
        cluster.admin("/admin/faults", method="DELETE")
        if action != PAUSE:
            code, record = cluster.run_backup()
            expect(code == 0, f"exit {code}: {record}")
            check_backup(cluster)


def test_cancel_while_the_limiter_holds_listings_back():
    check_cancel("contents", PAUSE, nth=3)


def test_cancel_while_the_limiter_holds_projects_back():
    check_cancel("projects", PAUSE)


def test_cancel_while_the_limiter_holds_signing_back():
    check_cancel("sign", PAUSE, nth=5)


def test_cancel_while_an_answer_does_not_come():
    for endpoint in ("projects", "contents", "sign"):
        check_cancel(endpoint, SILENCE)


def test_cancel_while_no_token_comes():
    check_cancel("token", SILENCE)


def waiting(cluster):
    """Signing calls that wait for their turn."""
    for line in cluster.http("/metrics").splitlines():
        if "api_waiting{" in line and '"storage"' in line:
            return float(line.split()[-1])
    return 0


def test_the_next_run_does_not_wait_for_what_was_cancelled():
    """Signing that waits for its turn leaves the queue with its backup."""
    with Cluster(BIN, ("--account=custom:projects=1,folders=1,files=60,"
                       "bytes=60000", "--limits=off"),
                 api_budget="1%") as cluster:
        # Three folder pages and ten signed URLs a minute.
        cluster.start(workers=1)
        cluster.cli("backup")
        wait_for("files wait to be signed", lambda: waiting(cluster) > 0)
        cancel_quickly(cluster, "signing")
        wait_for("none waits any more", lambda: waiting(cluster) == 0, 2)


def test_max_duration_is_kept_while_the_limiter_waits():
    with Cluster(BIN, ACCOUNT, ("--max_duration=3s",)) as cluster:
        spoil(cluster, "contents", PAUSE, nth=3)
        cluster.start(workers=1)
        started = time.monotonic()
        code, record = cluster.run_backup()
        took = time.monotonic() - started
        expect(code == 3, f"exit {code}: {record}")
        expect(took < 6, f"ended after {took:.1f} s")
        expect(record.get("snapshot"), record)


def test_the_coordinator_ends_while_the_limiter_waits():
    with Cluster(BIN, ACCOUNT) as cluster:
        spoil(cluster, "contents", PAUSE, nth=3)
        cluster.start(workers=1)
        cluster.cli("backup")
        wait_for("Autodesk makes it wait", lambda: met(cluster))
        started = time.monotonic()
        expect(cluster.coordinator.terminate() == 0,
               cluster.coordinator.exit_code())
        took = time.monotonic() - started
        expect(took < 10, f"ended after {took:.1f} s")


TESTS = [value for name, value in sorted(globals().items())
         if name.startswith("test_")]

if __name__ == "__main__":
    sys.exit(check.run(check.selected(TESTS)))
