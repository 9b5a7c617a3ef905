"""Restores: from what is left of a storage, and through a coordinator."""

import contextlib
import json
import pathlib
import signal
import subprocess
import sys

import check
from check import expect
from cluster import Cluster, wait_for
from names_test import NAMES
from restored import (can_be_held, check_restored, files_of,
                      lose_everything_but_content, partial_files,
                      remember_account, restored_count, run, tree_of,
                      without_network)
from verify import snapshot_entries

BIN = pathlib.Path(sys.argv[1])


def backup(cluster, code=0):
    done, record = cluster.run_backup()
    expect(done == code, f"exit {done}: {record}")


def restore(cluster, folder, *arguments, code=0, **how):
    """Restores from the storage alone."""
    done = run(cluster, "restore", *arguments, f"--to={folder}",
               f"--storage=file://{cluster.storage}", **how)
    expect(done.returncode == code,
           f"exit {done.returncode}: {done.stdout} {done.stderr}")
    return done


def through_coordinator(cluster, folder, *arguments, code=0):
    done = cluster.cli("restore", *arguments, f"--to={folder}", seconds=120)
    expect(done.returncode == code,
           f"exit {done.returncode}: {done.stdout} {done.stderr}")
    return done


def test_demo_comes_back_with_nothing_but_its_storage():
    with Cluster(BIN, ("--account=demo", "--limits=off")) as cluster:
        project = cluster.admin("/admin/tree")["entries"][0]["project_name"]
        cluster.admin("/admin/edit", [
            {"op": "create_folder", "project": project,
             "path": ["Project Files", "Empty \u2603"]},
            {"op": "create_file", "project": project, "size": 0,
             "path": ["Project Files", "empty.txt"]}])
        cluster.start(workers=2)
        backup(cluster)
        truth = remember_account(cluster)
        asked = cluster.folder / "asked"
        through_coordinator(cluster, asked, "latest")
        check_restored(cluster, truth, asked)
        lose_everything_but_content(cluster)
        alone = cluster.folder / "alone"
        restore(cluster, alone, "latest", wrap=without_network)
        check_restored(cluster, truth, alone)
        expect(files_of(tree_of(asked)) == files_of(tree_of(alone)),
               "the two restores differ")
        done = restore(cluster, alone, "-", wrap=without_network)
        expect(restored_count(done.stdout) == 0, done.stdout)
        done = run(cluster, "ls", "latest", "--output=json",
                   f"--storage=file://{cluster.storage}", wrap=without_network)
        listed = sum(len(json.loads(line).get("files", ()))
                     for line in done.stdout.splitlines())
        expect(listed > len(truth), f"{listed} of {len(truth)} listed")


def test_odd_names_come_back_as_they_were():
    with Cluster(BIN, ("--account=custom:projects=1,folders=1,files=0,"
                       "bytes=0", "--limits=off")) as cluster:
        project = cluster.admin("/admin/tree")["entries"][0]["project_name"]
        edits = []
        for i, name in enumerate(NAMES):
            edits.append({"op": "create_file", "project": project, "path":
                          ["Project Files", name], "size": 100 + i})
            edits.append({"op": "create_file", "project": project, "path":
                          ["Project Files", "in", name, "f.txt"], "size": i})
        edits.append({"op": "create_project", "project": project})
        edits.append({"op": "create_project", "project": "A/B"})
        edits.append({"op": "create_project", "project": ".."})
        cluster.admin("/admin/edit", edits)
        cluster.start(workers=1)
        backup(cluster)
        truth = remember_account(cluster)
        for folder, restored in (("asked", through_coordinator),
                                 ("alone", restore)):
            done = restored(cluster, cluster.folder / folder, "-",
                            "--output=json")
            check_odd_names(truth, cluster.folder / folder, done.stdout)


def check_odd_names(truth, folder, output):
    outcomes = [json.loads(line) for line in output.splitlines()]
    renamed = [o for o in outcomes if o.get("outcome") == "renamed"]
    tree = tree_of(folder)
    held = 0
    for (kind, project, path), entry in truth.items():
        if kind != "file":
            continue
        names = [project, *path]
        if all(can_be_held(name) for name in names):
            held += 1
            expect(tree.get("/".join(names), (None,))[0] == entry["sha256"],
                   names)
    wanted = sum(kind == "file" for kind, _, _ in truth)
    expect(len(files_of(tree)) == wanted, f"{len(tree)} of {wanted}")
    unheld = sum(not can_be_held(name) for name in NAMES)
    expect(held == 2 * (len(NAMES) - unheld), held)
    # Each such name as a file and as a folder, and three projects.
    expect(len(renamed) == 2 * unheld + 3, renamed)
    expect(all(pathlib.Path(folder, o["localPath"]).exists()
               for o in renamed), renamed)
    summary = outcomes[-1]["summary"]
    expect(summary["restored"] == wanted, summary)
    expect(summary["renamed"] == len(renamed), summary)


