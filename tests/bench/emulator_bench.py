"""Measures the emulator's ceiling with wrk and curl.

usage: emulator_bench.py EMULATOR_BINARY OUTPUT_FOLDER
"""

import json
import os
import re
import statistics
import subprocess
import sys
import time
import urllib.parse
import urllib.request

from children import end_on_sigterm, with_parent

RUNS = 3
SECONDS = 4
# Twice what other sections ask of it: 11,737 folders in 6 s, 40,230 small
# files in 10 s, 250 MB/s in all.
LISTINGS_BAR = 4000
BODIES_BAR = 8000
STREAM_BAR = 0.5
# How far a connection's rate may be from what was asked for, in percent.
RATE_BAR = 3.0


class Emulator:

  def __init__(self, binary, *flags):
    self.process = subprocess.Popen(
        with_parent(binary, "--listen=127.0.0.1:0", "--limits=off", *flags),
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    self.base = self.process.stdout.readline().strip()
    form = urllib.parse.urlencode({
        "grant_type": "client_credentials", "scope": "data:read",
        "client_id": "emulator", "client_secret": "emulator"}).encode()
    self.token = None
    self.token = self.call("/authentication/v2/token", form)["access_token"]
    self.tree = self.call("/admin/tree")["entries"]

  def __enter__(self):
    return self

  def __exit__(self, *_):
    self.process.terminate()
    self.process.wait(timeout=20)

  def call(self, path, body=None):
    headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
    request = urllib.request.Request(self.base + path, body, headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
      return json.loads(answer.read())

  def contents_url(self, folder):
    return (f"{self.base}/data/v1/projects/{folder['project_id']}/folders/"
            f"{urllib.parse.quote(folder['id'], safe='')}/contents")

  def signed_url(self, file):
    bucket, key = file["storage_urn"].split(":")[-1].split("/", 1)
    return self.call(f"/oss/v2/buckets/{bucket}/objects/{key}"
                     "/signeds3download?minutesExpiration=60")["url"]

  def cpu_seconds(self):
    with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as stat:
      fields = stat.read().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wrk(url, token=None):
  """Requests a second over 64 connections."""
  header = ["-H", f"Authorization: Bearer {token}"] if token else []
  text = subprocess.run(
      ["wrk", "-t1", "-c64", f"-d{SECONDS}s", "--timeout", "20s", *header,
       url],
      check=True, capture_output=True, text=True).stdout
  if "Non-2xx" in text or "Socket errors" in text:
    sys.exit(f"wrk met errors:\n{text}")
  return float(re.search(r"Requests/sec:\s*([\d.]+)", text).group(1))


def fetch(url):
  """Seconds that one download takes."""
  begin = time.monotonic()
  with urllib.request.urlopen(url, timeout=60) as answer:
    while answer.read(1 << 20):
      pass
  return time.monotonic() - begin


def measure_url(emulator, name, url, token=None, note=""):
  """A row of requests a second, with those per second of the emulator's own
  processor time, which a busy machine does not change."""
  before = emulator.cpu_seconds()
  values = [wrk(url, token) for _ in range(RUNS)]
  used = emulator.cpu_seconds() - before
  return row(name, "1/s", values, note=note,
             per_processor_second=sum(values) * SECONDS / max(used, 0.01))


def row(name, unit, values, **more):
  return {"name": name, "unit": unit, "mean": statistics.mean(values),
          "error": statistics.stdev(values) / len(values)**0.5,
          "stddev": statistics.stdev(values), "runs": len(values), **more}


def entries_in(tree, folder):
  prefix = folder["path"]
  return sum(1 for e in tree if e["project_id"] == folder["project_id"] and
             e["path"][:-1] == prefix)


def measure_requests(binary):
  rows = []
  flags = ["--account=custom:folders=40,files=900,bytes=900KB,largest=1KB"]
  with Emulator(binary, *flags) as emulator:
    folders = [e for e in emulator.tree if e["kind"] == "folder"]
    counts = {f["id"]: entries_in(emulator.tree, f) for f in folders}
    small = min((f for f in folders if counts[f["id"]] >= 3),
                key=lambda f: counts[f["id"]])
    full = max(folders, key=lambda f: counts[f["id"]])
    body = max((e for e in emulator.tree if e["kind"] == "file"),
               key=lambda e: e["size"])
    cases = [("listings", small, f"{counts[small['id']]} entries"),
             ("full listings", full,
              f"{min(200, counts[full['id']])} entries")]
    for name, folder, note in cases:
      rows.append(measure_url(emulator, name, emulator.contents_url(folder),
                              emulator.token, note))
    rows.append(measure_url(emulator, "small bodies",
                            emulator.signed_url(body),
                            note=f"{body['size']} bytes"))
  return rows


def measure_stream(binary):
  size = 1_000_000_000
  with Emulator(binary, "--account=custom:folders=1,files=1,"
                f"bytes={size}") as emulator:
    file = next(e for e in emulator.tree if e["kind"] == "file")
    url = emulator.signed_url(file)
    rates = []
    for _ in range(RUNS):
      begin = time.monotonic()
      subprocess.run(["curl", "-sf", "-o", "/dev/null", url], check=True)
      rates.append(size / 1e9 / (time.monotonic() - begin))
  return [row("one large body", "GB/s", rates)]


def measure_rate(binary):
  size = 20_000_000
  with Emulator(binary, "--connection_bandwidth=10MB/s",
                f"--account=custom:folders=1,files=1,bytes={size}") as emulator:
    file = next(e for e in emulator.tree if e["kind"] == "file")
    url = emulator.signed_url(file)
    rates = [size / 1e6 / fetch(url) for _ in range(RUNS)]
  return [row("a connection at 10 MB/s", "MB/s", rates)]


def main():
  binary, folder = sys.argv[1:3]
  end_on_sigterm()
  rows = (measure_requests(binary) + measure_stream(binary) +
          measure_rate(binary))
  by_name = {r["name"]: r["mean"] for r in rows}
  off = abs(by_name["a connection at 10 MB/s"] - 10) / 10 * 100
  bars = [
      {"name": "listings", "measured": by_name["listings"], "unit": "1/s",
       "must_be": ">=", "bar": LISTINGS_BAR},
      {"name": "small bodies", "measured": by_name["small bodies"],
       "unit": "1/s", "must_be": ">=", "bar": BODIES_BAR},
      {"name": "one large body", "measured": by_name["one large body"],
       "unit": "GB/s", "must_be": ">=", "bar": STREAM_BAR},
      {"name": "rate off by", "measured": off, "unit": "%", "must_be": "<=",
       "bar": RATE_BAR}]
  print("| measured | mean | error | stddev | unit | "
        "per processor second | |\n|---|---:|---:|---:|---|---:|---|")
  for r in rows:
    print(f"| {r['name']} | {r['mean']:,.2f} | {r['error']:,.2f} | "
          f"{r['stddev']:,.2f} | {r['unit']} | "
          f"{r.get('per_processor_second', 0):,.0f} | {r.get('note', '')} |")
  short = [b for b in bars if (b["measured"] < b["bar"]) ==
           (b["must_be"] == ">=") and b["measured"] != b["bar"]]
  print("\n| bar | measured | must be | |\n|---|---:|---:|---|")
  for b in bars:
    print(f"| {b['name']} | {b['measured']:,.2f} {b['unit']} | "
          f"{b['must_be']} {b['bar']:,} | "
          f"{'SHORT' if b in short else 'met'} |")
  os.makedirs(folder, exist_ok=True)
  with open(os.path.join(folder, "emulator.json"), "w",
            encoding="utf-8") as file:
    json.dump({"rows": rows, "bars": bars}, file, indent=2)
  return 1 if short else 0


if __name__ == "__main__":
  sys.exit(main())
