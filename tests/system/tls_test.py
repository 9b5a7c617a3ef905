"""Mutual TLS and roles, by real processes and deploy/make_certs.sh."""

import contextlib
import pathlib
import re
import shutil
import ssl
import subprocess
import sys
import tempfile
import urllib.request

import check
from check import expect
from cluster import Cluster, Process, wait_for

BIN = pathlib.Path(sys.argv[1])
ROOT = pathlib.Path(__file__).parents[2]
DEMO = ("--account=custom:projects=2,folders=4,files=20,bytes=400000",)
COORDINATOR = "bimbackup.v1.CoordinatorService"


def openssl(*arguments):
    return subprocess.run(["openssl", *arguments], capture_output=True,
                          text=True, timeout=30, check=True).stdout


class Certificates:
    """A folder of deploy/make_certs.sh."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.make()

    def make(self, *arguments):
        done = subprocess.run(
            [ROOT / "deploy/make_certs.sh", "--dir", self.folder, *arguments],
            capture_output=True, text=True, timeout=60, check=False)
        expect(done.returncode == 0, done.stdout + done.stderr)
        return done.stdout

    def flags(self, name):
        return [f"--tls_{kind}={self.folder / name / kind}.pem"
                for kind in ("cert", "key", "ca")]

    def serial(self, name):
        return openssl("x509", "-in", str(self.folder / name / "cert.pem"),
                       "-noout", "-serial").strip()


class TlsCluster(Cluster):
    """A cluster whose every call is mutual TLS; `cli` is the operator."""

    def __init__(self, emulator_flags=DEMO, worker_flags=()):
        self._certificates = tempfile.mkdtemp(prefix="bimbackup-certs-")
        self.certs = Certificates(self._certificates + "/certs")
        super().__init__(
            BIN, emulator_flags,
            worker_flags=[*self.certs.flags("worker"), *worker_flags],
            coordinator_flags=self.certs.flags("coordinator"))

    def __exit__(self, kind, value, trace):
        super().__exit__(kind, value, trace)
        shutil.rmtree(self._certificates, ignore_errors=True)

    def cli(self, *arguments, seconds=60, name="operator"):
        return super().cli(*self.certs.flags(name), *arguments,
                           seconds=seconds)

    def grpcurl(self, method, name="operator", port=None, data="{}",
                certs=None):
        """(exit code, what grpcurl says) of one call."""
        folder = (certs or self.certs).folder
        who = [] if name is None else [
            f"-cert={folder / name}/cert.pem", f"-key={folder / name}/key.pem"]
        done = subprocess.run(
            ["grpcurl", f"-cacert={self.certs.folder}/ca/ca.pem", *who,
             "-max-time=20", f"-d={data}",
             f"127.0.0.1:{port or self.coordinator_port}", method],
            capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stdout + done.stderr


@contextlib.contextmanager
def running(process, pattern):
    """A server until the end of the block; yields the match in its log."""
    process.start()
    try:
        yield process.await_log(pattern)
    finally:
        process.terminate()
        process.stop()


def test_a_backup_over_tls():
    with TlsCluster() as cluster:
        cluster.start(workers=2)
        code, backup = cluster.run_backup()
        expect(code == 0, f"exit {code}: {cluster.coordinator.log()}")
        expect(backup["state"] == "BACKUP_STATE_SUCCEEDED", backup)
        expect(int(backup["progress"]["transfersStored"]) > 0, backup)
        for command in (("list",), ("snapshots",), ("ls",), ("workers",),
                        ("health",)):
            done = cluster.cli(*command)
            expect(done.returncode == 0, f"{command}: {done.stderr}")
        doctor = cluster.cli("doctor", seconds=90)
        expect("answers at" in doctor.stdout, doctor.stdout + doctor.stderr)
        worker = cluster.workers[0].await_log(r"serves on (\S+),")[1]
        done = cluster.cli("health", worker)
        expect(done.returncode == 0, done.stderr)
        code, said = cluster.grpcurl(
            "bimbackup.v1.DownloadWorkerService/GetStatus",
            port=worker.rpartition(":")[2])
        expect(code == 0 and '"connected": true' in said, said)


def test_file_scan_over_tls():
    with TlsCluster() as cluster:
        (cluster.storage / "lines.txt").write_text("one\ntwo\n")
        scan = Process(cluster.folder, "file-scan", [
            BIN / "bimbackup-file-scan", "--listen=127.0.0.1:0",
            f"--root={cluster.storage}", *cluster.certs.flags("file-scan")],
            {})
        with running(scan, r"listening on (\S+),") as match:
            done = cluster.cli("scan", "lines.txt", f"--file_scan={match[1]}",
                               name="reader")
            expect(done.returncode == 0 and "lines" in done.stdout,
                   done.stdout + done.stderr)
            done = cluster.cli("scan", "--benchmark",
                               f"--file_scan={match[1]}", name="reader")
            expect(done.returncode == 1 and "may not call" in done.stderr,
                   done.stdout + done.stderr)
            done = Cluster.cli(cluster, "health", match[1])
            expect(done.returncode == 4, f"plain text: {done.returncode}")


def test_roles_decide():
    with TlsCluster() as cluster:
        cluster.start(workers=1)
        for name, method, allowed in (
                ("worker", "ForgetSnapshots", False),
                ("worker", "ListSnapshots", False),
                ("reader", "ListSnapshots", True),
                ("reader", "StartBackup", False),
                ("reader", "ForgetSnapshots", False),
                ("operator", "ListSnapshots", True),
                ("operator", "StartBackup", True),
                ("coordinator", "ListSnapshots", False)):
            code, said = cluster.grpcurl(f"{COORDINATOR}/{method}", name)
            expect((code == 0) == allowed, f"{name}, {method}: {said}")
            expect(allowed or "PermissionDenied" in said and
                   f"may not call /{COORDINATOR}/{method}" in said, said)
        code, said = cluster.grpcurl(
            "bimbackup.v1.WorkerPoolService/Synchronize", "operator")
        expect("PermissionDenied" in said, said)
        code, said = cluster.grpcurl("grpc.health.v1.Health/Check", "worker")
        expect(code == 0 and "SERVING" in said, said)
        refused = re.findall(r"warning coordinator refused: (.*)",
                             cluster.coordinator.log())
        expect(any("CN=worker" in line for line in refused), refused)


def test_strangers_do_not_get_in():
    with TlsCluster() as cluster:
        cluster.start(workers=0)
        list_snapshots = f"{COORDINATOR}/ListSnapshots"
        code, said = cluster.grpcurl(list_snapshots, name=None)
        expect(code != 0 and "snapshots" not in said, said)
        foreign = Certificates(cluster.folder / "foreign")
        code, said = cluster.grpcurl(list_snapshots, certs=foreign)
        expect(code != 0 and "PermissionDenied" not in said, said)
        done = Cluster.cli(cluster, *foreign.flags("operator"), "list")
        expect(done.returncode == 4 and len(done.stderr.splitlines()) == 1,
               f"exit {done.returncode}: {done.stderr}")
        done = Cluster.cli(cluster, "list")
        expect(done.returncode == 4, f"exit {done.returncode}: {done.stderr}")
        # A server under a name that its certificate does not have.
        done = cluster.cli(
            f"--coordinator=127.0.0.2:{cluster.coordinator_port}", "list")
        expect(done.returncode == 4, f"exit {done.returncode}: {done.stderr}")


def test_a_worker_with_another_role_says_so():
    with TlsCluster() as cluster:
        cluster.start(workers=0)
        flags = [flag for flag in cluster.worker_arguments()
                 if not str(flag).startswith("--tls_")]
        impostor = Process(cluster.folder, "impostor",
                           [*flags, *cluster.certs.flags("reader")], {})
        with running(impostor, r"may not call \S+/Synchronize"):
            pass


def refused(binary, *arguments, environment=None):
    """The one line with which a program refuses its configuration."""
    done = subprocess.run([BIN / binary, *arguments], env=environment,
                          capture_output=True, text=True, timeout=30,
                          check=False)
    lines = done.stderr.strip().splitlines()
    expect(done.returncode == 2 and len(lines) == 1,
           f"{binary}: exit {done.returncode}: {done.stderr}")
    return lines[0]


SERVERS = (("bimbackup-coordinator", ("--state_dir=/nowhere",
                                      "--storage=file:///nowhere")),
           ("bimbackup-worker", ("--storage=file:///nowhere",)),
           ("bimbackup-file-scan", ("--root=/tmp",)))
ACCOUNT = {"APS_CLIENT_ID": "x", "APS_CLIENT_SECRET": "x",
           "APS_ACCOUNT_ID": "x"}


def test_plain_text_for_other_machines_needs_the_word():
    for binary, flags in SERVERS:
        line = refused(binary, "--listen=0.0.0.0:0", *flags,
                       environment=ACCOUNT)
        expect("--listen" in line and "--insecure" in line, line)
        expect("--tls_cert" in line, line)
    line = refused("bimbackup-coordinator", "--listen=127.0.0.1:0",
                   "--http_listen=0.0.0.0:0", *SERVERS[0][1],
                   environment=ACCOUNT)
    expect("--http_listen" in line and "--insecure" in line, line)
    with tempfile.TemporaryDirectory() as folder:
        for flags, environment in ((["--insecure"], {}), (
                [], {"BIMBACKUP_INSECURE": "true"})):
            scan = Process(pathlib.Path(folder), "file-scan", [
                BIN / "bimbackup-file-scan", "--listen=0.0.0.0:0",
                f"--root={folder}", *flags], environment)
            with running(scan, r"listening on 0\.0\.0\.0:\d+"):
                pass


def test_files_that_cannot_be_used_end_with_one_line():
    with tempfile.TemporaryDirectory() as folder:
        certs = Certificates(f"{folder}/certs")
        other = Certificates(f"{folder}/other")
        cert, key, ca = certs.flags("operator")
        junk = pathlib.Path(folder) / "junk.pem"
        junk.write_text("junk")
        bad = (([cert, key], "--tls_ca is missing"),
               ([ca], "--tls_cert is missing"),
               ([cert, "--tls_key=/no/such.pem", ca], "/no/such.pem"),
               ([f"--tls_cert={junk}", key, ca], str(junk)),
               ([cert, certs.flags("worker")[1], ca], "is not the key of"),
               ([cert, key, other.flags("operator")[2]], "--tls_ca"))
        for flags, word in bad:
            line = refused("bimbackup", *flags, "list")
            expect(word in line, line)
            for binary, more in SERVERS:
                line = refused(binary, "--listen=127.0.0.1:0", *more, *flags,
                               environment=ACCOUNT)
                expect(word in line, line)


def https(cluster, path, ca):
    """(page, serial of the certificate) of the coordinator's HTTP side."""
    context = ssl.create_default_context(cafile=ca)
    url = f"https://127.0.0.1:{cluster.http_port}{path}"
    with urllib.request.urlopen(url, timeout=10, context=context) as answer:
        page = answer.read().decode()
    pem = ssl.get_server_certificate(("127.0.0.1", cluster.http_port))
    done = subprocess.run(["openssl", "x509", "-noout", "-serial"], input=pem,
                          capture_output=True, text=True, timeout=30,
                          check=True)
    return page, done.stdout.strip()


