"""Machines of a test's own: network namespaces and cables between them.

The test runs in a network namespace, see disks.enter_namespace(), and a
Machine is another one, joined to it by cables that can be cut. A cut cable
loses what is sent without a word, as a firewall or a dead switch does.
"""

import os
import subprocess

from children import with_parent
from cluster import wait_for
from disks import run


def bring_up_loopback():
    run("ip", "link", "set", "lo", "up")


class Machine:
    """A network namespace, with one cable for each of `subnets`.

    On the cable of subnet "10.77.1" the test is 10.77.1.1, the machine
    10.77.1.2.
    """

    def __init__(self, name, *subnets):
        self._name = name
        self._subnets = subnets
        self._holder = None

    def __enter__(self):
        # Ends by itself, should nobody end it.
        self._holder = subprocess.Popen(
            with_parent("unshare", "--net", "--", "sleep", "900"))
        wait_for("the namespace is there", self._has_own_namespace)
        self._inside("ip", "link", "set", "lo", "up")
        for i, subnet in enumerate(self._subnets):
            ours, theirs = f"{self._name}{i}", f"{self._name}{i}m"
            run("ip", "link", "add", ours, "type", "veth", "peer", "name",
                theirs)
            run("ip", "link", "set", theirs, "netns", self._holder.pid)
            run("ip", "address", "add", f"{subnet}.1/24", "dev", ours)
            run("ip", "link", "set", ours, "up")
            self._inside("ip", "address", "add", f"{subnet}.2/24", "dev",
                         theirs)
            self._inside("ip", "link", "set", theirs, "up")
        return self

    def __exit__(self, kind, value, trace):
        self._holder.kill()
        self._holder.wait(10)

    def _has_own_namespace(self):
        def namespace(pid):
            return os.stat(f"/proc/{pid}/ns/net").st_ino
        return namespace(self._holder.pid) != namespace("self")

    def _inside(self, *command):
        run(*self.prefix(), *command)

    def prefix(self):
        """What runs a command on the machine, with exec."""
        return ("nsenter", f"--net=/proc/{self._holder.pid}/ns/net", "--")

    def cut(self, subnet):
        """From now on nothing arrives, either way."""
        i = self._subnets.index(subnet)
        # To nobody's address, which nobody answers for.
        run("ip", "neigh", "replace", f"{subnet}.2", "lladdr",
            "02:00:00:00:00:01", "dev", f"{self._name}{i}", "nud",
            "permanent")
        self._inside("ip", "neigh", "replace", f"{subnet}.1", "lladdr",
                     "02:00:00:00:00:01", "dev", f"{self._name}{i}m", "nud",
                     "permanent")

    def join(self, subnet):
        i = self._subnets.index(subnet)
        run("ip", "neigh", "del", f"{subnet}.2", "dev", f"{self._name}{i}")
        self._inside("ip", "neigh", "del", f"{subnet}.1", "dev",
                     f"{self._name}{i}m")
