"""Names that file systems dislike: all present, all distinct, reversible."""

import pathlib
import re
import sys

import check
from check import expect
from cluster import Cluster
from verify import account_entries, check_backup, snapshot_entries

BIN = pathlib.Path(sys.argv[1])
NAMES = (
    "A/B", "A:B", "A_B", "twin.txt", "Twin.txt", "TWIN.TXT",
    "caf\u00e9.txt", "cafe\u0301.txt", "..", ".", "CON", "con.txt", "nul",
    "dot.", "space ", " leading", "x" * 300 + ".dwg", "y" * 299 + "\u00e9.pdf",
    "\U0001F3D7\ufe0f plan.pdf", "50% CD.pdf", "50%25 CD.pdf", "100%",
    "tab\there", "new\nline", "back\\slash", 'quote"d', "star*", "q?",
    "a<b>c|d", "%2F", "%zz", "-rf", "~", "\u202egpj.exe", "LPT1.txt",
)


def unescape(stored):
    """The escaping of the README, undone."""
    raw = re.sub(rb"%([0-9A-Fa-f]{2})", lambda m: bytes.fromhex(
        m.group(1).decode()), stored.encode())
    return raw.decode()


def test_odd_names_are_all_kept():
    with Cluster(BIN, ("--account=custom:projects=1,folders=1,files=0,"
                       "bytes=0", "--limits=off")) as cluster:
        project = cluster.admin("/admin/tree")["entries"][0]["project_name"]
        edits = []
        for i, name in enumerate(NAMES):
            for folder in (["Project Files"], ["Project Files", "folder"]):
                edits.append({"op": "create_file", "project": project,
                              "path": folder + [name], "size": 100 + i})
            edits.append({"op": "create_file", "project": project, "path":
                          ["Project Files", "in", name, "f.txt"], "size": i})
        edits.append({"op": "create_project", "project": project})
        edits.append({"op": "create_project", "project": "A/B"})
        edits.append({"op": "create_project", "project": ".."})
        cluster.admin("/admin/edit", edits)
        cluster.start(workers=1)
        code, backup = cluster.run_backup()
        expect(code == 0, f"exit {code}: {backup}")
        check_names(cluster)


def check_names(cluster):
    entries = [entry for message in cluster.cli_json("ls")
               for entry in message.get("files", [message])]
    stored = [entry["storedPath"] for entry in entries]
    expect(len(set(stored)) == len(stored), "two entries share a path")
    folded = [path.casefold() for path in stored]
    expect(len(set(folded)) == len(folded), "two paths differ by case alone")
    truth = cluster.admin("/admin/tree")["entries"]
    wanted = sorted(entry["id"] for entry in truth)
    found = sorted(e["itemId"] for e in entries if e.get("path"))
    expect(wanted == found, "an entry is missing or doubled")
    latest = cluster.storage / "latest"
    for entry in entries:
        expect((latest / entry["storedPath"]).exists(), entry)
        for name in entry["storedPath"].split("/"):
            expect(len(name.encode()) <= 255, f"{len(name.encode())}: {name}")
            expect(name.strip(". ") == name.lstrip(" ").strip(". ")
                   or name[-1] not in ". ", repr(name))
        check_reversible(entry)


def check_reversible(entry):
    """The last component undone is the original, but for cuts and twins."""
    if not entry.get("path"):
        return
    name = entry["path"][-1]
    last = entry["storedPath"].split("/")[-1]
    if len(name.encode()) > 255 or is_twin(name):
        return
    expect(unescape(last) == name, f"{last!r} undone is not {name!r}")


def is_twin(name):
    twins = {"twin.txt", "caf\u00e9.txt", "cafe\u0301.txt"}
    return name.casefold() in twins


def test_two_projects_of_one_name_keep_their_own_files():
    with Cluster(BIN, ("--account=custom:projects=1,folders=2,files=3,"
                       "bytes=3000", "--limits=off")) as cluster:
        cluster.admin("/admin/edit", [
            {"op": "create_project", "project": "Tower"},
            {"op": "create_file", "project": "Tower",
             "path": ["Project Files", "a.txt"], "content": "first"}])
        cluster.start(workers=1)
        code, backup = cluster.run_backup()
        expect(code == 0, f"exit {code}: {backup}")
        check_backup(cluster)
        expect(len(snapshot_entries(cluster)) >=
               len(account_entries(cluster)), "entries are missing")


TESTS = [value for name, value in sorted(globals().items())
         if name.startswith("test_")]

if __name__ == "__main__":
    sys.exit(check.run(check.selected(TESTS)))
