"""Nothing that was stored goes because a listing failed or was cut short.

Each disaster is seen by three backups in a row: what was stored stays in
snapshot, latest view and blobs, every backup says what is wrong, and the
first good listing sets it right.
"""

import pathlib
import sys

import check
from check import expect
from cluster import Cluster, wait_for
from verify import check_backup, snapshot_entries

BIN = pathlib.Path(sys.argv[1])
ACCOUNT = ("--account=custom:projects=2,folders=8,files=40,bytes=40000",
           "--limits=off")
EMPTY_PAGE = '{"jsonapi":{"version":"1.0"},"links":{},"data":[]}'
SUCCEEDED = "BACKUP_STATE_SUCCEEDED"
PARTIAL = "BACKUP_STATE_PARTIAL"
FAILED = "BACKUP_STATE_FAILED"


def stored(cluster):
    """What must not be lost: entries, files to open, blobs."""
    entries = {key: entry.get("sha256") for key, entry in
               snapshot_entries(cluster).items()}
    latest = cluster.storage / "latest"
    shown = {str(path.relative_to(latest)): path.stat().st_size
             for path in latest.rglob("*") if path.is_file()}
    blobs = {path.name for path in
             (cluster.storage / "blobs" / "sha256").glob("*/*")}
    return {"entries": entries, "latest": shown, "blobs": blobs}


def expect_kept(cluster, before):
    after = stored(cluster)
    for what, held in before.items():
        lost = sorted(set(held) - set(after[what]), key=str)
        expect(not lost, f"{len(lost)} {what} lost, the first: {lost[:3]}")
    for key, sha256 in before["entries"].items():
        expect(after["entries"][key] == sha256, f"{key} has another digest")
    for path, size in before["latest"].items():
        expect(after["latest"][path] == size, f"{path} has another size")


def statuses(cluster, wanted):
    """How often each status occurs among the entries that are `wanted`."""
    counts = {}
    for key, entry in snapshot_entries(cluster).items():
        if wanted(key):
            status = entry.get("status", "")
            counts[status] = counts.get(status, 0) + 1
    return counts


def projects(cluster):
    """Projects of the account: name to live entries."""
    names = {}
    for entry in cluster.admin("/admin/tree")["entries"]:
        names.setdefault(entry["project_name"], []).append(entry)
    return names


def guarded(record):
    return int(record.get("progress", {}).get("guarded", 0))


def three_backups(cluster, before, state, words, count, *arguments):
    """Three backups that say the same; `words` name a failure each."""
    code = {SUCCEEDED: 0, PARTIAL: 3, FAILED: 1}[state]
    for _ in range(3):
        done, record = cluster.run_backup(*arguments)
        record = record or wait_for("the backup is shown", cluster.backup)
        expect(record["state"] == state and done == code,
               f"exit {done}: {record}")
        expect(guarded(record) == count,
               f"{guarded(record)} guarded, not {count}: {record}")
        failures = cluster.cli("failures").stdout
        for word in words:
            expect(word in failures or word in record.get("message", ""),
                   f"{word!r} is not in {record} {failures}")
        expect_kept(cluster, before)


def set_right(cluster, *arguments):
    """Without faults the next backup is whole, and says so."""
    cluster.admin("/admin/faults", method="DELETE")
    done, record = cluster.run_backup(*arguments)
    expect(done == 0, f"exit {done}: {record} "
           f"{cluster.cli('failures').stdout}")
    expect(guarded(record) == 0, record)
    check_backup(cluster)


def first_backup(cluster):
    cluster.start(workers=1)
    done, record = cluster.run_backup()
    expect(done == 0, f"exit {done}: {record}")
    return stored(cluster)


def touch(cluster, project, path):
    """Makes a file, so that its folder is listed again."""
    cluster.admin("/admin/edit", {
        "op": "create_file", "project": project, "path": path, "size": 77})


