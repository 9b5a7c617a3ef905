"""The catalog: brought back from its copy or the snapshots; what is accepted;
a latest view that somebody removed."""

import pathlib
import shutil
import sys

import check
from check import expect
from cluster import Cluster, wait_for
from verify import account_entries, check_backup, snapshot_entries

BIN = pathlib.Path(sys.argv[1])
ACCOUNT = ("--account=custom:projects=2,folders=8,files=40,bytes=40000",
           "--limits=off")
REBUILD = {"BIMBACKUP_REBUILD_CATALOG": "true"}


def backup(cluster, code=0):
    done, record = cluster.run_backup()
    expect(done == code, f"exit {done}: {record} "
           f"{cluster.cli('failures').stdout}")
    return record


def progress(record, name):
    return int(record.get("progress", {}).get(name, 0))


def listings(cluster):
    """Folders listed since the log was last cleared."""
    counts = cluster.admin("/admin/requests")["endpoints"]
    return counts["contents"]["requests"]


def clear(cluster):
    cluster.admin("/admin/requests", method="DELETE")


def lose_catalog(cluster):
    cluster.coordinator.terminate()
    shutil.rmtree(cluster.state)
    cluster.state.mkdir()


def expect_refused(cluster):
    cluster.coordinator.start()
    expect(cluster.coordinator.wait(30) == 2, cluster.coordinator.log())
    line = cluster.coordinator.log().splitlines()[-1]
    expect("--rebuild_catalog" in line, line)


def copies(cluster):
    return sorted((cluster.storage / "catalog").glob("*.db.zst"))


def first_project(cluster):
    return cluster.admin("/admin/tree")["entries"][0]["project_name"]


def add_files(cluster, project, folder, count):
    cluster.admin("/admin/edit", [
        {"op": "create_file", "project": project,
         "path": ["Project Files", folder, f"{i:03}.bin"], "size": 10 + i}
        for i in range(count)])


def files_below(cluster, folder):
    return [key for key in snapshot_entries(cluster)
            if key[0] == "file" and folder in key[2]]


def test_copy_brings_back_what_the_crawl_knows():
    with Cluster(BIN, ACCOUNT) as cluster:
        cluster.start(workers=1)
        for _ in range(3):
            record = backup(cluster)
        expect(record.get("message", "") == "", record)
        expect(len(copies(cluster)) == 2, copies(cluster))
        lose_catalog(cluster)
        shutil.rmtree(cluster.storage / "latest")
        expect_refused(cluster)
        cluster.start_coordinator(REBUILD)
        expect("brought back from catalog/" in cluster.coordinator.log(),
               cluster.coordinator.log())
        clear(cluster)
        record = backup(cluster)
        expect(progress(record, "transfers") == 0, record)
        expect(listings(cluster) <= 2, f"{listings(cluster)} listings")
        check_backup(cluster)
        # The flag may stay: it does nothing to a catalog that is there.
        cluster.coordinator.terminate()
        cluster.start_coordinator(REBUILD)
        expect("which stands" in cluster.coordinator.log(), "no line")
        expect(len(cluster.cli_json("list")[0]["backups"]) == 4, "lost one")


def test_snapshots_alone_bring_back_what_is_stored():
    with Cluster(BIN, ACCOUNT) as cluster:
        cluster.start(workers=1)
        backup(cluster)
        lose_catalog(cluster)
        for copy in copies(cluster):
            copy.unlink()
        # Killed at the worst moment, it starts over.
        cluster.coordinator.start(
            dict(REBUILD, BIMBACKUP_FAILPOINT="rebuild.before_rename"))
        expect(cluster.coordinator.wait(60) == -9, "it did not die")
        expect_refused(cluster)
        cluster.start_coordinator(REBUILD)
        expect("made anew from 1 snapshots" in cluster.coordinator.log(),
               cluster.coordinator.log())
        record = backup(cluster)
        expect(progress(record, "transfers") == 0, record)
        expect(progress(record, "manifestsWritten") == 0, record)
        check_backup(cluster)


def test_catalog_lost_while_a_backup_runs():
    """What the last snapshot holds is found again; the rest is fetched."""
    with Cluster(BIN, (*ACCOUNT, "--connection_bandwidth=60KB/s"),
                 worker_flags=("--max_transfers=2",)) as cluster:
        project = first_project(cluster)
        add_files(cluster, project, "many", 5)
        cluster.start(workers=1)
        done, record = cluster.run_backup(f"--project={project}")
        expect(done == 0, f"exit {done}: {record}")
        stored = sum(bool(entry.get("sha256")) for entry in
                     snapshot_entries(cluster).values())
        expect(stored > 5, f"{stored} stored")
        cluster.cli("backup")
        wait_for("more is stored", lambda: progress(
            cluster.backup(), "transfersStored") > 0)
        cluster.coordinator.kill()
        shutil.rmtree(cluster.state)
        cluster.state.mkdir()
        cluster.start_coordinator(REBUILD)
        clear(cluster)
        backup(cluster)
        signed = cluster.admin("/admin/requests")["endpoints"]["sign"]
        files = sum(key[0] == "file" for key in account_entries(cluster))
        expect(signed["requests"] <= files - stored,
               f"{signed} signed, {stored} of {files} were stored")
        check_backup(cluster)


