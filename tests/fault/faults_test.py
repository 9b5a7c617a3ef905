"""What the fault matrix has no row for: odd versions, sizes, tokens, limits."""

import pathlib
import sys

import check
from check import expect
from cluster import Cluster, Process, wait_for
from verify import account_entries, check_backup, check_no_secret
from verify import snapshot_entries

BIN = pathlib.Path(sys.argv[1])
ACCOUNT = "--account=custom:projects=1,folders=1,files=0,bytes=0"
FOLDER = ["Project Files"]


def project_of(cluster):
    return cluster.admin("/admin/tree")["entries"][0]["project_name"]


def put_file(cluster, path, size=300_000, **more):
    cluster.admin("/admin/edit", {
        "op": "create_file", "project": project_of(cluster),
        "path": FOLDER + path, "size": size, **more})


def add_fault(cluster, match, action):
    return cluster.admin("/admin/faults",
                         {"match": match, "action": action})["id"]


def requests(cluster, endpoint):
    counts = cluster.admin("/admin/requests")["endpoints"]
    return counts[endpoint]["requests"]


def test_empty_and_huge_files():
    """None of the limits that 32 bits, or Autodesk's other tools, have."""
    with Cluster(BIN, (ACCOUNT, "--limits=off")) as cluster:
        put_file(cluster, ["empty.bin"], size=0)
        put_file(cluster, ["five gigabytes.bin"], size=5 << 30, sparse=True)
        cluster.start(workers=1)
        code, backup = cluster.run_backup(seconds=280)
        expect(code == 0, f"exit {code}: {backup} "
               f"{cluster.cli('failures').stdout}")
        expect(requests(cluster, "sign") == 2,
               f"{requests(cluster, 'sign')} signing requests")
        expect(requests(cluster, "storage") <= 2 + (5 << 30) // (8 << 20),
               f"{requests(cluster, 'storage')} storage requests")
        check_backup(cluster)


def test_versions_without_content_are_explained():
    with Cluster(BIN, (ACCOUNT, "--limits=off")) as cluster:
        put_file(cluster, ["plan.pdf"], kind="document", has_storage=False)
        put_file(cluster, ["model.rvt"], kind="c4r", has_storage=False)
        put_file(cluster, ["no size.bin"], has_size=False)
        put_file(cluster, ["no tip", "lost.bin"])
        add_fault(cluster, {"endpoint": "contents", "name": "no tip"},
                  {"type": "omit", "keys": ["included"]})
        cluster.start(workers=1)
        code, backup = cluster.run_backup()
        # The tip that the listing names and does not give is a defect.
        expect(code == 3, f"exit {code}: {backup}")
        failures = cluster.cli("failures").stdout
        expect("no tip" in failures, failures)
        entries = snapshot_entries(cluster)
        project = project_of(cluster)
        for name in ("plan.pdf", "model.rvt"):
            entry = entries[("file", project, (*FOLDER, name))]
            expect(entry["status"] == "no_content" and entry.get("reason"),
                   entry)
        truth = account_entries(cluster)
        key = ("file", project, (*FOLDER, "no size.bin"))
        expect(entries[key]["sha256"] == truth[key]["sha256"], entries[key])
        cluster.admin("/admin/faults", method="DELETE")
        code, backup = cluster.run_backup()
        expect(code == 0, f"exit {code}: {backup}")
        key = ("file", project, (*FOLDER, "no tip", "lost.bin"))
        entries = snapshot_entries(cluster)
        expect(entries[key]["sha256"] == truth[key]["sha256"], entries[key])


def test_token_that_expires_in_mid_run_is_refreshed_once():
    with Cluster(BIN, ("--account=custom:projects=1,folders=40,files=200,"
                       "bytes=2000000", "--limits=off",
                       "--api_latency=20ms")) as cluster:
        cluster.start(workers=1)
        cluster.cli("backup")
        wait_for("some folders are listed",
                 lambda: requests(cluster, "contents") > 5)
        cluster.admin("/admin/tokens", method="DELETE")
        code, backup = cluster.run_watch()
        expect(code == 0, f"exit {code}: {backup}")
        expect(requests(cluster, "token") <= 3,
               f"{requests(cluster, 'token')} tokens fetched")
        check_backup(cluster)
        check_no_secret(cluster)


def test_workers_hold_no_credential():
    with Cluster(BIN, (ACCOUNT,)) as cluster:
        put_file(cluster, ["file.bin"])
        cluster.start(workers=1)
        code, backup = cluster.run_backup()
        expect(code == 0, f"exit {code}: {backup}")
        pid = cluster.workers[0].pid()
        environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
        expect(b"APS_" not in environment, "the worker has APS_ variables")
        metrics = cluster.http("/metrics") + cluster.http("/")
        check_no_secret(cluster, [metrics, cluster.cli("show").stdout,
                                  cluster.cli("workers").stdout])


def test_worker_that_may_open_few_files():
    """It makes do with what it may have, and says so."""
    with Cluster(BIN, ("--account=custom:projects=1,folders=4,files=300,"
                       "bytes=30000000", "--limits=off")) as cluster:
        cluster.start(workers=0)
        worker = Process(cluster.folder, "worker-poor", [
            "prlimit", "--nofile=64:64", *cluster.worker_arguments()],
            {"PATH": "/usr/bin:/bin"})
        cluster.workers.append(worker)
        worker.start()
        code, backup = cluster.run_backup()
        expect(code == 0, f"exit {code}: {backup} "
               f"{cluster.cli('failures').stdout}")
        expect("Too many open files" not in worker.log(), "it ran out")
        check_backup(cluster)


TESTS = [value for name, value in sorted(globals().items())
         if name.startswith("test_")]

if __name__ == "__main__":
    sys.exit(check.run(check.selected(TESTS)))
