"""Every fault of the emulator on every kind of file and answer.

The kinds: a file of 10 KB, one of 200 MB that comes in parts, and one of
200 MB whose worker was killed half-way. Cases that pass end stored and whole,
those that last end named, the rest goes on, and no case makes more requests
than its bound. What would take minutes of real time (a stall that lasts) is
proven on a clock of its own by engine_test.
"""

import collections
import pathlib
import sys

import check
from check import expect
from cluster import Cluster, wait_for
from matrix_cases import LARGE, RESUMED, SIZES, SMALL
from matrix_cases import LASTING_LISTING_CASES, LASTING_SIGN_CASES
from matrix_cases import LASTING_STORAGE_CASES, LISTING_CASES, SIGN_CASES
from matrix_cases import STORAGE_CASES, status
from verify import check_backup, check_no_secret, snapshot_entries

BIN = pathlib.Path(sys.argv[1])
ACCOUNT = "--account=custom:projects=1,folders=1,files=0,bytes=0"
FOLDER = ["Project Files"]
# Requests of a resumed file that are answered before its worker is killed.
STAGED = 3


class Matrix:
    """The cases of one kind of files, each on a file of its own."""

    def __init__(self, cluster, kinds, cases, sizes=SIZES):
        """`cases` are pairs of the endpoint that is spoiled and a case."""
        self.cluster = cluster
        self.project = cluster.admin("/admin/tree")["entries"][0][
            "project_name"]
        self.files = {f"{case.name} {kind}.bin": (kind, endpoint, case)
                      for endpoint, case in cases
                      for kind in case.kinds if kind in kinds}
        self.rules = {}
        cluster.admin("/admin/edit", [
            {"op": "create_file", "project": self.project,
             "path": [*FOLDER, name], "size": sizes[kind],
             "sparse": not case.mixed}
            for name, (kind, _, case) in self.files.items()])
        tree = cluster.admin("/admin/tree")["entries"]
        self.objects = {entry["path"][-1]: entry["storage_urn"].split("/")[-1]
                        for entry in tree if entry["kind"] == "file"}

    def spoil(self):
        """Adds every case's rule."""
        for name, (kind, endpoint, case) in self.files.items():
            if kind == RESUMED and endpoint == "sign":
                self.add_rule({"endpoint": "storage", "name": name,
                               "count": 1}, status(403))
            self.rules[name] = self.add_rule(
                {"endpoint": endpoint, "name": name, "nth": case.nth,
                 "count": case.count if not case.failed else -1},
                case.action)

    def add_rule(self, match, action):
        return self.cluster.admin("/admin/faults", {
            "match": match, "action": action})["id"]

    def stage(self):
        """Kills the workers while every file has some parts and no more."""
        for name in self.files:
            # Neither overload nor an occupied slot: the part waits.
            self.add_rule({"endpoint": "storage", "name": name,
                           "nth": STAGED + 1}, status(408, retry_after="300"))
        self.cluster.cli("backup")
        wait_for("every file is under way", self.is_staged, 120)
        for worker in self.cluster.workers:
            worker.kill()
        self.cluster.admin("/admin/faults", method="DELETE")
        self.cluster.admin("/admin/requests", method="DELETE")

    def is_staged(self):
        asked = self.counts("objects")
        if any(asked[name] <= STAGED for name in self.files):
            return False
        recorded = 0
        for path in (self.cluster.storage / "tmp").iterdir():
            with open(path, "rb") as journal:
                recorded += b" range " in journal.read(4096)
        return recorded >= len(self.files)

    def counts(self, kind):
        """Requests by file: of "objects", or "signed"."""
        by_object = self.cluster.admin("/admin/requests")[kind]
        return {name: by_object.get(self.objects[name], {}).get("requests", 0)
                for name in self.files}

    def check(self):
        """Every case ended as it must, within its bound of requests."""
        stored, signed = self.counts("objects"), self.counts("signed")
        applied = {rule["id"]: rule["applied"] for rule in
                   self.cluster.admin("/admin/faults")["faults"]}
        failures = self.cluster.cli("failures").stdout.splitlines()
        entries = snapshot_entries(self.cluster)
        wrong = []
        for name, (kind, endpoint, case) in self.files.items():
            key = ("file", self.project, (*FOLDER, name))
            problems = self.outcome_problems(case, name, entries[key],
                                             failures)
            again = kind == RESUMED and endpoint == "sign"
            limit = case.storage_bound(kind) + again
            if stored[name] > limit:
                problems.append(f"{stored[name]} requests, not {limit}")
            limit = case.sign + (kind != RESUMED or again)
            if signed[name] > limit:
                problems.append(f"signed {signed[name]} times, not {limit}")
            if applied[self.rules[name]] == 0:
                problems.append("the fault was not met")
            wrong += [f"{name}: {problem}" for problem in problems]
        expect(not wrong, "\n".join([f"{len(wrong)} problems:", *wrong]))
        for message in self.cluster.cli_json("failures"):
            for record in message.get("transfers", [message]):
                expect(record.get("attempts"), f"no attempt: {record}")

    @staticmethod
    def outcome_problems(case, name, entry, failures):
        if not case.failed:
            if entry.get("status") == "stored" and entry.get("sha256"):
                return []
            reason = [line for line in failures if name in line]
            return [f"{entry.get('status')}: {reason}"]
        if entry.get("status") != "failed" or entry.get("sha256"):
            return [f"{entry.get('status')} and not failed"]
        lines = [line for line in failures if name in line]
        if not any(case.failed in line.split(name)[1] for line in lines):
            return [f"{case.failed!r} is not in {lines}"]
        return []


