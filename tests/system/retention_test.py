"""forget, protect and diff: what stays, what goes, and that nothing needed is
ever swept."""

import hashlib
import pathlib
import sys

import check
from check import expect
from cluster import Cluster, wait_for
from store import all_files, check_store, read_store
from verify import check_backup

BIN = pathlib.Path(sys.argv[1])
SMALL = ("--account=custom:projects=2,folders=8,files=40,bytes=400000",
         "--limits=off")


def files_of(cluster):
    return [entry for entry in cluster.admin("/admin/tree")["entries"]
            if entry["kind"] == "file"]


def edit(cluster, *edits):
    cluster.admin("/admin/edit", list(edits))


def change(file, content):
    """An edit that gives a file a new version with these bytes."""
    return {"op": "change_file", "project": file["project_name"],
            "path": file["path"], "content": content}


def backup(cluster, code=0):
    done, record = cluster.run_backup()
    expect(done == code, f"exit {done}: {record} "
           f"{cluster.cli('failures').stdout}")
    return record


def snapshots(cluster):
    """Names of snapshots, newest first."""
    return [snapshot["name"] for message in cluster.cli_json("snapshots")
            for snapshot in message["snapshots"]]


def forget(cluster, *arguments, code=0):
    done = cluster.cli("forget", *arguments, seconds=120)
    expect(done.returncode == code,
           f"forget {arguments}: exit {done.returncode}\n"
           f"{done.stdout}{done.stderr}")
    return done


def forget_json(cluster, *arguments):
    """(decisions by snapshot, the last message)."""
    messages = cluster.cli_json("forget", *arguments, seconds=120)
    expect(messages and messages[-1]["done"], messages)
    decisions = {d["snapshot"]["name"]: d for m in messages
                 for d in m["decisions"]}
    return decisions, messages[-1]


def counts(message):
    return {name: int(message[name]) for name in (
        "snapshotsRemoved", "manifestsRemoved", "blobsRemoved",
        "bytesRemoved", "blobsKept")}


def make_history(cluster, nights):
    """Backups with a changed, a new and a removed file between each two."""
    backup(cluster)
    first = files_of(cluster)[0]
    for night in range(1, nights):
        files = files_of(cluster)
        edit(cluster, change(first, f"changed in night {night}"),
             {"op": "create_file", "project": files[0]["project_name"],
              "path": files[0]["path"][:-1] + [f"new {night}.txt"],
              "content": f"made in night {night}"},
             {"op": "delete", "project": files[-1]["project_name"],
              "path": files[-1]["path"]})
        backup(cluster)


def blob_of(cluster, text):
    digest = hashlib.sha256(text.encode()).hexdigest()
    return cluster.storage / "blobs/sha256" / digest[:3] / digest


def test_policy_forgets_and_sweeps():
    with Cluster(BIN, SMALL) as cluster:
        cluster.start(workers=1)
        make_history(cluster, 5)
        names = snapshots(cluster)
        expect(len(names) == 5, names)
        check_store(cluster.storage)
        before = all_files(cluster.storage)
        dry, last = forget_json(cluster, "--keep-last", "2", "--dry-run")
        expect(all_files(cluster.storage) == before, "a dry run removed")
        done, removed = forget_json(cluster, "--keep-last", "2")
        for name in names:
            expect(dry[name]["kept"] == done[name]["kept"]
                   == (name in names[:2]), done[name])
        expect(counts(last) == counts(removed), f"{last} {removed}")
        expect(counts(removed)["snapshotsRemoved"] == 3, removed)
        expect(counts(removed)["blobsRemoved"] >= 2, removed)
        expect(snapshots(cluster) == names[:2], snapshots(cluster))
        check_store(cluster.storage)
        check_backup(cluster)
        for night in range(1, 5):
            expect(blob_of(cluster, f"changed in night {night}").exists()
                   == (night > 2), f"the version of night {night}")
        again = counts(forget_json(cluster, "--sweep")[1])
        expect(not any(again.values()), again)
        backup(cluster)
        check_backup(cluster)
        check_store(cluster.storage)


def test_names_and_what_must_stay():
    with Cluster(BIN, SMALL) as cluster:
        cluster.start(workers=1)
        expect("no snapshot" in forget(cluster, "--sweep", code=1).stderr, "")
        make_history(cluster, 3)
        newest, middle, oldest = snapshots(cluster)
        before = all_files(cluster.storage)
        for arguments, code in (
                ((), 2), (("--keep-last", "0"), 2),
                ((oldest, "--keep-last", "1"), 2),
                (("--keep-within", "1w"), 2), (("--nonsense",), 2),
                ((newest,), 1), ((oldest, newest), 1), (("latest",), 1),
                ((oldest, "20200101T000000Z-00000000"), 1)):
            done = forget(cluster, *arguments, code=code)
            expect(len(done.stderr.splitlines()) == 1, done.stderr)
        expect(all_files(cluster.storage) == before, "a refusal removed")
        forget(cluster, middle.split("/")[1])
        expect(snapshots(cluster) == [newest, oldest], snapshots(cluster))
        check_store(cluster.storage)