def listing_fails(action, word):
    with Cluster(BIN, ACCOUNT) as cluster:
        before = first_backup(cluster)
        name, entries = sorted(projects(cluster).items())[0]
        project_id = entries[0]["project_id"]
        cluster.admin("/admin/faults", {
            "match": {"path": f"^/(data|project)/v1/.*projects/{project_id}/"},
            "action": action})
        three_backups(cluster, before, PARTIAL, [name, word], 0)
        counts = statuses(cluster, lambda key: key[1] == name and
                          key[0] == "file")
        expect(set(counts) == {"carried"}, counts)
        set_right(cluster)


def test_a_projects_listing_fails():
    listing_fails({"type": "status", "status": 500}, "500")


def test_a_project_is_forbidden():
    listing_fails({"type": "status", "status": 403}, "403")


def test_a_project_is_not_found():
    listing_fails({"type": "status", "status": 404}, "404")


def test_projects_vanish_a_large_one_and_a_small_one():
    with Cluster(BIN, ACCOUNT) as cluster:
        cluster.admin("/admin/edit", [
            {"op": "create_project", "project": "Small"},
            {"op": "create_file", "project": "Small",
             "path": ["Project Files", "a.txt"], "content": "one"}])
        large = min(name for name in projects(cluster) if name != "Small")
        cluster.admin("/admin/edit", [
            {"op": "create_file", "project": large,
             "path": ["Project Files", "many", f"{i}.bin"], "size": 10 + i}
            for i in range(300)])
        before = first_backup(cluster)
        held = projects(cluster)
        cluster.admin("/admin/edit", [
            {"op": "archive_project", "project": name}
            for name in ("Small", large)])
        count = 2 + len(held["Small"]) + len(held[large])
        three_backups(cluster, before, PARTIAL,
                      ["Small", large, "vanished", "guarded"], count)
        counts = statuses(cluster, lambda key: key[1] in ("Small", large)
                          and key[0] == "file")
        expect(set(counts) == {"guarded"}, counts)
        cluster.admin("/admin/edit", [
            {"op": "restore_project", "project": name}
            for name in ("Small", large)])
        set_right(cluster)


def test_a_filter_is_narrowed():
    for arguments in (["--project"], ["--include"], ["--exclude"]):
        with Cluster(BIN, ACCOUNT) as cluster:
            before = first_backup(cluster)
            names = sorted(projects(cluster))
            value = {"--project": names[0], "--include": f"{names[0]}/**",
                     "--exclude": f"{names[1]}/**"}[arguments[0]]
            for name in names:
                touch(cluster, name, ["Project Files", "new.bin"])
            three_backups(cluster, before, SUCCEEDED, [], 0,
                          f"{arguments[0]}={value}")
            counts = statuses(cluster, lambda key: key[0] == "file")
            expect(set(counts) == {"stored"}, counts)
            set_right(cluster)


def test_the_account_answers_an_empty_project_list():
    with Cluster(BIN, ACCOUNT) as cluster:
        before = first_backup(cluster)
        cluster.admin("/admin/faults", {"match": {"endpoint": "projects"},
                                        "action": {"type": "empty"}})
        three_backups(cluster, before, FAILED,
                      ["no project", "Custom Integrations"], 0)
        set_right(cluster)


