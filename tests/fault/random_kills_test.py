"""SIGKILLs of worker, coordinator or both, whatever they are doing.

Several backups of an account that changes in between, with snapshots
forgotten now and then. Half of the kills come at random moments, half at a
step that a random failpoint names, so that they spread over parts, commits,
manifest writing, forgetting and the latest view. Afterwards one backup ends
SUCCEEDED, everything verifies, nothing is orphaned, and the snapshot holds
the emulator's bytes. Half of the kills come while URLs are signed in batches,
half while they are signed one by one.
"""

import os
import pathlib
import random
import subprocess
import sys
import time

import chaos
import check
from check import expect
from cluster import Cluster, wait_for
from kills_test import (BATCHES, FAILPOINTS, WORKER_FAILPOINTS,
                        count_batches)
from verify import check_no_secret

BIN = pathlib.Path(sys.argv[1])
SEED = int(os.environ.get("BIMBACKUP_SEED") or random.randrange(1 << 32))
KILLS = int(os.environ.get("BIMBACKUP_RANDOM_KILLS") or 20)
ACCOUNT = ("--account=custom:projects=3,folders=40,files=150,bytes=60000000,"
           "largest=8000000", "--api_latency=10ms",
           "--first_byte_latency=10ms", "--connection_bandwidth=2MB/s",
           "--limits=off")
# How long a process may take to come to its failpoint; then it is killed
# where it is.
PATIENCE_SECONDS = 4


class Killer:
    """Kills at random, starts again, keeps a backup running."""

    def __init__(self, cluster, rng):
        self._cluster = cluster
        self._rng = rng
        self._forgetting = None
        self.counts = {}

    def keep_busy(self):
        """Starts a backup where none runs; forgets snapshots now and then."""
        cluster = self._cluster
        if chaos.is_running(cluster):
            return
        chaos.edit_account(cluster, self._rng, self._rng.randrange(5, 40))
        if self._rng.random() < 0.4 and chaos.has_command(cluster, "forget"):
            self._forget()
        cluster.cli("backup", *self._rng.choice(((), ("--full-recheck",))))

    def _forget(self):
        """Begins to forget, while the next kill comes."""
        self.finish_forgetting()
        self._forgetting = subprocess.Popen(
            [self._cluster.bin / "bimbackup", "forget", "--keep-last=2",
             f"--coordinator={self._cluster.coordinator_address}"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)

    def finish_forgetting(self):
        """It ends with its coordinator, killed or not."""
        if self._forgetting is None:
            return
        try:
            self._forgetting.wait(60)
        except subprocess.TimeoutExpired:
            self._forgetting.kill()
            self._forgetting.wait(10)
            raise
        self._forgetting = None

    def kill_one(self):
        cluster, rng = self._cluster, self._rng
        victims = {
            "worker": [rng.choice(cluster.workers)],
            "coordinator": [cluster.coordinator],
            "both": [rng.choice(cluster.workers), cluster.coordinator],
        }
        kind = rng.choice(list(victims))
        self.counts[kind] = self.counts.get(kind, 0) + 1
        for process in victims[kind]:
            self._kill(process)
        for process in victims[kind]:
            self._start(process)

    def _kill(self, process):
        if process.armed:
            deadline = time.monotonic() + PATIENCE_SECONDS
            while process.running() and time.monotonic() < deadline:
                time.sleep(0.01)
        if process.running():
            time.sleep(self._rng.uniform(0, 0.7))  # The random moment.
        if process.running():
            process.kill()
        else:
            expect(process.exit_code() == -9, process.log()[-2000:])
            self.counts["at a step"] = self.counts.get("at a step", 0) + 1

    def _start(self, process):
        """Starts it, every other time with a step at which it dies."""
        is_coordinator = process is self._cluster.coordinator
        points = FAILPOINTS if is_coordinator else WORKER_FAILPOINTS
        process.armed = self._rng.random() < 0.5
        environment = {}
        if process.armed:
            name = self._rng.choice(points).split(":")[0]
            environment["BIMBACKUP_FAILPOINT"] = (
                f"{name}:{self._rng.randrange(1, 8)}")
        process.start(environment)
        if is_coordinator:
            self.await_coordinator()

    def await_coordinator(self):
        """Until it answers, or is dead at its step already."""
        wait_for("the coordinator answers or dies", lambda:
                 not self._cluster.coordinator.running()
                 or self._cluster.cli("list").returncode == 0)

    def disarm(self):
        """From now on nobody dies."""
        for process in (self._cluster.coordinator, *self._cluster.workers):
            if process.running() and not process.armed:
                continue
            if process.running():
                process.kill()
            process.armed = False
            process.start()
        self.await_coordinator()


def kill_at_random(rng, kills, emulator_flags=()):
    """Kills, then checks; returns how many batches of URLs were signed."""
    with Cluster(BIN, (*ACCOUNT, *emulator_flags), ("--lease_duration=3s",),
                 ("--max_transfers=4",), log_level="info") as cluster:
        cluster.start(workers=2)
        for process in (cluster.coordinator, *cluster.workers):
            process.armed = False
        killer = Killer(cluster, rng)
        try:
            for _ in range(kills):
                killer.keep_busy()
                killer.kill_one()
            killer.disarm()
        finally:
            killer.finish_forgetting()
        print(f"kills: {killer.counts}", flush=True)
        chaos.check_after(cluster)
        check_no_secret(cluster)
        return count_batches(cluster)


def test_random_kills():
    kill_at_random(random.Random(SEED), KILLS // 2)


def test_random_kills_with_batch_signing():
    batches = kill_at_random(random.Random(SEED + 1), KILLS - KILLS // 2,
                             (BATCHES,))
    expect(batches > 0, "no URL was signed in a batch")


TESTS = [value for name, value in sorted(globals().items())
         if name.startswith("test_")]

if __name__ == "__main__":
    print(f"seed {SEED}, {KILLS} kills", flush=True)
    sys.exit(check.run(check.selected(TESTS)))
