"""A worker that stalls past its lease and then goes on spoils no blob."""

import pathlib
import sys

import check
from check import expect
from cluster import Cluster, wait_for
from verify import check_backup, sha256_of

BIN = pathlib.Path(sys.argv[1])
SIZE = 6_000_000
LEASE = "--lease_duration=2s"
SLOW = ("--account=custom:projects=1,folders=1,files=0,bytes=0",
        "--connection_bandwidth=1MB/s", "--limits=off")


def put_file(cluster, name, size):
    project = cluster.admin("/admin/tree")["entries"][0]["project_name"]
    cluster.admin("/admin/edit", {
        "op": "create_file", "project": project,
        "path": ["Project Files", name], "size": size})


def part_files(cluster):
    return [path for path in (cluster.storage / "tmp").glob("*.part")
            if path.stat().st_blocks > 0]


def blobs(cluster):
    return {blob.name: sha256_of(blob) for blob in
            (cluster.storage / "blobs" / "sha256").glob("*/*")}


def await_stored(cluster, count):
    def stored():
        backup = cluster.backup() or {}
        progress = backup.get("progress", {})
        return int(progress.get("transfersStored", 0)) >= count
    wait_for(f"{count} files are stored", stored, 60)


def stall_with_the_file_open(cluster):
    """Stops worker 0 in the middle of a file; another finishes the file."""
    late = cluster.workers[0]
    wait_for("bytes of the file are there", lambda: part_files(cluster))
    late.pause()
    held = part_files(cluster)
    expect(held, "it was stopped too late")
    cluster.add_worker()
    await_stored(cluster, 1)
    expect(part_files(cluster) and part_files(cluster)[0] == held[0],
           "the late one's file was left alone")
    return late


def check_unspoilt(cluster, before):
    wait_for("the late one lets go of its file",
             lambda: not part_files(cluster))
    after = blobs(cluster)
    for name, digest in before.items():
        expect(after[name] == digest == name, f"{name} is {after[name]}")
    code, backup = cluster.run_backup()
    expect(code == 0, backup)
    expect(int(backup["progress"].get("transfers", 0)) == 0, backup)
    check_backup(cluster)


def test_late_worker_is_told_that_its_lease_is_lost():
    with Cluster(BIN, SLOW, (LEASE,)) as cluster:
        put_file(cluster, "file.bin", SIZE)
        cluster.start(workers=1)
        expect(cluster.cli("backup").returncode == 0, "backup starts")
        late = stall_with_the_file_open(cluster)
        code, backup = cluster.run_watch()
        expect(code == 0, backup)
        before = blobs(cluster)
        late.resume()
        check_unspoilt(cluster, before)


def test_late_worker_that_goes_on_to_the_end():
    with Cluster(BIN, SLOW, (LEASE,)) as cluster:
        put_file(cluster, "file.bin", SIZE)
        cluster.start(workers=1)
        expect(cluster.cli("backup").returncode == 0, "backup starts")
        late = stall_with_the_file_open(cluster)
        before = blobs(cluster)
        expect(len(before) == 1, before)
        # Nobody can tell it, so it writes its file to the end and commits it.
        cluster.coordinator.pause()
        late.resume()
        wait_for("it has committed", lambda: not part_files(cluster), 60)
        cluster.coordinator.resume()
        code, backup = cluster.run_watch()
        expect(code == 0, backup)
        expect(int(backup["progress"]["transfersStored"]) == 1, backup)
        expect(int(backup["progress"]["bytesStored"]) == SIZE, backup)
        check_unspoilt(cluster, before)


TESTS = [value for name, value in sorted(globals().items())
         if name.startswith("test_")]

if __name__ == "__main__":
    sys.exit(check.run(check.selected(TESTS)))