def all_cases():
    return [("storage", case)
            for case in STORAGE_CASES + LASTING_STORAGE_CASES] + [
        ("sign", case) for case in SIGN_CASES + LASTING_SIGN_CASES]


def start_cluster():
    return Cluster(BIN, (ACCOUNT, "--limits=off"),
                   worker_flags=("--idle_limit=5s",))


def end_with_mended(cluster):
    """Without faults the next backup fetches just what is missing."""
    cluster.admin("/admin/faults", method="DELETE")
    cluster.admin("/admin/requests", method="DELETE")
    failed = sum(1 for entry in snapshot_entries(cluster).values()
                 if entry.get("status") == "failed")
    code, backup = cluster.run_backup(seconds=500)
    expect(code == 0, f"exit {code}: {backup} "
           f"{cluster.cli('failures').stdout}")
    signed = cluster.admin("/admin/requests")["endpoints"]["sign"]["requests"]
    expect(signed == failed, f"{signed} files signed, {failed} had failed")
    check_backup(cluster)
    check_no_secret(cluster)


def test_files_small_and_in_parts():
    with start_cluster() as cluster:
        matrix = Matrix(cluster, (SMALL, LARGE), all_cases())
        matrix.spoil()
        cluster.start(workers=2)
        code, backup = cluster.run_backup(seconds=500)
        expect(code == 3, f"exit {code}: {backup}")
        matrix.check()
        end_with_mended(cluster)


def test_resumed_files():
    with start_cluster() as cluster:
        matrix = Matrix(cluster, (RESUMED,), all_cases())
        # Files that wait keep their leases: two have too few for all of them.
        cluster.start(workers=4)
        matrix.stage()
        matrix.spoil()
        for worker in cluster.workers:
            worker.start()
        code, backup = cluster.run_watch(seconds=500)
        expect(code == 3, f"exit {code}: {backup}")
        matrix.check()
        end_with_mended(cluster)


def test_files_are_resumed_not_begun_anew():
    """Without a fault: what was recorded is not asked for again."""
    with start_cluster() as cluster:
        case = STORAGE_CASES[0]
        matrix = Matrix(cluster, (RESUMED,), [("storage", case)])
        cluster.start(workers=1)
        matrix.stage()
        cluster.workers[0].start()
        code, backup = cluster.run_watch()
        expect(code == 0, f"exit {code}: {backup}")
        for entry in cluster.admin("/admin/requests")["objects"].values():
            # What was recorded, a part at least, is not sent again.
            expect(entry["bytes"] <= SIZES[RESUMED] - (4 << 20), entry)
        check_backup(cluster)


def test_urls_that_expire_while_their_parts_are_fetched():
    """An hour passes: one signature more a file, however many its parts."""
    with Cluster(BIN, (ACCOUNT, "--limits=off",
                       "--connection_bandwidth=8MB/s"),
                 worker_flags=("--max_transfers=4",)) as cluster:
        case = STORAGE_CASES[0]
        # More parts than a worker fetches at once.
        matrix = Matrix(cluster, (LARGE,), [("storage", case)],
                        {LARGE: 200_000_000})
        cluster.start(workers=1)
        cluster.cli("backup")
        (name,) = matrix.files
        wait_for("parts are under way", lambda: matrix.counts("objects")[
            name] >= 2)
        cluster.admin("/admin/clock", {"advance_seconds": 3700})
        code, backup = cluster.run_watch()
        expect(code == 0, f"exit {code}: {backup}")
        # And one that is refused, because the token is an hour older, too.
        expect(matrix.counts("signed")[name] == 3, matrix.counts("signed"))
        # Those that were under way went on.
        expect(matrix.counts("objects")[name] <= 52 + 4,
               matrix.counts("objects"))
        check_backup(cluster)


