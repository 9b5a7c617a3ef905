"""Every test that tests/README.md names exists, and every row names one."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
UNIT = re.compile(r"\bTEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)")
FILE = re.compile(r"\b((?:system|fault|compose|grpcurl)/\w+\.py)\b")


def unit_tests():
    """All of C++, as Suite.Name."""
    return {".".join(match)
            for folder in ("clients", "services", "tests")
            for path in (ROOT / folder).rglob("*.cc")
            for match in UNIT.findall(path.read_text(errors="replace"))}


def process_tests():
    """All of Python: name to folder/file."""
    return {name: f"{path.parent.name}/{path.name}"
            for path in (ROOT / "tests").glob("*/*_test.py")
            for name in re.findall(r"^def (test_\w+)\(", path.read_text(),
                                   re.MULTILINE)}


def rows():
    """The rows of the tables of what must not happen."""
    text = (ROOT / "tests/README.md").read_text()
    table = text.split("## What must not happen")[1].split("\n## ")[0]
    for line in table.splitlines():
        if line.startswith("| ") and "what proves" not in line:
            yield line


def problems():
    units, processes = unit_tests(), process_tests()
    for row in rows():
        _, event, proof, _ = row.split("|")
        files = FILE.findall(proof)
        names = re.findall(r"`(test_\w+)`", proof)
        cases = re.findall(r"\b([A-Z]\w+Test\.\w+)\b", proof)
        if not names and not cases:
            yield f"no test for:{event}"
        for name in names:
            if processes.get(name) not in files:
                yield f"{name} is in {processes.get(name, 'no file')}"
        for case in set(cases) - units:
            yield f"no test {case}"


if __name__ == "__main__":
    found = list(problems())
    print("\n".join(found) or "every test of the table exists")
    sys.exit(1 if found else 0)
