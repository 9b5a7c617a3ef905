"""Damage of every kind is found, named, and mended by the next backup."""

import json
import os
import pathlib
import signal
import subprocess
import sys

import check
from check import expect
from cluster import Cluster, wait_for
from verify import check_backup, sha256_of, snapshot_entries

BIN = pathlib.Path(sys.argv[1])
DEMO = ("--account=demo", "--limits=off")
SMALL = ("--account=custom:projects=2,folders=4,files=12,bytes=600000",
         "--limits=off")


def backup(cluster, code=0):
    done, record = cluster.run_backup()
    expect(done == code, f"exit {done}: {record} "
           f"{cluster.cli('failures').stdout}")
    return record


def verify(cluster, *arguments, code):
    """Verifies as JSON; returns the damage and the last message."""
    done = cluster.cli("verify", *arguments, "--output=json")
    expect(done.returncode == code,
           f"exit {done.returncode} instead of {code}: {done.stdout[-2000:]} "
           f"{done.stderr}")
    messages = [json.loads(line) for line in done.stdout.splitlines() if line]
    damage = [d for message in messages for d in message["damage"]]
    expect(messages[-1]["done"], messages[-1])
    expect(int(messages[-1]["damaged"]) == len(damage), messages[-1])
    return damage, messages[-1]


def blob_path(cluster, sha256):
    return cluster.storage / "blobs" / "sha256" / sha256[:3] / sha256


def distinct_files(cluster, count, snapshot="-"):
    """Files of the snapshot, each with a blob of its own."""
    by_digest = {}
    for (kind, _, _), entry in snapshot_entries(cluster, snapshot).items():
        if kind == "file" and int(entry.get("size", 0)) > 10:
            by_digest.setdefault(entry["sha256"], entry)
    expect(len(by_digest) >= count, len(by_digest))
    return list(by_digest.values())[:count]


def overwrite(path, change):
    """Changes a file in place, keeping its inode and times."""
    info = path.stat()
    path.chmod(0o644)
    with open(path, "r+b") as file:
        change(file)
    path.chmod(info.st_mode)
    os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))


def flip_bit(file):
    byte = file.read(1)
    file.seek(0)
    file.write(bytes([byte[0] ^ 4]))


def damage_blobs(cluster):
    """Four kinds of damage; returns what each file's must be called."""
    flipped, cut, lost, edited = distinct_files(cluster, 4)
    overwrite(blob_path(cluster, flipped["sha256"]), flip_bit)
    overwrite(blob_path(cluster, cut["sha256"]), lambda file: file.truncate(7))
    blob_path(cluster, lost["sha256"]).unlink()
    expected = {flipped["sha256"]: "DAMAGE_KIND_WRONG_DIGEST",
                cut["sha256"]: "DAMAGE_KIND_WRONG_SIZE",
                lost["sha256"]: "DAMAGE_KIND_MISSING_BLOB"}
    in_latest = cluster.storage / "latest" / edited["storedPath"]
    if in_latest.samefile(blob_path(cluster, edited["sha256"])):
        overwrite(in_latest, lambda file: file.write(b"EDITED"))
        expected[edited["sha256"]] = "DAMAGE_KIND_WRONG_DIGEST"
    return expected


def check_named(cluster, damage, expected):
    """Each damage has its kind and the path of a file that has the blob."""
    found = {d["key"].split("/")[-1]: d for d in damage}
    expect({key: d["kind"] for key, d in found.items()} == expected,
           (found, expected))
    paths = {}
    for (kind, project, path), entry in snapshot_entries(cluster).items():
        if kind == "file" and entry.get("sha256"):
            paths.setdefault(entry["sha256"], set()).add((project, path))
    for sha256, one in found.items():
        expect((one["projectName"], tuple(one["path"])) in paths[sha256], one)
        expect(int(one["files"]) == len(paths[sha256]), one)


