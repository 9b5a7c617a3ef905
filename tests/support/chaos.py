"""Random changes to an account, and what must hold after random faults."""

import contextlib
import json
import urllib.error

from check import expect
from cluster import wait_for
from verify import check_backup, check_blobs, snapshot_entries


def edit_account(cluster, rng, count):
    """Makes `count` random changes, none of which is too large to believe."""
    entries = cluster.admin("/admin/tree")["entries"]
    files = [e for e in entries if e["kind"] == "file"]
    folders = [e for e in entries if e["kind"] == "folder" and e["path"]]
    rng.shuffle(files)
    edits = []
    for i, file in enumerate(files[:count]):
        where = {"project": file["project_name"], "path": file["path"]}
        name = f"new {rng.randrange(1 << 40):010x}.bin"
        size = rng.choice((0, 1, 10_000, 300_000, 2_000_000))
        folder = rng.choice([f for f in folders
                             if f["project_name"] == file["project_name"]])
        edits.append(rng.choice((
            {"op": "change_file", **where, "size": size},
            {"op": "create_file", "project": folder["project_name"],
             "path": folder["path"] + [name], "size": size},
            {"op": "rename", **where, "name": name},
            {"op": "move", **where, "to": folder["path"]},
            {"op": "delete", **where} if i % 8 == 0 else
            {"op": "change_file", **where, "size": size},
        )))
    for edit in edits:
        # Some exclude each other: two files of one name in one folder.
        with contextlib.suppress(urllib.error.HTTPError):
            cluster.admin("/admin/edit", edit)


def has_command(cluster, name):
    """Whether the tool knows the command."""
    return f"\n  {name} " in cluster.cli("--help").stdout


def is_running(cluster):
    backup = cluster.backup()
    return backup is not None and "endTime" not in backup


def await_end(cluster, seconds=300):
    return wait_for("the backup ends", lambda: (
        (cluster.backup() or {}).get("endTime") and cluster.backup()), seconds)


def check_after(cluster):
    """One more backup ends well; everything is whole, and nothing too much.

    The account must be well by now and all processes running.
    """
    if is_running(cluster):
        await_end(cluster)
    code, backup = cluster.run_backup("--full-recheck", seconds=300)
    expect(code == 0 and backup["state"] == "BACKUP_STATE_SUCCEEDED",
           f"exit {code}: {backup} {cluster.cli('failures').stdout}")
    check_backup(cluster)
    if has_command(cluster, "verify"):
        run_to_the_end(cluster, "verify")
    if has_command(cluster, "forget"):
        forget_all_but(cluster, 1)
        sweep(cluster)
        check_nothing_is_orphaned(cluster)
        check_backup(cluster)
    check_no_part_is_left(cluster)


def run_to_the_end(cluster, *command):
    """Runs a command, again where the coordinator could not be reached."""
    def done():
        result = cluster.cli(*command, seconds=300)
        return result if result.returncode != 4 else None
    result = wait_for(f"{command} reaches the coordinator", done)
    expect(result.returncode == 0,
           f"{command}: exit {result.returncode}: {result.stdout}"
           f"{result.stderr}")


def forget_all_but(cluster, count):
    run_to_the_end(cluster, "forget", f"--keep-last={count}")


def sweep(cluster):
    run_to_the_end(cluster, "forget", "--sweep")


def check_nothing_is_orphaned(cluster):
    """Every blob and every manifest is named by a snapshot."""
    named_manifests, named_blobs = set(), set()
    snapshots = list((cluster.storage / "snapshots").glob("*.json"))
    expect(snapshots, "no snapshot is left")
    for path in snapshots:
        for project in json.loads(path.read_text())["projects"]:
            named_manifests.add(project["manifest_sha256"])
        for entry in snapshot_entries(cluster, path.stem).values():
            named_blobs.add(entry.get("sha256"))
    blobs = {path.name for path in
             (cluster.storage / "blobs" / "sha256").glob("*/*")}
    expect(not blobs - named_blobs,
           f"{len(blobs - named_blobs)} of {len(blobs)} blobs are orphaned")
    manifests = {path.name.split(".")[0] for path in
                 (cluster.storage / "manifests").rglob("*.zst")}
    expect(manifests == named_manifests,
           f"manifests: {manifests ^ named_manifests}")
    check_blobs(cluster)


def check_no_part_is_left(cluster):
    """Whatever was half written has been taken up or thrown away."""
    journals = list((cluster.storage / "tmp").glob("*.journal"))
    parts = {path.stem for path in (cluster.storage / "tmp").glob("*.part")}
    for journal in journals:
        expect(journal.stem in parts, f"{journal} belongs to nothing")
