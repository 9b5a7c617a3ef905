"""Whole backups, compared with the account over HTTP alone."""

import pathlib
import subprocess
import sys

import check
from check import expect
from cluster import Cluster
from verify import check_backup, snapshot_entries

BIN = pathlib.Path(sys.argv[1])


def calls(cluster):
    """API calls by endpoint since the log was last cleared."""
    counts = cluster.admin("/admin/requests")["endpoints"]
    return {name: entry["requests"] for name, entry in counts.items()
            if entry["requests"] and name not in ("storage", "token")}


def clear(cluster):
    cluster.admin("/admin/requests", method="DELETE")


def manifests(cluster):
    return sorted((cluster.storage / "manifests").rglob("*.zst"))


def files_of(cluster):
    return [entry for entry in cluster.admin("/admin/tree")["entries"]
            if entry["kind"] == "file"]


def backup(cluster, *arguments, code=0):
    done, record = cluster.run_backup(*arguments)
    expect(done == code, f"exit {done}: {record} "
           f"{cluster.cli('failures').stdout}")
    return record


def progress(record, name):
    return int(record.get("progress", {}).get(name, 0))


def test_demo_three_backups():
    with Cluster(BIN, ("--account=demo", "--limits=off")) as cluster:
        cluster.start(workers=2)
        backup(cluster)
        check_backup(cluster)
        first = snapshot_entries(cluster)
        expect(sum(1 for key in first if key[0] == "file") == 136, len(first))
        check_second_backup(cluster)
        check_third_backup(cluster, first)


def check_second_backup(cluster):
    """Nothing changed: nothing moves, nothing but the snapshot is written."""
    before = manifests(cluster)
    clear(cluster)
    record = backup(cluster)
    expect(progress(record, "transfers") == 0, record)
    made = calls(cluster)
    listings = made.pop("projects", 0) + made.pop("hubs", 0)
    expect(listings <= 2, f"{listings} listings of projects")
    expect(sum(made.values()) <= 2, f"calls of a clean night: {made}")
    expect(manifests(cluster) == before, "a manifest was written")


def check_third_backup(cluster, first):
    """Three changes, a rename, a move, a deletion: three downloads."""
    files = files_of(cluster)
    project = files[0]["project_name"]
    changed, others = files[:3], files[3:]
    folder = next(entry["path"] for entry in
                  cluster.admin("/admin/tree")["entries"]
                  if entry["kind"] == "folder"
                  and entry["path"] != others[1]["path"][:-1])
    edits = [{"op": "change_file", "project": project, "path": f["path"],
              "size": 1234} for f in changed]
    edits += [
        {"op": "rename", "project": project, "path": others[0]["path"],
         "name": "renamed.bin"},
        {"op": "move", "project": project, "path": others[1]["path"],
         "to": folder},
        {"op": "delete", "project": project, "path": others[2]["path"]}]
    cluster.admin("/admin/edit", edits)
    record = backup(cluster)
    expect(progress(record, "transfersStored") == 3, record)
    check_backup(cluster)
    oldest = cluster.cli_json("snapshots")
    snapshots = [s for m in oldest for s in m.get("snapshots", [m])]
    expect(len(snapshots) == 3, snapshots)
    expect(snapshot_entries(cluster, snapshots[-1]["name"]) == first,
           "the first snapshot changed")


def check_rollup(mode, runs):
    """Renames, moves and deletions are found by the recheck in time."""
    with Cluster(BIN, ("--account=custom:projects=1,folders=20,files=60,"
                       "bytes=60000", "--limits=off", f"--rollup={mode}"),
                 recheck_budget="1s", api_budget="100%") as cluster:
        # One second of 300 calls a minute rechecks five folders a run.
        cluster.start(workers=1)
        backup(cluster)
        files = files_of(cluster)
        project = files[0]["project_name"]
        cluster.admin("/admin/edit", [
            {"op": "rename", "project": project, "path": files[5]["path"],
             "name": "renamed.bin"},
            {"op": "move", "project": project, "path": files[20]["path"],
             "to": files[40]["path"][:-1]},
            {"op": "delete", "project": project, "path": files[50]["path"]}])
        for _ in range(runs):
            backup(cluster)
        check_backup(cluster)


def test_recheck_finds_what_content_only_rollups_hide():
    check_rollup("content_only", 5)


def test_recheck_finds_what_late_rollups_hide():
    check_rollup("late", 5)


def test_forbidden_folder_and_missing_file():
    with Cluster(BIN, ("--account=custom:projects=1,folders=10,files=50,"
                       "bytes=500000", "--limits=off")) as cluster:
        cluster.start(workers=1)
        backup(cluster)
        files = files_of(cluster)
        project = files[0]["project_name"]
        hidden = max((f["path"][:-1] for f in files), key=len)
        kept = {tuple(f["path"]) for f in files
                if f["path"][:len(hidden)] == hidden}
        gone = next(f for f in files if tuple(f["path"]) not in kept)
        cluster.admin("/admin/edit", [
            {"op": "change_file", "project": project, "path": path,
             "size": 99} for path in (gone["path"], sorted(kept)[0])])
        cluster.admin("/admin/faults", {
            "match": {"endpoint": "contents", "name": hidden[-1]},
            "action": {"type": "status", "status": 403}})
        cluster.admin("/admin/faults", {
            "match": {"endpoint": "sign", "name": gone["path"][-1]},
            "action": {"type": "status", "status": 404}})
        record = backup(cluster, code=3)
        expect(record["state"] == "BACKUP_STATE_PARTIAL", record)
        check_partial(cluster, project, hidden, kept, gone)


