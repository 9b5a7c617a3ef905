"""File systems of a test's own, which fill up, turn read-only and vanish.

They stand in a mount namespace that ends with the test's process, so nothing
is left behind and nobody else sees them.
"""

import contextlib
import os
import pathlib
import subprocess
import sys

from cluster import wait_for


def enter_namespace(*kinds):
    """Runs this program again in namespaces of its own, once.

    `kinds` are unshare's: "mount", "net".
    """
    if os.environ.get("BIMBACKUP_TEST_NAMESPACE"):
        return
    os.environ["BIMBACKUP_TEST_NAMESPACE"] = "1"
    flags = [f"--{kind}" for kind in kinds]
    if os.geteuid() != 0:
        flags += ["--user", "--map-root-user"]
    os.execvp("unshare", ["unshare", *flags, "--", sys.executable, *sys.argv])


# Runs a command as somebody whom the rights of files and folders bind, which
# they do not root.
WITHOUT_OVERRIDE = ("setpriv", "--bounding-set", "-dac_override,"
                    "-dac_read_search", "--inh-caps", "-dac_override,"
                    "-dac_read_search")


def run(*command):
    subprocess.run([str(word) for word in command], check=True, timeout=30,
                   capture_output=True)


class Mount:
    """A folder that is shown at another one, which is there, too."""

    def __init__(self, source, folder):
        self._source = pathlib.Path(source)
        self.folder = pathlib.Path(folder)

    def __enter__(self):
        self.plug()
        return self

    def __exit__(self, kind, value, trace):
        subprocess.run(["umount", "-l", self.folder], capture_output=True,
                       timeout=30, check=False)

    def plug(self):
        """Mounts it where it is looked for."""
        run("mount", "--bind", self._source, self.folder)

    def unplug(self):
        """Unmounts it there, though processes have files open on it."""
        run("umount", "-l", self.folder)

    def set_read_only(self):
        """Takes a moment in which nobody has a file open for writing."""
        def remounted():
            done = subprocess.run(
                ["mount", "-o", "remount,ro,bind", self.folder],
                capture_output=True, timeout=30, check=False)
            return done.returncode == 0
        wait_for(f"{self.folder} is read-only", remounted)

    def set_writable(self):
        run("mount", "-o", "remount,rw,bind", self.folder)


class Disk(Mount):
    """A small file system in memory, mounted at a folder that is there."""

    def __init__(self, folder, megabytes):
        folder = pathlib.Path(folder)
        super().__init__(folder.parent / f"{folder.name}.disk", folder)
        self._megabytes = megabytes

    def __enter__(self):
        self._source.mkdir()
        run("mount", "-t", "tmpfs", "-o", f"size={self._megabytes}m", "tmpfs",
            self._source)
        return super().__enter__()

    def __exit__(self, kind, value, trace):
        super().__exit__(kind, value, trace)
        subprocess.run(["umount", "-l", self._source], capture_output=True,
                       timeout=30, check=False)

    def fill(self, leave_megabytes=0):
        """Fills it with a file of somebody else's, but for some room."""
        with open(self._source / "filler", "ab") as filler:
            info = os.statvfs(self._source)
            size = info.f_bavail * info.f_frsize - (leave_megabytes << 20)
            # Others write meanwhile: what was free may be less by now.
            with contextlib.suppress(OSError):
                if size > 0:
                    os.posix_fallocate(filler.fileno(), filler.tell(), size)
        # To the last byte: what is freed meanwhile is taken as well.
        while leave_megabytes == 0:
            try:
                with open(self._source / "filler", "ab", 0) as filler:
                    filler.write(b"x" * 4096)
            except OSError:
                return

    def make_room(self):
        (self._source / "filler").unlink()
