"""Each fault of API and storage ends as the design's table says.

Passing faults go together in one backup, each on a file or folder of its
own, so that the slow ones (a stall, a drip) cost their wait once.
"""

import pathlib
import sys

import check
from check import expect
from cluster import Cluster, wait_for
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


def applied(cluster):
    """How often each rule was applied, by its number."""
    return {rule["id"]: rule["applied"]
            for rule in cluster.admin("/admin/faults")["faults"]}


def requests(cluster, endpoint):
    counts = cluster.admin("/admin/requests")["endpoints"]
    return counts[endpoint]["requests"]


# Name of the file: the fault on its bytes, once.
STORAGE_FAULTS = {
    "500.bin": {"type": "status", "status": 500},
    "503.bin": {"type": "status", "status": 503,
                "body": "<Error><Code>SlowDown</Code></Error>"},
    "429 seconds.bin": {"type": "status", "status": 429, "retry_after": "1"},
    "403 expired.bin": {"type": "status", "status": 403, "body":
                        "<Error><Code>AccessDenied</Code>"
                        "<Message>Request has expired</Message></Error>"},
    "reset at once.bin": {"type": "reset", "bytes": -1},
    "reset inside.bin": {"type": "reset", "bytes": 100_000},
    "short.bin": {"type": "short", "bytes": 100_000},
    "truncated.bin": {"type": "truncate", "bytes": 100_000},
    "corrupt.bin": {"type": "corrupt", "bytes": 150_000},
    "stall before.bin": {"type": "stall", "bytes": -1},
    "stall inside.bin": {"type": "stall", "bytes": 100_000},
    "chunked transfer.bin": {"type": "transfer_chunked"},
}
# The same on the answer that signs it.
SIGN_FAULTS = {
    "sign 500.bin": {"type": "status", "status": 500},
    "sign 429 date.bin": {"type": "status", "status": 429,
                          "retry_after": "date:2"},
    "sign expired.bin": {"type": "expired"},
    "sign malformed.bin": {"type": "malformed_json"},
    "sign reset.bin": {"type": "reset", "bytes": -1},
    "sign chunks.bin": {"type": "chunked_urls", "bytes": 70_000},
    "sign fallback.bin": {"type": "fallback"},
    "sign no sha1.bin": {"type": "omit", "keys": ["sha1"]},
}


def test_passing_faults_leave_a_whole_backup():
    with Cluster(BIN, (ACCOUNT, "--limits=off")) as cluster:
        rules = {}
        for name, action in {**STORAGE_FAULTS, **SIGN_FAULTS}.items():
            put_file(cluster, [name])
            endpoint = "sign" if name in SIGN_FAULTS else "storage"
            rules[name] = add_fault(
                cluster, {"endpoint": endpoint, "name": name, "count": 1},
                action)
        put_file(cluster, ["empty.bin"], size=0)
        put_file(cluster, ["five gigabytes.bin"], size=5 << 30, sparse=True)
        cluster.start(workers=1)
        code, backup = cluster.run_backup(seconds=280)
        expect(code == 0, f"exit {code}: {backup} "
               f"{cluster.cli('failures').stdout}")
        expect(backup["state"] == "BACKUP_STATE_SUCCEEDED", backup)
        check_backup(cluster)
        counts = applied(cluster)
        for name, rule in rules.items():
            expect(counts[rule] == 1, f"{name}: applied {counts[rule]} times")
        files = len(rules) + 2
        # No fault costs more than three requests besides the regular ones;
        # the 5 GiB file comes in parts.
        expect(requests(cluster, "sign") <= files + 3 * len(rules),
               f"{requests(cluster, 'sign')} signing requests")
        expect(requests(cluster, "storage") <= files + 3 * len(rules) + 700,
               f"{requests(cluster, 'storage')} storage requests")
        check_no_secret(cluster)


# Name of the folder: the fault on its listing, once.
LISTING_FAULTS = {
    "list 500": {"type": "status", "status": 500},
    "list 503": {"type": "status", "status": 503},
    "list 429": {"type": "status", "status": 429, "retry_after": "1"},
    "list 429 date": {"type": "status", "status": 429,
                      "retry_after": "date:2"},
    "list 401": {"type": "status", "status": 401},
    "list reset": {"type": "reset", "bytes": 50},
    "list short": {"type": "short", "bytes": 50},
    "list relative": {"type": "next_relative"},
    "list no digits": {"type": "fraction_digits", "bytes": 0},
    "list seven digits": {"type": "fraction_digits", "bytes": 7},
    "list no sizes": {"type": "omit", "keys": ["storageSize"]},
}


def test_passing_listing_faults_leave_a_whole_backup():
    with Cluster(BIN, (ACCOUNT, "--limits=off")) as cluster:
        rules = {}
        for name, action in LISTING_FAULTS.items():
            count = 250 if action["type"] == "next_relative" else 3
            for i in range(count):
                put_file(cluster, [name, f"{i:03}.bin"], size=1000 + i)
            rules[name] = add_fault(
                cluster, {"endpoint": "contents", "name": name, "count": 1},
                action)
        cluster.start(workers=1)
        code, backup = cluster.run_backup()
        expect(code == 0, f"exit {code}: {backup} "
               f"{cluster.cli('failures').stdout}")
        check_backup(cluster)
        counts = applied(cluster)
        for name, rule in rules.items():
            expect(counts[rule] == 1, f"{name}: applied {counts[rule]} times")
        expect(requests(cluster, "contents") <= 3 * len(rules) + 6,
               f"{requests(cluster, 'contents')} listing requests")
        check_no_secret(cluster)


