"""docker-compose.yml as README uses it, on the emulator."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import yaml

import check
from check import expect
from cluster import wait_for
from project import BRIDGE, ROOT, USER, Project


def expect_equal(project):
    code, output = project.compare()
    expect(code == 0, f"latest/ differs from the account:\n{output}")


def inspect(container, template):
    return subprocess.run(["docker", "inspect", "-f", template, container],
                          capture_output=True, text=True, timeout=30,
                          check=True).stdout.strip()


def stored_by_worker(project):
    workers = [worker for message in project.messages("workers")
               for worker in message["workers"]]
    return {worker["workerId"]: int(worker["storedCount"])
            for worker in workers}


def test_up_build_backs_up_and_the_one_shot_ends_with_its_code():
    with Project("up") as project:
        project.must("up", "-d", "--build", seconds=3600)
        backup, = project.must("ps", "-q", "-a", "backup").split()
        wait_for("the one-shot ends", lambda: inspect(
            backup, "{{.State.Status}}") == "exited", 120)
        expect(inspect(backup, "{{.State.ExitCode}}") == "0", "exit code")
        expect_equal(project)
        for service in ("coordinator", "download-worker", "file-scan",
                        "emulator"):
            container, = project.containers(service)
            wait_for(f"{service} is healthy", lambda c=container: inspect(
                c, "{{.State.Health.Status}}") == "healthy")
            expect(inspect(container, "{{.Config.User}}") == f"{USER}:{USER}",
                   f"{service} runs as somebody else")


def test_four_workers_share_a_backup():
    with Project("scale", BIM360_EMULATOR_CONNECTION_BANDWIDTH="4MB"
                 ) as project:
        project.up("--scale", "download-worker=4", "emulator", "coordinator",
                   "download-worker")
        wait_for("four workers are there",
                 lambda: len(stored_by_worker(project)) == 4)
        code, output = project.run_backup()
        expect(code == 0, f"exit {code}: {output}")
        expect_equal(project)
        stored = stored_by_worker(project)
        expect(sum(1 for count in stored.values() if count > 0) == 4,
               f"not everybody worked: {stored}")
        # And again: nothing has changed, nothing is fetched.
        code, output = project.run_backup()
        expect(code == 0 and "fetched 0 files" in output, output)


def test_a_partial_backup_is_exit_code_3_and_no_server_is_4():
    with Project("codes") as project:
        project.up("emulator", "coordinator", "download-worker")
        tree = project.admin("/admin/tree")["entries"]
        closed = next(entry for entry in tree if entry["kind"] == "folder"
                      and len(entry["path"]) == 3)
        project.admin("/admin/faults", {
            "match": {"endpoint": "contents", "id": closed["id"]},
            "action": {"type": "status", "status": 403}})
        code, output = project.run_backup()
        expect(code == 3, f"exit {code}: {output}")
        failures = project.must("exec", "-T", "coordinator", "bimbackup",
                                "failures")
        expect("/".join(closed["path"]) in failures, failures)
        code, output = project.run_backup("cancel", "no-such-backup")
        expect(code == 1, f"exit {code}: {output}")
        code, output = project.run_backup("--nonsense")
        expect(code == 2, f"exit {code}: {output}")
        project.must("stop", "coordinator")
        done = project.compose("run", "--rm", "-T", "--no-deps", "backup")
        expect(done.returncode == 4, f"exit {done.returncode}: {done.stderr}")


def test_a_killed_worker_container_costs_nothing():
    with Project("kill", BIM360_EMULATOR_CONNECTION_BANDWIDTH="1MB"
                 ) as project:
        project.up("--scale", "download-worker=2", "emulator", "coordinator",
                   "download-worker")
        wait_for("two workers are there",
                 lambda: len(stored_by_worker(project)) == 2)
        backup = project.start_backup()
        victim, _ = project.containers("download-worker")
        wait_for("both workers hold leases", lambda: all(
            worker["leases"] > 0 for message in project.messages("workers")
            for worker in message["workers"]))
        subprocess.run(["docker", "kill", victim], check=True, timeout=30,
                       stdout=subprocess.DEVNULL)
        output, _ = backup.communicate(timeout=300)
        expect(backup.returncode == 0, output)
        expect_equal(project)


@contextlib.contextmanager
def second_mount(folder):
    """The same folder, mounted at a second place."""
    mount = tempfile.mkdtemp(prefix="bimbackup-mount-")
    subprocess.run(["mount", "--bind", folder, mount], check=True, timeout=30)
    try:
        yield mount
    finally:
        subprocess.run(["umount", mount], check=False, timeout=30)
        os.rmdir(mount)


@contextlib.contextmanager
def connected(emulator, network):
    """The emulator's container is in that network, too."""
    subprocess.run(["docker", "network", "connect", "--alias", "emulator",
                    network, emulator], check=True, timeout=30)
    try:
        yield
    finally:
        subprocess.run(["docker", "network", "disconnect", "--force", network,
                        emulator], check=False, timeout=30)