def test_killed_restores_go_on_where_they_were():
    with Cluster(BIN, ("--account=custom:projects=1,folders=10,files=300,"
                       "bytes=3000000", "--limits=off")) as cluster:
        project = cluster.admin("/admin/tree")["entries"][0]["project_name"]
        cluster.admin("/admin/edit", [
            {"op": "create_file", "project": project, "size": 200 << 20,
             "path": ["Project Files", f"big {i}.rvt"]} for i in range(2)])
        cluster.start(workers=2)
        backup(cluster)
        truth = remember_account(cluster)
        for folder, source in (
                ("alone", f"--storage=file://{cluster.storage}"),
                ("asked", f"--coordinator=127.0.0.1:"
                          f"{cluster.coordinator_port}")):
            target = cluster.folder / folder
            for kill in range(4):
                kill_once(cluster, target, source, (10 + 40 * kill) << 20)
            done = run(cluster, "restore", "-", f"--to={target}", source)
            expect(done.returncode == 0, done.stderr)
            check_restored(cluster, truth, target)
            expect(not partial_files(target), partial_files(target))


def kill_once(cluster, target, source, size):
    """Kills a restore once a file in the making is larger than `size`."""
    child = subprocess.Popen(
        [cluster.bin / "bimbackup", "restore", "-", f"--to={target}", source],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        wait_for("a restore that is under way", lambda: child.poll() is not None
                 or any(made >= size for made in
                        sizes(partial_files(target)).values()))
        kept = sizes(partial_files(target))
        child.send_signal(signal.SIGKILL)
    finally:
        child.kill()
        child.communicate(timeout=30)
    for path, left in sizes(kept).items():
        expect(left >= kept[path], f"{path} lost bytes")


def sizes(paths):
    """Of those that exist: a file is given its name at any time."""
    found = {}
    for path in paths:
        with contextlib.suppress(FileNotFoundError):
            found[path] = path.stat().st_size
    return found


def test_damage_is_named_and_the_rest_comes_back():
    with Cluster(BIN, ("--account=custom:projects=2,folders=6,files=40,"
                       "bytes=4000000", "--limits=off")) as cluster:
        cluster.start(workers=1)
        backup(cluster)
        truth = remember_account(cluster)
        entries = snapshot_entries(cluster)
        files = sorted((key for key in entries if key[0] == "file"),
                       key=lambda key: entries[key]["sha256"])
        flipped, gone = files[0], files[-1]
        blob = blob_of(cluster, entries[flipped])
        blob.chmod(0o644)
        damaged = bytearray(blob.read_bytes())
        damaged[len(damaged) // 2] ^= 1
        blob.write_bytes(damaged)
        blob_of(cluster, entries[gone]).unlink()
        for folder, restored in (("asked", through_coordinator),
                                 ("alone", restore)):
            target = cluster.folder / folder
            done = restored(cluster, target, "-", code=3)
            for key in (flipped, gone):
                expect("/".join([key[1], *key[2]]) in done.stdout, done.stdout)
                expect(entries[key]["sha256"] in done.stdout, done.stdout)
            left = {key: entry for key, entry in truth.items()
                    if entry.get("sha256") not in
                    (entries[flipped]["sha256"], entries[gone]["sha256"])}
            check_restored(cluster, left, target)
        check_torn_files(cluster, entries, truth)


def blob_of(cluster, entry):
    digest = entry["sha256"]
    return cluster.storage / "blobs" / "sha256" / digest[:3] / digest


def check_torn_files(cluster, entries, truth):
    """A torn manifest costs its project, a torn snapshot only itself."""
    first = min(cluster.storage.glob("snapshots/*.json"))
    torn = first.with_name("29990101T000000Z-00000000.json")
    torn.write_text(first.read_text()[:200])
    done = run(cluster, "snapshots", f"--storage=file://{cluster.storage}")
    expect(done.returncode == 0, done.stderr)
    expect("29990101T000000Z-00000000  DAMAGED" in done.stdout, done.stdout)
    listed = cluster.cli("snapshots")
    expect("29990101T000000Z-00000000  DAMAGED" in listed.stdout,
           listed.stdout + listed.stderr)
    for restored in (restore, through_coordinator):
        done = restored(cluster, cluster.folder / "torn", "latest", code=1)
        expect("29990101T000000Z-00000000" in done.stderr, done.stderr)
    project = json.loads(first.read_text())["projects"][0]
    manifest = next(cluster.storage.glob(
        f"manifests/sha256/*/{project['manifest_sha256']}*"))
    manifest.chmod(0o644)
    manifest.write_bytes(manifest.read_bytes()[:50])
    for folder, restored in (("m1", restore), ("m2", through_coordinator)):
        done = restored(cluster, cluster.folder / folder, first.stem, code=3)
        expect(project["manifest_sha256"] in done.stdout, done.stdout)
        kept = {path.name for path in (cluster.folder / folder).iterdir()}
        expect(kept == {key[1] for key in truth} - {project["name"]}, kept)


def test_every_version_of_a_file_side_by_side():
    with Cluster(BIN, ("--account=custom:projects=1,folders=3,files=9,"
                       "bytes=9000", "--limits=off")) as cluster:
        cluster.start(workers=1)
        file = next(e for e in cluster.admin("/admin/tree")["entries"]
                    if e["kind"] == "file")
        path = "/".join([file["project_name"], *file["path"]])
        versions = {}
        for size in (1111, 2222, 3333):
            cluster.admin("/admin/edit", [
                {"op": "change_file", "project": file["project_name"],
                 "path": file["path"], "size": size}])
            backup(cluster)
            tip = remember_account(cluster)[
                ("file", file["project_name"], tuple(file["path"]))]
            versions[tip["version_number"]] = tip
        expect(len(versions) == 3, versions)
        for folder, restored in (("asked", through_coordinator),
                                 ("alone", restore)):
            for item in (path, file["id"]):
                target = cluster.folder / f"{folder} {item == path}"
                restored(cluster, target, "-", f"--item={item}")
                check_versions(target, file["path"][-1], versions)


def check_versions(folder, name, versions):
    stem, dot, extension = name.rpartition(".")
    if not stem:
        stem, dot, extension = name, "", ""
    tree = tree_of(folder)
    expect(len(tree) == len(versions), tree)
    for number, version in versions.items():
        digest, mtime = tree[f"{stem} (version {number}){dot}{extension}"]
        expect(digest == version["sha256"], f"version {number}")
        late = mtime / 1e9 - version["last_modified"]
        expect(0 <= late <= 5, f"version {number} is {late} s late")


def test_globs_dry_run_and_overwrite():
    with Cluster(BIN, ("--account=custom:projects=2,folders=8,files=60,"
                       "bytes=60000", "--limits=off")) as cluster:
        cluster.start(workers=1)
        backup(cluster)
        truth = remember_account(cluster)
        first = min(key[1] for key in truth)
        wanted = {key: entry for key, entry in truth.items()
                  if key[1] == first}
        target = cluster.folder / "target"
        done = restore(cluster, target, "-", first, "--dry-run")
        files = sum(key[0] == "file" for key in wanted)
        expect(f"would restore {files} files" in done.stdout, done.stdout)
        expect(not target.exists(), "the dry run wrote something")
        restore(cluster, target, "-", f"{first[0]}[{first[1]}]*{first[2:]}")
        check_restored(cluster, wanted, target)
        check_overwrite(cluster, target, wanted)
        through_coordinator(cluster, target, "-", "**/nothing.xyz", code=1)
        through_coordinator(cluster, target, "-", "a/[", code=2)


def check_overwrite(cluster, target, truth):
    key = next(key for key, entry in truth.items()
               if key[0] == "file" and entry["size"] > 10)
    path = target.joinpath(key[1], *key[2])
    mine = b"m" * truth[key]["size"]
    path.write_bytes(mine)
    before = tree_of(target)
    done = restore(cluster, target, "-", key[1], "--dry-run")
    expect("would restore 1 file," in done.stdout, done.stdout)
    restore(cluster, target, "-", key[1], "--overwrite=never")
    expect(tree_of(target) == before, "never changed something")
    done = restore(cluster, target, "-", key[1])
    expect(restored_count(done.stdout) == 1, done.stdout)
    check_restored(cluster, truth, target)
    done = restore(cluster, target, "-", key[1], "--overwrite=always")
    files = sum(k[0] == "file" for k in truth)
    expect(restored_count(done.stdout) == files, done.stdout)
    check_restored(cluster, truth, target)


def test_full_disk_ends_in_one_line_and_a_repeat_goes_on():
    with Cluster(BIN, ("--account=custom:projects=1,folders=3,files=40,"
                       "bytes=20000000", "--limits=off")) as cluster:
        cluster.start(workers=1)
        backup(cluster)
        target = cluster.folder / "small"
        target.mkdir()
        command = (f"{BIN}/bimbackup restore - --to={target}/to "
                   f"--storage=file://{cluster.storage}")
        script = (f"mount -t tmpfs -o size=8m tmpfs {target} || exit 77\n"
                  f"{command} >{cluster.folder}/out 2>{cluster.folder}/err\n"
                  "echo $?\n"
                  f"mount -o remount,size=64m {target} || exit 77\n"
                  f"{command} >/dev/null || exit 78\n"
                  f"cp -a {target}/to {cluster.folder}/copy\n")
        done = subprocess.run(["unshare", "--mount", "bash", "-c", script],
                              capture_output=True, text=True, timeout=120,
                              check=False)
        expect(done.returncode == 0, done)
        expect(done.stdout.strip() == "1", done)
        errors = (cluster.folder / "err").read_text()
        expect(errors.count("\n") == 1 and "No space left" in errors, errors)
        out = (cluster.folder / "out").read_text()
        expect("failed" not in out.lower(), out)
        check_restored(cluster, remember_account(cluster),
                       cluster.folder / "copy")


TESTS = [value for name, value in sorted(globals().items())
         if name.startswith("test_")]

if __name__ == "__main__":
    sys.exit(check.run(check.selected(TESTS)))