def put_folder(cluster, project, case):
    cluster.admin("/admin/edit", [
        {"op": "create_file", "project": project,
         "path": [*FOLDER, case.name, f"{i:03}.bin"], "size": 100 + i}
        for i in range(case.files)])
    cluster.admin("/admin/faults", {
        "match": {"endpoint": "contents", "name": case.name,
                  "count": case.count}, "action": case.action})


def listing_requests(cluster):
    """Contents requests by the folder's name."""
    names = {entry["id"]: entry["path"][-1] for entry in
             cluster.admin("/admin/tree")["entries"]
             if entry["kind"] == "folder"}
    counts = collections.Counter()
    for page, count in cluster.admin("/admin/requests")["pages"].items():
        name = names.get(page.split(" page ")[0])
        counts[name] += count["requests"]
    return counts


def test_listings():
    cases = LISTING_CASES + LASTING_LISTING_CASES
    with Cluster(BIN, (ACCOUNT, "--limits=off")) as cluster:
        project = cluster.admin("/admin/tree")["entries"][0]["project_name"]
        for case in cases:
            put_folder(cluster, project, case)
        cluster.start(workers=1)
        code, backup = cluster.run_backup()
        expect(code == 3, f"exit {code}: {backup}")
        check_listings(cluster, project, cases)
        cluster.admin("/admin/faults", method="DELETE")
        code, backup = cluster.run_backup()
        expect(code == 0, f"exit {code}: {backup} "
               f"{cluster.cli('failures').stdout}")
        check_backup(cluster)
        check_no_secret(cluster)