def test_damaged_blobs_are_found_named_and_mended():
    with Cluster(BIN, DEMO) as cluster:
        cluster.start(workers=2)
        backup(cluster)
        damage, last = verify(cluster, code=0)
        expect(not damage and int(last["blobsRead"]) > 100, last)
        expect(last["bytesRead"] == last["bytesToRead"], last)
        expected = damage_blobs(cluster)

        # Without a coordinator damage is reported and nothing touched.
        url = f"--storage=file://{cluster.storage}"
        damage, _ = verify(cluster, url, code=3)
        check_named(cluster, damage, expected)
        expect(not any(d["willBeFetched"] for d in damage), damage)
        expect(not (cluster.storage / "damaged").exists(), "set aside")

        damage, _ = verify(cluster, code=3)
        check_named(cluster, damage, expected)
        expect(all(d["willBeFetched"] for d in damage), damage)
        aside = {path.name for path in (cluster.storage / "damaged").iterdir()}
        lost = {key for key, kind in expected.items() if "MISSING" in kind}
        expect(aside == set(expected) - lost, aside)
        text = cluster.cli("verify")
        expect(text.returncode == 3, text)
        lines = [line for line in text.stdout.splitlines()
                 if line.startswith("damaged: ")]
        expect(len(lines) == len(expected), text.stdout)
        expect(f"the next backup mends {len(expected)} of them" in text.stdout,
               text.stdout)

        record = backup(cluster)
        stored = int(record["progress"]["transfersStored"])
        expect(stored >= len(expected), record)
        damage, _ = verify(cluster, code=0)
        # Also that the latest view shows the right bytes.
        check_backup(cluster)
        record = backup(cluster)
        expect(int(record["progress"]["transfers"]) == 0, record)


def manifest_of(cluster, project):
    """The file of the newest manifest of the snapshot's n-th project."""
    newest = max((cluster.storage / "snapshots").iterdir())
    sha256 = json.loads(newest.read_text())["projects"][project][
        "manifest_sha256"]
    return (cluster.storage / "manifests" / "sha256" / sha256[:3] /
            f"{sha256}.jsonl.zst")


def test_todays_manifests_are_written_again():
    with Cluster(BIN, SMALL) as cluster:
        cluster.start(workers=1)
        backup(cluster)
        torn, lost = manifest_of(cluster, 0), manifest_of(cluster, 1)
        good = sha256_of(torn), sha256_of(lost)
        overwrite(torn, lambda file: file.truncate(30))
        lost.unlink()
        damage, _ = verify(cluster, code=3)
        expect({d["key"].split("/")[-1] for d in damage} ==
               {torn.name, lost.name}, damage)
        for one in damage:
            expect(one["kind"] == "DAMAGE_KIND_MANIFEST", one)
            expect(one["willBeFetched"] and one["projectName"], one)
        backup(cluster)
        verify(cluster, code=0)
        expect((sha256_of(torn), sha256_of(lost)) == good, "other manifests")
        check_backup(cluster)