def test_https_needs_no_certificate_and_shows_the_new_one():
    with TlsCluster() as cluster:
        cluster.start(workers=0)
        ca = f"{cluster.certs.folder}/ca/ca.pem"
        page, serial = https(cluster, "/healthz", ca)
        expect(page == "ok\n", page)
        expect(serial == cluster.certs.serial("coordinator"), serial)
        expect("bimbackup_workers 0" in https(cluster, "/metrics", ca)[0], "?")
        cluster.certs.make("--renew", "coordinator")
        wait_for("the new certificate is shown", lambda: https(
            cluster, "/healthz", ca)[1] == cluster.certs.serial("coordinator"))


def test_renewal_while_a_backup_runs_loses_nothing():
    flags = ("--account=custom:projects=2,folders=4,files=60,bytes=6000000",
             "--connection_bandwidth=100KB")
    with TlsCluster(flags, ["--max_transfers=1"]) as cluster:
        cluster.start(workers=2)
        started = cluster.cli("backup")
        expect(started.returncode == 0, started.stderr)
        wait_for("transfers run", lambda: int(
            cluster.backup()["progress"].get("transfersStored", 0)) > 0)
        for name in ("coordinator", "worker", "operator", "ca"):
            cluster.certs.make("--renew", name)
        ca = f"{cluster.certs.folder}/ca/ca.pem"
        wait_for("the new certificate is shown", lambda: https(
            cluster, "/healthz", ca)[1] == cluster.certs.serial("coordinator"))
        expect(cluster.backup()["state"] == "BACKUP_STATE_TRANSFERRING",
               "the backup ended before its certificates were replaced")
        # Whoever comes now sees it, too.
        cluster.add_worker()
        code, backup = cluster.run_watch()
        expect(code == 0, f"exit {code}: {cluster.coordinator.log()[-3000:]}")
        expect(backup["state"] == "BACKUP_STATE_SUCCEEDED", backup)
        expect(not int(backup["progress"].get("transfersFailed", 0)), backup)
        for worker in cluster.workers:
            expect("cannot reach" not in worker.log(), worker.log()[-3000:])


