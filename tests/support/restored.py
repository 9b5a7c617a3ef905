"""What a restored folder holds, and what it must hold."""

import os
import pathlib
import re
import shutil
import subprocess

from check import expect
from verify import account_entries, sha256_of

PARTIAL = ".bimbackup-restore-"


def tree_of(folder):
    """Every file and folder below `folder`: path → (digest or None, mtime)."""
    found = {}
    for path in pathlib.Path(folder).rglob("*"):
        name = str(path.relative_to(folder))
        expect(not path.is_symlink(), f"a link: {name}")
        digest = None if path.is_dir() else sha256_of(path)
        found[name] = (digest, path.stat().st_mtime_ns)
    return found


def files_of(tree):
    return {name: entry for name, entry in tree.items() if entry[0]}


def can_be_held(name):
    return (name not in ("", ".", "..") and "/" not in name
            and "\0" not in name and len(name.encode()) <= 255)


def check_restored(cluster, truth, folder):
    """The folder holds the account as `truth` says, and nothing else."""
    tree = tree_of(folder)
    wanted = set()
    for (kind, project, path), entry in truth.items():
        names = [project, *path]
        wanted.update("/".join(names[:n]) for n in range(1, len(names)))
        if kind == "file" and not entry["has_content"]:
            continue
        local = "/".join(names)
        wanted.add(local)
        expect(local in tree, f"not restored: {local}")
        digest, mtime = tree[local]
        if kind == "folder":
            expect(digest is None, f"not a folder: {local}")
            continue
        expect(digest == entry["sha256"], f"other bytes: {local}")
        # The emulator dates a version a moment after its item.
        late = mtime / 1e9 - entry["last_modified"]
        expect(0 <= late <= 5, f"{local} is {late} s late")
    extra = sorted(set(tree) - wanted)
    expect(not extra, f"too many: {extra[:5]} of {len(extra)}")


def lose_everything_but_content(cluster):
    """Ends every process; leaves snapshots, manifests and blobs alone."""
    for process in (*cluster.workers, cluster.coordinator, cluster.emulator):
        process.stop()
    shutil.rmtree(cluster.state)
    # What is read-only is so for mistakes, not for us.
    subprocess.run(["chmod", "-R", "u+w", cluster.storage], check=True)
    for name in ("latest", "tmp"):
        shutil.rmtree(cluster.storage / name, ignore_errors=True)
    (cluster.storage / "bimbackup.json").unlink()
    left = sorted(path.name for path in cluster.storage.iterdir())
    expect({"blobs", "manifests", "snapshots"} <= set(left), left)


def without_network(*arguments):
    """A command in a network namespace of its own, which has no network."""
    return ["unshare", "--net", *arguments]


def run(cluster, *arguments, wrap=lambda *command: list(command), seconds=120):
    """Runs the command-line tool as it is wrapped; the finished process."""
    environment = {key: value for key, value in os.environ.items()
                   if not key.startswith(("APS_", "BIM"))}
    command = wrap(cluster.bin / "bimbackup", *arguments)
    return subprocess.run(command, env=environment, capture_output=True,
                          text=True, timeout=seconds, check=False)


def remember_account(cluster):
    """The emulator's truth, to outlive it."""
    return account_entries(cluster)


def partial_files(folder):
    return [path for path in pathlib.Path(folder).rglob(PARTIAL + "*")]


def restored_count(text):
    return int(re.search(r"restored ([0-9,]+) file", text).group(1)
               .replace(",", ""))