def test_a_torn_snapshot_file_is_named_and_the_next_one_is_whole():
    with Cluster(BIN, SMALL) as cluster:
        cluster.start(workers=1)
        backup(cluster)
        torn = max((cluster.storage / "snapshots").iterdir())
        overwrite(torn, lambda file: file.truncate(torn.stat().st_size // 2))
        damage, _ = verify(cluster, code=3)
        expect([d["key"] for d in damage] == [f"snapshots/{torn.name}"], damage)
        expect(damage[0]["kind"] == "DAMAGE_KIND_SNAPSHOT", damage)
        expect(not damage[0]["willBeFetched"], damage)
        backup(cluster)
        verify(cluster, code=0)
        verify(cluster, torn.stem, code=3)
        check_backup(cluster)


def test_what_only_an_old_snapshot_names_is_mended():
    with Cluster(BIN, SMALL) as cluster:
        cluster.start(workers=1)
        backup(cluster)
        first = max((cluster.storage / "snapshots").iterdir()).stem
        old = distinct_files(cluster, 1)[0]
        cluster.admin("/admin/edit", [
            {"op": "change_file", "project": old["projectName"],
             "path": old["path"], "size": 4321}])
        backup(cluster)
        blob_path(cluster, old["sha256"]).unlink()
        verify(cluster, code=0)
        damage, _ = verify(cluster, f"snapshots/{first}", code=3)
        expect([d["path"] for d in damage] == [old["path"]], damage)
        expect(damage[0]["willBeFetched"], damage)
        record = backup(cluster)
        expect(int(record["progress"]["transfersStored"]) == 1, record)
        verify(cluster, first, code=0)
        check_backup(cluster)


def test_parts_read_everything_between_them():
    with Cluster(BIN, DEMO) as cluster:
        cluster.start(workers=1)
        backup(cluster)
        _, whole = verify(cluster, code=0)
        read = 0
        for part in range(1, 6):
            _, last = verify(cluster, f"--part={part}/5", code=0)
            expect(last["blobsChecked"] == whole["blobsChecked"], last)
            read += int(last["bytesRead"])
        expect(read == int(whole["bytesRead"]), (read, whole))
        _, last = verify(cluster, "--percent=1", code=0)
        expect(int(last["bytesRead"]) < int(whole["bytesRead"]) / 2, last)


def test_only_one_verification_runs_and_it_ends_with_its_caller():
    with Cluster(BIN, SMALL) as cluster:
        cluster.start(workers=1)
        backup(cluster)
        environment = dict(os.environ, BIMBACKUP_COORDINATOR=(
            f"127.0.0.1:{cluster.coordinator_port}"))
        slow = subprocess.Popen(
            [BIN / "bimbackup", "verify", "--max_bandwidth=5KB",
             "--output=json"],
            env=environment, stdout=subprocess.PIPE, text=True)
        try:
            expect(slow.stdout.readline(), "no message")
            refused = cluster.cli("verify")
            expect(refused.returncode == 1, refused)
            expect("another verification" in refused.stderr, refused)
        finally:
            slow.send_signal(signal.SIGKILL)
            slow.wait(10)
        wait_for("the verification ends with its caller",
                 lambda: cluster.cli("verify").returncode == 0)


def test_exit_codes_and_errors():
    with Cluster(BIN, SMALL) as cluster:
        cluster.start(workers=1)
        missing = cluster.cli("verify")
        expect(missing.returncode == 1, missing)
        expect(len(missing.stderr.splitlines()) == 1, missing.stderr)
        for wrong in (["--part=0/3"], ["--part=4/3"], ["--part=3"],
                      ["--percent=0"], ["--percent=101"],
                      ["--percent=5", "--part=1/2"], ["--max_bandwidth=fast"],
                      ["--storage=ftp://x"], ["backups/1"]):
            done = cluster.cli("verify", *wrong)
            expect(done.returncode == 2, (wrong, done))
            expect(len(done.stderr.splitlines()) == 1, done.stderr)
        away = cluster.cli("verify", f"--storage=file://{cluster.folder}/none")
        expect(away.returncode == 1, away)
        cluster.coordinator.terminate()
        gone = cluster.cli("verify")
        expect(gone.returncode == 4, gone)
        expect(len(gone.stderr.splitlines()) == 1, gone.stderr)


if __name__ == "__main__":
    sys.exit(check.run(check.selected([
        test_damaged_blobs_are_found_named_and_mended,
        test_todays_manifests_are_written_again,
        test_a_torn_snapshot_file_is_named_and_the_next_one_is_whole,
        test_what_only_an_old_snapshot_names_is_mended,
        test_parts_read_everything_between_them,
        test_only_one_verification_runs_and_it_ends_with_its_caller,
        test_exit_codes_and_errors,
    ])))