def cut_listing(action, left):
    """A folder of 500 files seems to hold `left` of them."""
    with Cluster(BIN, ACCOUNT) as cluster:
        name = sorted(projects(cluster))[0]
        cluster.admin("/admin/edit", [
            {"op": "create_file", "project": name,
             "path": ["Project Files", "many", f"{i:03}.bin"],
             "size": 10 + i} for i in range(500)])
        before = first_backup(cluster)
        touch(cluster, name, ["Project Files", "other", "new.bin"])
        # The folder is listed again, because something in it has changed.
        touch(cluster, name, ["Project Files", "many", "new.bin"])
        cluster.admin("/admin/faults", {
            "match": {"endpoint": "contents", "name": "many"},
            "action": action})
        three_backups(cluster, before, PARTIAL,
                      ["many", "guarded", f"{500 - left}"], 500 - left)
        counts = statuses(cluster, lambda key: key[0] == "file" and
                          key[2][1:2] == ("many",))
        expect(counts.get("guarded") == 500 - left, counts)
        # Elsewhere the night was a good one.
        key = ("file", name, ("Project Files", "other", "new.bin"))
        expect(snapshot_entries(cluster)[key]["status"] == "stored", key)
        set_right(cluster, "--full-recheck")


def test_a_folder_of_500_files_answers_an_empty_page():
    cut_listing({"type": "status", "status": 200, "body": EMPTY_PAGE}, 0)


def test_a_folder_of_500_files_answers_its_first_page_alone():
    cut_listing({"type": "omit", "keys": ["next"]}, 200)


def test_a_root_folder_answers_an_empty_page():
    with Cluster(BIN, ACCOUNT) as cluster:
        names = sorted(projects(cluster))
        cluster.admin("/admin/edit", [
            {"op": "create_file", "project": names[0],
             "path": ["Project Files", "many", f"{i:03}.bin"],
             "size": 10 + i} for i in range(300)])
        before = first_backup(cluster)
        project_id = projects(cluster)[names[0]][0]["project_id"]
        cluster.admin("/admin/faults", {
            "match": {"endpoint": "contents", "path": project_id},
            "action": {"type": "status", "status": 200, "body": EMPTY_PAGE}})
        entries = projects(cluster)[names[0]]
        three_backups(cluster, before, PARTIAL, ["guarded"], len(entries))
        set_right(cluster)


def test_the_last_page_fails():
    """What the pages before did not show may stand on the last one."""
    with Cluster(BIN, ACCOUNT) as cluster:
        name = sorted(projects(cluster))[0]
        cluster.admin("/admin/edit", [
            {"op": "create_file", "project": name,
             "path": ["Project Files", "many", f"{i:03}.bin"],
             "size": 10 + i} for i in range(500)])
        before = first_backup(cluster)
        touch(cluster, name, ["Project Files", "many", "new.bin"])
        cluster.admin("/admin/faults", {
            "match": {"endpoint": "contents", "name": "many",
                      "path": "page\\[number\\]=2"},
            "action": {"type": "status", "status": 500}})
        three_backups(cluster, before, PARTIAL, ["many", "500"], 0)
        set_right(cluster)


def test_a_real_deletion_is_followed():
    """The guard holds nothing up that somebody may have meant."""
    with Cluster(BIN, ACCOUNT) as cluster:
        before = first_backup(cluster)
        first = cluster.cli_json("snapshots")
        name = [s for m in first for s in m.get("snapshots", [m])][0]["name"]
        files = [entry for entry in cluster.admin("/admin/tree")["entries"]
                 if entry["kind"] == "file"]
        cluster.admin("/admin/edit", [
            {"op": "delete", "project": entry["project_name"],
             "path": entry["path"]} for entry in files[:3]])
        done, record = cluster.run_backup()
        expect(done == 0 and guarded(record) == 0, f"exit {done}: {record}")
        check_backup(cluster)
        gone = {("file", entry["project_name"], tuple(entry["path"]))
                for entry in files[:3]}
        after = stored(cluster)
        expect(set(before["entries"]) - set(after["entries"]) == gone,
               "something else went")
        expect(after["blobs"] >= before["blobs"], "a blob went")
        former = {key: entry.get("sha256") for key, entry in
                  snapshot_entries(cluster, name).items()}
        expect(former == before["entries"], "the first snapshot changed")


TESTS = [value for name, value in sorted(globals().items())
         if name.startswith("test_")]

if __name__ == "__main__":
    sys.exit(check.run(check.selected(TESTS)))
