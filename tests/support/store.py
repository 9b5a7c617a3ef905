"""What must hold of a storage, read without any of our programs."""

import hashlib
import json
import subprocess

from check import expect
from verify import sha256_of


def read_manifest(path):
    """A manifest's lines; fails unless its text has the digest it is named by.
    """
    text = subprocess.run(["zstd", "-dcq", path], check=True, timeout=300,
                          capture_output=True).stdout
    expect(hashlib.sha256(text).hexdigest() == path.name.split(".")[0],
           f"{path} is not what its name says")
    return [json.loads(line) for line in text.splitlines()]


def read_store(storage):
    """What snapshots name: (manifests, blobs with their sizes)."""
    manifests = set()
    blobs = {}
    for snapshot in (storage / "snapshots").glob("*.json"):
        projects = json.loads(snapshot.read_text())["projects"]
        manifests |= {project["manifest_sha256"] for project in projects}
    for digest in manifests:
        path = (storage / "manifests/sha256" / digest[:3] /
                f"{digest}.jsonl.zst")
        expect(path.exists(), f"manifest {digest} has gone")
        for line in read_manifest(path):
            if line["kind"] == "file" and line["sha256"]:
                blobs[line["sha256"]] = line["size"]
    return manifests, blobs


def names_in(folder, pattern):
    """File names, without what follows the first dot."""
    return {path.name.split(".")[0] for path in folder.glob(pattern)}


def check_store(storage, orphans=False):
    """All that snapshots name is there and whole, and, unless `orphans` are
    allowed, nothing else."""
    manifests, blobs = read_store(storage)
    for digest, size in blobs.items():
        path = storage / "blobs/sha256" / digest[:3] / digest
        expect(path.exists(), f"blob {digest} has gone")
        expect(path.stat().st_size == size, f"blob {digest}: wrong size")
        expect(sha256_of(path) == digest, f"blob {digest}: wrong bytes")
    if orphans:
        return
    left = names_in(storage / "manifests/sha256", "*/*") - manifests
    expect(not left, f"orphaned manifests: {sorted(left)[:3]} of {len(left)}")
    left = names_in(storage / "blobs/sha256", "*/*") - set(blobs)
    expect(not left, f"orphaned blobs: {sorted(left)[:3]} of {len(left)}")


def all_files(storage):
    """Every file but the temporary ones, with what a removal would change."""
    return {str(path.relative_to(storage)): path.stat().st_size
            for path in storage.rglob("*")
            if path.is_file() and "tmp" not in path.parts}