def check_listings(cluster, project, cases):
    failures = cluster.cli("failures").stdout.splitlines()
    asked = listing_requests(cluster)
    entries = snapshot_entries(cluster)
    wrong = []
    for case in cases:
        lines = [line for line in failures if f"/{case.name}:" in line]
        limit = -(-case.files // 200) + case.pages
        if asked[case.name] > limit:
            wrong.append(f"{case.name}: {asked[case.name]} pages, not {limit}")
        if case.unlisted is not None:
            if not any(case.unlisted in line for line in lines):
                wrong.append(f"{case.name}: {case.unlisted!r} not in {lines}")
            continue
        files = sum(1 for (kind, _, path) in entries
                    if kind == "file" and path[1:2] == (case.name,))
        if lines or files != case.files:
            wrong.append(f"{case.name}: {files} files, {lines}")
    expect(not wrong, "\n".join([f"{len(wrong)} problems:", *wrong]))
    # A cycle, or an impossible size, costs nothing but itself.
    key = ("file", project, (*FOLDER, "always cycle", "000.bin"))
    expect(entries[key].get("sha256"), entries[key])


# Faults on the list of projects, and the most requests for it.
PASSING_PROJECTS = (
    (status(500), 2), (status(503), 2), (status(401), 2),
    (status(429, retry_after="1"), 2), ({"type": "reset", "bytes": 50}, 2),
    ({"type": "short", "bytes": 50}, 2), ({"type": "malformed_json"}, 2),
    ({"type": "gzip"}, 1), ({"type": "deep_json", "bytes": 5000}, 2),
    ({"type": "next_relative"}, 1), ({"type": "transfer_chunked"}, 1),
    ({"type": "empty_page"}, 2), ({"type": "duplicate"}, 1))
# The same for ever, with the exit code and a word of the message.
LASTING_PROJECTS = (
    (status(500), 5, 1, "500"), (status(403), 1, 1, "Custom Integrations"),
    (status(404), 1, 1, "Custom Integrations"),
    ({"type": "malformed_json"}, 2, 1, "JSON"),
    ({"type": "deep_json", "bytes": 5000}, 2, 1, "JSON"),
    ({"type": "huge_json", "bytes": 70 << 20}, 2, 1, "bytes"),
    ({"type": "next_loop"}, 3, 1, "back to"),
    ({"type": "next_foreign"}, 1, 1, "host"),
    ({"type": "empty"}, 1, 1, "Custom Integrations"),
    ({"type": "omit", "keys": ["name"]}, 1, 1, "could not be read"),
    ({"type": "redirect", "location": "http://169.254.169.254/"}, 1, 1,
     "302"))


def spoiled_backup(cluster, endpoint, action, count):
    cluster.admin("/admin/faults", method="DELETE")
    cluster.admin("/admin/requests", method="DELETE")
    rule = cluster.admin("/admin/faults", {
        "match": {"endpoint": endpoint, "count": count}, "action": action})
    code, backup = cluster.run_backup()
    applied = cluster.admin("/admin/faults")["faults"]
    expect(rule["id"] == applied[0]["id"] and applied[0]["applied"],
           f"{action} was not met")
    asked = cluster.admin("/admin/requests")["endpoints"][endpoint]
    return code, backup, asked["requests"]


def test_lists_of_projects():
    with Cluster(BIN, ("--account=custom:projects=3,folders=6,files=12,"
                       "bytes=12000", "--limits=off")) as cluster:
        cluster.start(workers=1)
        code, backup = cluster.run_backup()
        expect(code == 0, f"exit {code}: {backup}")
        before = snapshot_entries(cluster)
        for action, limit in PASSING_PROJECTS:
            code, backup, asked = spoiled_backup(cluster, "projects", action,
                                                 count=1)
            expect(code == 0, f"{action}: exit {code}: {backup}")
            expect(asked <= limit, f"{action}: {asked} requests")
        for action, limit, wanted, word in LASTING_PROJECTS:
            code, backup, asked = spoiled_backup(cluster, "projects", action,
                                                 count=-1)
            expect(code == wanted, f"{action}: exit {code}: {backup}")
            expect(word in backup.get("message", ""), f"{action}: {backup}")
            expect(asked <= limit, f"{action}: {asked} requests")
        expect(snapshot_entries(cluster) == before, "the snapshot changed")
        cluster.admin("/admin/faults", method="DELETE")
        code, backup = cluster.run_backup()
        expect(code == 0, f"exit {code}: {backup}")
        check_backup(cluster)


# Faults on the token: count, the most requests, exit code, a word.
TOKENS = (
    (status(500), 1, 2, 0, ""), (status(429, retry_after="1"), 1, 2, 0, ""),
    ({"type": "reset", "bytes": -1}, 1, 2, 0, ""),
    ({"type": "short", "bytes": 10}, 1, 2, 0, ""),
    (status(500), -1, 5, 1, "500"),
    (status(401), -1, 1, 1, "APS_CLIENT_SECRET"),
    (status(403), -1, 1, 1, "APS_CLIENT_SECRET"),
    ({"type": "malformed_json"}, -1, 1, 1, "JSON"),
    ({"type": "gzip"}, -1, 1, 0, ""),
    (status(200, body="{}"), -1, 1, 1, "no access token"),
    ({"type": "redirect", "location": "http://169.254.169.254/"}, -1, 1, 1,
     "302"))


def test_tokens():
    with Cluster(BIN, ("--account=custom:projects=1,folders=2,files=4,"
                       "bytes=4000", "--limits=off")) as cluster:
        for action, count, limit, wanted, word in TOKENS:
            # A coordinator of its own, which has no token yet.
            cluster.start_coordinator()
            if not cluster.workers:
                cluster.add_worker()
            code, backup, asked = spoiled_backup(cluster, "token", action,
                                                 count)
            expect(code == wanted, f"{action}: exit {code}: {backup}")
            expect(word in backup.get("message", ""), f"{action}: {backup}")
            expect(asked <= limit, f"{action}: {asked} requests")
            cluster.coordinator.terminate()
        cluster.start_coordinator()
        check_no_secret(cluster)


# Faults on top folders: count, the most requests, exit code.
TOP_FOLDERS = (
    (status(500), 1, 2, 0), (status(429, retry_after="1"), 1, 2, 0),
    ({"type": "malformed_json"}, 1, 2, 0), ({"type": "gzip"}, 1, 2, 0),
    (status(500), -1, 5, 3), ({"type": "malformed_json"}, -1, 2, 3),
    (status(403), -1, 1, 3), ({"type": "omit", "keys": ["id"]}, -1, 1, 3))


def test_top_folders():
    """They serve where the root may not be seen, and are carried too."""
    with Cluster(BIN, ("--account=custom:projects=1,folders=3,files=6,"
                       "bytes=6000", "--limits=off")) as cluster:
        cluster.start(workers=1)
        code, backup = cluster.run_backup()
        expect(code == 0, f"exit {code}: {backup}")
        files = {key for key in snapshot_entries(cluster) if key[0] == "file"}
        for action, count, limit, wanted in TOP_FOLDERS:
            cluster.admin("/admin/faults", method="DELETE")
            cluster.admin("/admin/requests", method="DELETE")
            # The root's listing comes first.
            cluster.admin("/admin/faults", {
                "match": {"endpoint": "contents", "count": 1},
                "action": status(403)})
            cluster.admin("/admin/faults", {
                "match": {"endpoint": "top_folders", "count": count},
                "action": action})
            code, backup = cluster.run_backup()
            expect(code == wanted, f"{action}: exit {code}: {backup}")
            asked = cluster.admin("/admin/requests")["endpoints"]
            expect(1 <= asked["top_folders"]["requests"] <= limit,
                   f"{action}: {asked['top_folders']}")
            left = {key for key in snapshot_entries(cluster)
                    if key[0] == "file"}
            expect(left == files, f"{action}: {len(left)} files are left")


TESTS = [value for name, value in sorted(globals().items())
         if name.startswith("test_")]

if __name__ == "__main__":
    sys.exit(check.run(check.selected(TESTS)))