@contextlib.contextmanager
def certificates(*arguments):
    """A folder of deploy/make_certs.sh that the containers can read."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="bimbackup-certs-"))
    folder.chmod(0o755)
    try:
        make = [ROOT / "deploy/make_certs.sh", "--dir", folder / "certs",
                "--owner", f"{USER}:{USER}"]
        subprocess.run([*make, *arguments], check=True, timeout=60,
                       stdout=subprocess.DEVNULL)
        yield folder / "certs"
    finally:
        shutil.rmtree(folder)


def test_workers_of_another_machine_share_one_folder_over_tls():
    """As README has it: another mount of the share, and the address."""
    with certificates("--host", BRIDGE) as certs, Project(
            "one", certs, BIMBACKUP_PUBLISH=BRIDGE,
            BIM360_EMULATOR_CONNECTION_BANDWIDTH="4MB") as here:
        here.up("emulator", "coordinator", "download-worker")
        with second_mount(here.storage) as mount, Project(
                "two", certs, BIMBACKUP_BACKUP_DIR=mount,
                BIMBACKUP_COORDINATOR=f"{BRIDGE}:{here.port}") as there:
            there.must("up", "-d", "--no-deps", "download-worker")
            emulator, = here.containers("emulator")
            # Both projects' workers must find the emulator by its name.
            with connected(emulator, f"{there.name}_default"):
                wait_for("two workers are there",
                         lambda: len(stored_by_worker(here)) == 2)
                code, output = here.run_backup()
            expect(code == 0, f"exit {code}: {output}")
            expect_equal(here)
            stored = stored_by_worker(here)
            expect(min(stored.values()) > 0, f"one worked alone: {stored}")
            # Before the mount goes.
            there.must("down", "--timeout=5")


@contextlib.contextmanager
def foreign_storage():
    """A folder with the marker of some other storage."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="bimbackup-other-"))
    (folder / "bimbackup.json").write_text(json.dumps(
        {"format": 1, "storage_id": "11111111-2222-4333-8444-555555555555"}))
    for path in (folder, *(folder / name for name in (
            "blobs", "manifests", "snapshots", "tmp"))):
        path.mkdir(exist_ok=True)
        os.chown(path, USER, USER)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def test_a_worker_with_another_folder_is_refused():
    with Project("refuse") as project, foreign_storage() as folder:
        project.up("emulator", "coordinator")
        name = f"{project.name}-foreign"
        try:
            done = subprocess.run(
                ["docker", "run", "--rm", f"--name={name}",
                 f"--network={project.name}_default",
                 f"--volume={folder}:/backup", "bimbackup/download-worker",
                 "--coordinator=coordinator:50051", "--storage=file:///backup"
                 ], capture_output=True, text=True, timeout=60, check=False)
        finally:
            subprocess.run(["docker", "rm", "-f", name], check=False,
                           capture_output=True, timeout=30)
        expect(done.returncode == 2, f"exit {done.returncode}: {done.stderr}")
        expect("storage" in done.stderr, done.stderr)


def test_ports_are_open_to_this_machine_alone():
    with Project("ports") as project:
        config = yaml.safe_load(project.must("config"))
        published = [port for service in config["services"].values()
                     for port in service.get("ports", [])]
        expect(len(published) >= 4, published)
        for port in published:
            # Compose 1.29 writes text, Compose 2 a mapping.
            address = (port.split(":")[0] if isinstance(port, str)
                       else port.get("host_ip"))
            expect(address == "127.0.0.1", port)


def test_doctor_is_content_before_the_first_backup():
    with Project("doctor") as project:
        project.must("up", "-d", "emulator")
        done = project.compose("--profile", "tools", "run", "--rm", "-T",
                               "--no-deps", "doctor")
        expect(done.returncode == 0, done.stdout + done.stderr)
        expect("FAIL" not in done.stdout, done.stdout)
        expect("ok    first byte" in done.stdout, done.stdout)
        expect(not any(project.storage.iterdir()), "doctor left something")


if __name__ == "__main__":
    sys.exit(check.run(check.selected([
        test_up_build_backs_up_and_the_one_shot_ends_with_its_code,
        test_four_workers_share_a_backup,
        test_a_partial_backup_is_exit_code_3_and_no_server_is_4,
        test_a_killed_worker_container_costs_nothing,
        test_workers_of_another_machine_share_one_folder_over_tls,
        test_ports_are_open_to_this_machine_alone,
        test_a_worker_with_another_folder_is_refused,
        test_doctor_is_content_before_the_first_backup])))