# Name of the folder: the fault on its listing, for ever, and a word of the
# reason that `failures` gives.
LASTING_LISTING_FAULTS = {
    "loop": ({"type": "next_loop"}, "loop"),
    "foreign": ({"type": "next_foreign"}, "host"),
    "malformed": ({"type": "malformed_json"}, ""),
    "forbidden": ({"type": "status", "status": 403}, "403"),
    "gone": ({"type": "status", "status": 404}, "404"),
    "broken": ({"type": "status", "status": 500}, "500"),
}


def test_lasting_listing_faults_are_named_and_the_rest_goes_on():
    with Cluster(BIN, (ACCOUNT, "--limits=off")) as cluster:
        for name, (action, _) in LASTING_LISTING_FAULTS.items():
            for i in range(250):
                put_file(cluster, [name, f"{i:03}.bin"], size=100 + i)
        put_file(cluster, ["good", "file.bin"])
        put_file(cluster, ["cycle", "file.bin"])
        for name, (action, _) in LASTING_LISTING_FAULTS.items():
            add_fault(cluster, {"endpoint": "contents", "name": name}, action)
        add_fault(cluster, {"endpoint": "contents", "name": "cycle"},
                  {"type": "cycle"})
        cluster.start(workers=1)
        code, backup = cluster.run_backup()
        expect(code == 3, f"exit {code}: {backup}")
        expect(backup["state"] == "BACKUP_STATE_PARTIAL", backup)
        failures = cluster.cli("failures").stdout
        for name, (_, word) in LASTING_LISTING_FAULTS.items():
            lines = [line for line in failures.splitlines()
                     if name in line and word in line]
            expect(lines, f"{name} ({word}) is not in:\n{failures}")
        entries = snapshot_entries(cluster)
        for good in (("good", "file.bin"), ("cycle", "file.bin")):
            key = ("file", project_of(cluster), tuple(FOLDER) + good)
            expect(entries[key].get("sha256"), f"{key} is not stored")
        # Every retry has an end.
        expect(requests(cluster, "contents") < 60,
               f"{requests(cluster, 'contents')} listing requests")
        cluster.admin("/admin/faults", method="DELETE")
        code, backup = cluster.run_backup()
        expect(code == 0, f"exit {code}: {backup} "
               f"{cluster.cli('failures').stdout}")
        check_backup(cluster)


# Name of the file: endpoint, the fault for ever.
LASTING_FILE_FAULTS = {
    "gone.bin": ("sign", {"type": "status", "status": 404}),
    "forbidden.bin": ("sign", {"type": "status", "status": 403}),
    "no object.bin": ("storage", {"type": "status", "status": 404}),
    "refused.bin": ("storage", {"type": "status", "status": 403}),
    "always corrupt.bin": ("storage", {"type": "corrupt", "bytes": 10}),
    "always short.bin": ("storage", {"type": "short", "bytes": 1000}),
    "always 500.bin": ("storage", {"type": "status", "status": 500}),
    "redirected.bin": ("storage", {"type": "redirect", "location":
                                   "http://169.254.169.254/latest"}),
}


def test_lasting_file_faults_are_named_with_their_attempts():
    with Cluster(BIN, (ACCOUNT, "--limits=off")) as cluster:
        put_file(cluster, ["good.bin"])
        for name, (endpoint, action) in LASTING_FILE_FAULTS.items():
            put_file(cluster, [name])
            add_fault(cluster, {"endpoint": endpoint, "name": name}, action)
        cluster.start(workers=1)
        code, backup = cluster.run_backup(seconds=280)
        expect(code == 3, f"exit {code}: {backup}")
        failures = cluster.cli("failures").stdout
        entries = snapshot_entries(cluster)
        for name in LASTING_FILE_FAULTS:
            expect(name in failures, f"{name} is not in:\n{failures}")
            key = ("file", project_of(cluster), (*FOLDER, name))
            expect(entries[key]["status"] == "failed", entries[key])
            expect(entries[key].get("reason"), entries[key])
        for record in cluster.cli_json("failures"):
            for transfer in record.get("transfers", [record]):
                expect(transfer.get("attempts"), f"no attempt: {transfer}")
        expect(requests(cluster, "storage") < 30 * len(LASTING_FILE_FAULTS),
               f"{requests(cluster, 'storage')} storage requests")
        cluster.admin("/admin/faults", method="DELETE")
        cluster.admin("/admin/requests", method="DELETE")
        code, backup = cluster.run_backup()
        expect(code == 0, f"exit {code}: {backup}")
        expect(requests(cluster, "sign") == len(LASTING_FILE_FAULTS),
               "the next run retries just what failed")
        check_backup(cluster)
        check_no_secret(cluster, [failures])


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


def test_huge_sizes_are_refused_and_the_rest_goes_on():
    with Cluster(BIN, (ACCOUNT, "--limits=off")) as cluster:
        put_file(cluster, ["huge", "file.bin"])
        put_file(cluster, ["good", "file.bin"])
        add_fault(cluster, {"endpoint": "contents", "name": "huge"},
                  {"type": "huge_size"})
        cluster.start(workers=1)
        cluster.run_backup()
        key = ("file", project_of(cluster), (*FOLDER, "good", "file.bin"))
        expect(snapshot_entries(cluster)[key].get("sha256"), "not stored")


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


TESTS = [value for name, value in sorted(globals().items())
         if name.startswith("test_")]

if __name__ == "__main__":
    sys.exit(check.run(check.selected(TESTS)))