def test_protected_snapshot_stays():
    with Cluster(BIN, SMALL) as cluster:
        cluster.start(workers=1)
        make_history(cluster, 3)
        names = snapshots(cluster)
        done = cluster.cli("protect", names[2])
        expect(done.returncode == 0, done.stderr)
        shown = cluster.cli("snapshots").stdout
        expect("protected" in shown, shown)
        expect(cluster.cli("protect", "20200101T000000Z-0").returncode == 1,
               "protected what is not there")
        decisions, _ = forget_json(cluster, "--keep-last", "1")
        expect(decisions[names[2]]["reasons"] == ["protected"], decisions)
        expect(snapshots(cluster) == [names[0], names[2]], snapshots(cluster))
        check_store(cluster.storage)
        refused = forget(cluster, names[2], code=1)
        expect("protected" in refused.stderr, refused.stderr)
        cluster.cli("protect", names[2], "--off")
        forget(cluster, names[2])
        expect(snapshots(cluster) == names[:1], snapshots(cluster))
        check_store(cluster.storage)


def test_bytes_that_come_back_are_fetched_again():
    with Cluster(BIN, SMALL) as cluster:
        cluster.start(workers=1)
        file = files_of(cluster)[0]
        for content in ("the bytes in question", "other bytes"):
            edit(cluster, change(file, content))
            backup(cluster)
        blob = blob_of(cluster, "the bytes in question")
        expect(blob.exists(), "not stored")
        forget(cluster, "--keep-last", "1")
        expect(not blob.exists(), "not swept")
        edit(cluster, change(file, "the bytes in question"))
        record = backup(cluster)
        expect(int(record["progress"]["transfersStored"]) == 1, record)
        expect(blob.exists(), "not fetched again")
        check_backup(cluster)
        check_store(cluster.storage)


def test_forget_during_a_backup():
    with Cluster(BIN, ("--account=custom:projects=2,folders=20,files=120,"
                       "bytes=12000000", "--limits=off",
                       "--api_latency=20ms", "--first_byte_latency=40ms"),
                 worker_flags=("--max_transfers=4",)) as cluster:
        cluster.start(workers=2)
        make_history(cluster, 3)
        edit(cluster, *(change(file, f"again {i}") for i, file
                        in enumerate(files_of(cluster))))
        expect(cluster.cli("backup").returncode == 0, "backup starts")
        wait_for("bytes move", lambda: int(
            cluster.backup()["progress"]["transfersStored"]) > 5)
        rounds = 0
        while "endTime" not in cluster.backup():
            forget(cluster, *(("--keep-last", "1") if rounds == 0
                              else ("--sweep",)))
            rounds += 1
        expect(rounds > 0, "the backup ended too soon")
        print(f"{rounds} sweeps beside one backup")
        expect(cluster.backup()["state"] == "BACKUP_STATE_SUCCEEDED",
               cluster.backup())
        check_backup(cluster)
        check_store(cluster.storage, orphans=True)
        forget(cluster, "--keep-last", "1")
        check_store(cluster.storage)
        check_backup(cluster)


def test_guarded_files_outlive_every_policy():
    with Cluster(BIN, ("--account=custom:projects=1,folders=4,files=200,"
                       "bytes=200000", "--limits=off")) as cluster:
        cluster.start(workers=1)
        backup(cluster)
        files = files_of(cluster)
        _, stored = read_store(cluster.storage)
        edit(cluster, *({"op": "delete", "project": file["project_name"],
                         "path": file["path"]} for file in files[:150]))
        for _ in range(2):
            cluster.run_backup()
        decisions, _ = forget_json(cluster, "--keep-last", "1")
        kept = [d for d in decisions.values() if d["kept"]]
        expect(len(kept) == 1 and "guarded" in kept[0]["reasons"], decisions)
        check_store(cluster.storage)
        _, left = read_store(cluster.storage)
        expect(set(left) == set(stored), "a guarded file's bytes have gone")


def test_diff_says_what_people_did():
    with Cluster(BIN, SMALL) as cluster:
        cluster.start(workers=1)
        backup(cluster)
        expect(cluster.cli("diff").returncode == 1, "one snapshot alone")
        files = files_of(cluster)
        changed, renamed, gone = files[0], files[1], files[2]
        edit(cluster, change(changed, "changed"),
             {"op": "rename", "project": renamed["project_name"],
              "path": renamed["path"], "name": "renamed.bin"},
             {"op": "delete", "project": gone["project_name"],
              "path": gone["path"]},
             {"op": "create_file", "project": changed["project_name"],
              "path": changed["path"][:-1] + ["new.txt"], "content": "new"})
        backup(cluster)

        def shown(file, name=None):
            path = file["path"][:-1] + [name or file["path"][-1]]
            return "/".join([file["project_name"], *path])
        wanted = {"M " + shown(changed), "- " + shown(gone),
                  f"> {shown(renamed)} -> {shown(renamed, 'renamed.bin')}",
                  "+ " + shown(changed, "new.txt")}
        done = cluster.cli("diff")
        expect(done.returncode == 0, done.stderr)
        expect(set(done.stdout.splitlines()) == wanted, done.stdout)
        newest, oldest = snapshots(cluster)
        offline = cluster.cli("diff", oldest, newest,
                              f"--storage=file://{cluster.storage}")
        expect(offline.stdout == done.stdout, offline.stdout + offline.stderr)
        expect(cluster.cli("diff", newest, newest).stdout == "", "the same")
        pages = cluster.cli_json("diff", oldest)
        expect(sum(len(page["changes"]) for page in pages) == 4, pages)


TESTS = [value for name, value in sorted(globals().items())
         if name.startswith("test_")]

if __name__ == "__main__":
    sys.exit(check.run(check.selected(TESTS)))