def test_accepted_deletions_are_gone_and_older_snapshots_keep_them():
    with Cluster(BIN, ACCOUNT) as cluster:
        project = first_project(cluster)
        add_files(cluster, project, "many", 300)
        cluster.start(workers=1)
        first = backup(cluster)["snapshot"]
        cluster.admin("/admin/edit", {
            "op": "delete", "project": project,
            "path": ["Project Files", "many"]})
        record = backup(cluster, code=3)
        expect(progress(record, "guarded") == 301, record)
        expect("bimbackup accept - deletions" in record["message"], record)
        expect("bimbackup accept - deletions" in
               cluster.cli("failures").stdout, "no hint")
        expect("bimbackup accept - deletions" in cluster.cli("show").stdout,
               "no hint")
        refused = cluster.cli("accept", "-", "deletions", "--project=Nowhere")
        expect(refused.returncode == 2 and "Nowhere" in refused.stderr,
               f"{refused.returncode}: {refused.stderr}")
        accepted = cluster.cli_json("accept", "-", "deletions",
                                    f"--project={project}")[0]
        expect(accepted["files"] == "300" and accepted["folders"] == "1",
               accepted)
        again = cluster.cli("accept", "-", "deletions")
        expect(again.stdout == "nothing to accept\n", again.stdout)
        backup(cluster)
        check_backup(cluster)
        expect(not files_below(cluster, "many"), "still there")
        old = snapshot_entries(cluster, first)
        expect(sum("many" in key[2] for key in old) == 301, "an older "
               "snapshot has lost what it held")


def test_accepted_project_is_gone_and_comes_back_without_a_download():
    with Cluster(BIN, ACCOUNT) as cluster:
        project = first_project(cluster)
        cluster.start(workers=1)
        backup(cluster)
        cluster.admin("/admin/edit", {"op": "archive_project",
                                      "project": project})
        backup(cluster, code=3)
        done = cluster.cli("accept", "-", "deletions", f"--project={project}")
        expect(done.returncode == 0, done.stderr)
        backup(cluster)
        expect(not [key for key in snapshot_entries(cluster)
                    if key[1] == project], "still there")
        shown = [path.name for path in (cluster.storage / "latest").iterdir()]
        expect(len(shown) == 1, shown)
        cluster.admin("/admin/edit", {"op": "restore_project",
                                      "project": project})
        record = backup(cluster)
        expect(progress(record, "transfers") == 0, record)
        check_backup(cluster)


def test_accepted_denial_makes_no_night_partial():
    with Cluster(BIN, ACCOUNT) as cluster:
        project = first_project(cluster)
        add_files(cluster, project, "secret", 5)
        cluster.start(workers=1)
        backup(cluster)
        cluster.admin("/admin/edit", {
            "op": "create_file", "project": project,
            "path": ["Project Files", "secret", "late.bin"], "size": 9})
        cluster.admin("/admin/faults", {
            "match": {"endpoint": "contents", "name": "secret"},
            "action": {"type": "status", "status": 403}})
        for _ in range(2):
            record = backup(cluster, code=3)
        expect(progress(record, "denied") == 1, record)
        expect("bimbackup accept - denied" in cluster.cli("failures").stdout,
               "no hint")
        expect(cluster.cli("accept", "-", "denied").returncode == 0, "refused")
        # A deletion elsewhere in the project is not held up any more.
        gone = next(entry for key, entry in account_entries(cluster).items()
                    if key[0] == "file" and key[1] == project
                    and "secret" not in key[2])
        cluster.admin("/admin/edit", {"op": "delete", "project": project,
                                      "path": gone["path"]})
        for _ in range(2):
            backup(cluster)
        expect(len(files_below(cluster, "secret")) == 5, "not carried")
        expect(("file", project, tuple(gone["path"])) not in
               snapshot_entries(cluster), "the deletion was held up")
        expect(cluster.cli("failures").stdout == "no failures\n", "named")
        # It is asked again with its parent; an answer ends the acceptance.
        cluster.admin("/admin/faults", method="DELETE")
        done, record = cluster.run_backup("--full-recheck")
        expect(done == 0, f"exit {done}: {record}")
        check_backup(cluster)


def test_deleted_latest_view_is_made_again():
    with Cluster(BIN, ACCOUNT) as cluster:
        cluster.start(workers=1)
        backup(cluster)
        shutil.rmtree(cluster.storage / "latest")
        backup(cluster)
        check_backup(cluster)
        victim = next(path for path in (cluster.storage / "latest").rglob("*")
                      if path.is_file())
        victim.unlink()
        done = cluster.cli("rebuild-latest")
        expect(done.returncode == 0, done.stderr)
        expect("entries" in done.stdout, done.stdout)
        check_backup(cluster)


TESTS = [value for name, value in sorted(globals().items())
         if name.startswith("test_")]

if __name__ == "__main__":
    sys.exit(check.run(check.selected(TESTS)))
