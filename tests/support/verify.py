"""What must hold of a backup, whatever happened on the way to it."""

import hashlib
import sqlite3

from check import expect


def sha256_of(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def snapshot_entries(cluster, snapshot="-"):
    """The snapshot's lines, by kind, project and original path."""
    entries = {}
    for message in cluster.cli_json("ls", snapshot):
        for entry in message.get("files", [message]):
            key = (entry["kind"], entry["projectName"],
                   tuple(entry.get("path", ())))
            expect(key not in entries, f"listed twice: {key}")
            entries[key] = entry
    return entries


def account_entries(cluster):
    """The emulator's truth, by the same keys."""
    return {(entry["kind"], entry["project_name"], tuple(entry["path"])): entry
            for entry in cluster.admin("/admin/tree?sha256=1")["entries"]}


def check_backup(cluster):
    """Snapshot, blobs and latest view hold the account, once and whole."""
    truth = account_entries(cluster)
    entries = snapshot_entries(cluster)
    named = {key: entry for key, entry in entries.items() if key[2]}
    missing = sorted(set(truth) - set(named))
    extra = sorted(set(named) - set(truth))
    expect(not missing, f"missing: {missing[:5]} of {len(missing)}")
    expect(not extra, f"too many: {extra[:5]} of {len(extra)}")
    checked = set()
    for key, entry in truth.items():
        if entry["kind"] == "folder" or not entry["has_content"]:
            continue
        stored = named[key]
        expect(stored.get("status") == "stored", f"{key}: {stored}")
        expect(stored["sha256"] == entry["sha256"], f"wrong digest: {key}")
        latest = cluster.storage / "latest" / stored["storedPath"]
        expect(latest.stat().st_size == entry["size"], f"wrong size: {key}")
        if entry["sha256"] not in checked:
            expect(sha256_of(latest) == entry["sha256"], f"corrupt: {key}")
            checked.add(entry["sha256"])
    check_blobs(cluster)
    check_latest_has_no_more(cluster, named)


def check_blobs(cluster):
    """Every blob's bytes have the digest that names it."""
    for blob in (cluster.storage / "blobs" / "sha256").glob("*/*"):
        expect(sha256_of(blob) == blob.name, f"corrupt blob {blob.name}")


def check_latest_has_no_more(cluster, named):
    """The latest view holds the snapshot's files and no other."""
    latest = cluster.storage / "latest"
    shown = {str(path.relative_to(latest)) for path in latest.rglob("*")
             if path.is_file()}
    wanted = {entry["storedPath"] for entry in named.values()
              if entry["kind"] == "file" and entry.get("sha256")}
    expect(shown == wanted,
           f"latest view: {sorted(shown ^ wanted)[:5]} should (not) be there")


def committed_pages(cluster):
    """Folder pages whose listing the dead coordinator's catalog holds.

    Named as the emulator's request log names them.
    """
    path = f"file:{cluster.state / 'catalog.db'}"
    with sqlite3.connect(path, uri=True) as catalog:
        listed = catalog.execute(
            "SELECT id FROM folders WHERE listed > 0 AND task = 0").fetchall()
        begun = catalog.execute(
            "SELECT folders.id, page_number FROM frontier JOIN folders "
            "ON folders.pk = frontier.folder WHERE page_number > 0").fetchall()
    pages = {f"{folder} page 0" for (folder,) in listed}
    for folder, count in begun:
        pages.update(f"{folder} page {n}" for n in range(count))
    return pages


def check_no_secret(cluster, texts=()):
    """No log, catalog, WAL, journal or given text holds a secret."""
    given = cluster.admin("/admin/secrets")
    secrets = {given["client_secret"], *given["secrets"]}
    secrets = [secret.encode() for secret in secrets if len(secret) >= 8]
    expect(len(secrets) > 1, "the emulator gave out no secret")
    files = [path for root in (cluster.state, cluster.storage / "tmp")
             for path in root.rglob("*") if path.is_file()]
    files += [process.log_path
              for process in (cluster.coordinator, *cluster.workers)]
    contents = [(str(path), path.read_bytes()) for path in files]
    contents += [(f"text {i}", text.encode()) for i, text in enumerate(texts)]
    for name, content in contents:
        for secret in secrets:
            expect(secret not in content,
                   f"{name} holds a secret that begins {secret[:6]!r}")