def test_make_certs_can_run_again_and_keeps_keys_to_itself():
    with tempfile.TemporaryDirectory() as folder:
        certs = Certificates(f"{folder}/certs")
        serials = {name: certs.serial(name)
                   for name in ("coordinator", "worker", "reader")}
        expect(certs.make() == "", "something was made again")
        for name, serial in serials.items():
            expect(certs.serial(name) == serial, f"{name} was made again")
        keys = [*certs.folder.glob("*/*/key.pem"),
                certs.folder / "ca/ca.key"]
        expect(len(keys) >= 6, keys)
        for key in keys:
            expect(key.stat().st_mode & 0o777 == 0o600, key)
        names = openssl("x509", "-in", f"{folder}/certs/worker/cert.pem",
                        "-noout", "-ext", "subjectAltName")
        expect("URI:bimbackup://role/worker" in names, names)
        certs.make("--renew", "worker", "--days", "5")
        expect(certs.serial("worker") != serials["worker"], "not renewed")
        expect(openssl("x509", "-in", f"{folder}/certs/worker/cert.pem",
                       "-noout", "-ext", "subjectAltName") == names, "names")
        certs.make("--add", "alice", "operator", "--days", "9")


TESTS = [value for name, value in sorted(globals().items())
         if name.startswith("test_")]

if __name__ == "__main__":
    sys.exit(check.run(check.selected(TESTS)))