def check_partial(cluster, project, hidden, kept, gone):
    """Both are named, the rest is stored, the next run mends just those."""
    failures = cluster.cli("failures").stdout
    expect(hidden[-1] in failures and gone["path"][-1] in failures, failures)
    entries = snapshot_entries(cluster)
    for (kind, _, path), entry in entries.items():
        if kind != "file":
            continue
        wanted = "stored"
        if path in kept:
            wanted = "carried"
        if path == tuple(gone["path"]):
            wanted = "failed"
        expect(entry["status"] == wanted, f"{path}: {entry['status']}")
        expect(entry.get("sha256"), f"{path} has no blob")
        expect((cluster.storage / "latest" / entry["storedPath"]).is_file(),
               f"{path} is not in the latest view")
    cluster.admin("/admin/faults", method="DELETE")
    clear(cluster)
    record = backup(cluster)
    expect(progress(record, "transfersStored") == 2, record)
    made = calls(cluster)
    expect(made.get("sign") == 2, made)
    expect(made.get("contents", 0) + made.get("top_folders", 0) <= 3, made)
    check_backup(cluster)


def test_filters_leave_the_rest_as_it_was():
    with Cluster(BIN, ("--account=custom:projects=2,folders=12,files=60,"
                       "bytes=600000", "--limits=off")) as cluster:
        cluster.start(workers=1)
        backup(cluster)
        before = snapshot_entries(cluster)
        files = files_of(cluster)
        first = files[0]["project_name"]
        other = next(f for f in files if f["project_name"] != first)
        cluster.admin("/admin/edit", [
            {"op": "change_file", "project": f["project_name"],
             "path": f["path"], "size": 77} for f in (files[0], other)])
        record = backup(cluster, f"--project={first}")
        expect(progress(record, "transfersStored") == 1, record)
        after = snapshot_entries(cluster)
        expect(set(after) == set(before), "a filter removed something")
        key = ("file", other["project_name"], tuple(other["path"]))
        expect(after[key] == before[key], "a filter changed something")
        record = backup(cluster)
        expect(progress(record, "transfersStored") == 1, record)
        check_backup(cluster)


def test_dry_run_writes_nothing_and_is_reused():
    with Cluster(BIN, ("--account=custom:projects=1,folders=8,files=40,"
                       "bytes=400000", "--limits=off")) as cluster:
        cluster.start(workers=1)
        before = sorted(p for p in cluster.storage.rglob("*"))
        record = backup(cluster, "--dry-run")
        expect(progress(record, "transfers") == 40, record)
        expect(sorted(p for p in cluster.storage.rglob("*")) == before,
               "the dry run wrote to the storage")
        clear(cluster)
        backup(cluster)
        made = calls(cluster)
        expect(made.get("contents", 0) + made.get("top_folders", 0) <= 2, made)
        check_backup(cluster)


def test_cancelled_backup_is_gone_on_with():
    with Cluster(BIN, ("--account=custom:projects=1,folders=8,files=40,"
                       "bytes=40000000", "--limits=off",
                       "--connection_bandwidth=200KB/s")) as cluster:
        cluster.start(workers=1)
        cluster.cli("backup")
        done = cluster.cli("backup")
        expect(done.returncode == 1 and "backups/" in done.stderr,
               f"a second backup: {done.returncode} {done.stderr}")
        expect(cluster.cli("cancel").returncode == 0, "cancel")
        record = cluster.backup()
        expect(record["state"] == "BACKUP_STATE_CANCELLED", record)
        expect(not record.get("snapshot"), record)
    with Cluster(BIN, ("--account=custom:projects=1,folders=8,files=40,"
                       "bytes=4000000", "--limits=off")) as cluster:
        cluster.start(workers=1)
        cluster.cli("backup")
        cluster.cli("cancel")
        backup(cluster)
        check_backup(cluster)


def test_real_folder():
    """A real tree: diff shows nothing but what escaping and links explain."""
    source = pathlib.Path("/usr/share/doc")
    if len(list(source.glob("*"))) < 200:
        source = pathlib.Path("/usr/share")
    with Cluster(BIN, (f"--account=dir:{source}", "--limits=off")) as cluster:
        cluster.start(workers=1)
        backup(cluster)
        check_backup(cluster)
        # Each top folder is a project whose one top folder is this.
        compared = 0
        odd = []
        for folder in sorted(source.iterdir()):
            shown = cluster.storage / "latest" / folder.name / "Project Files"
            if folder.is_symlink() or not folder.is_dir():
                continue
            compared += 1
            done = subprocess.run(
                ["diff", "-r", "--no-dereference", folder, shown],
                capture_output=True, text=True, timeout=300, check=False)
            odd += [line for line in
                    (done.stdout + done.stderr).splitlines()
                    if not explained(line, source)]
        expect(compared >= 20, f"only {compared} folders compared")
        expect(not odd, f"{len(odd)} differences, the first: {odd[:3]}")


def explained(line, source):
    """Whether a line of diff's is due to a link or an escaped name."""
    if not line.startswith("Only in "):
        return False
    folder, name = line.removeprefix("Only in ").split(": ", 1)
    if not folder.startswith(str(source)):
        return "%" in name or "~" in name
    path = pathlib.Path(folder) / name
    twins = sum(other.name.casefold() == name.casefold()
                for other in path.parent.iterdir())
    return (path.is_symlink() or any(c in name for c in '%:*?"<>|\\')
            or name[-1] in ". " or twins > 1)


TESTS = [value for name, value in sorted(globals().items())
         if name.startswith("test_")]

if __name__ == "__main__":
    sys.exit(check.run(check.selected(TESTS)))
