#!/usr/bin/python3
"""Validates the emulator's answers against Autodesk's published schemas.

usage: openapi_test.py EMULATOR_BINARY SCHEMA_FOLDER

Starts the emulator, calls every endpoint that it answers, and checks each
answer against the OpenAPI file that describes it. Three things the service
itself sends in spite of its schemas, and so does the emulator: an empty
`data`, empty user fields of folders, and values in `extension.data` that are
no objects. Nothing else is excepted, and each exception must be needed.
"""

import json
import re
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request

import jsonschema
import yaml

USER_FIELDS = ("createUserId", "createUserName", "lastModifiedUserId",
               "lastModifiedUserName")
TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")

formats = jsonschema.FormatChecker(formats=())
formats.checks("date-time")(
    lambda value: TIMESTAMP.fullmatch(value) is not None)
formats.checks("int32")(
    lambda value: -2**31 <= value < 2**31 if isinstance(value, int) else True)
formats.checks("int64")(
    lambda value: -2**63 <= value < 2**63 if isinstance(value, int) else True)


def excuse(error, instance):
  """The name of the documented deviation that an error is, or None."""
  path = list(error.absolute_path)
  if error.validator == "minItems" and path == ["data"]:
    return "empty data"
  if error.validator == "minLength" and path[-1] in USER_FIELDS:
    resource = instance
    for step in path[:-2]:
      resource = resource[step]
    if resource.get("type") == "folders":
      return "empty user fields"
  if (error.validator == "type" and
      path[-3:-1] == ["extension", "data"]):
    return "extension.data values"
  return None


def leaves(error):
  """The errors of the branch of a oneOf that the resource belongs to."""
  if error.validator != "oneOf":
    yield error
    return
  branches = {}
  for inner in error.context:
    branches.setdefault(inner.schema_path[0], []).append(inner)
  wrong = {index for index, inners in branches.items()
           if any(i.validator == "enum" and list(i.path) == ["type"]
                  for i in inners)}
  for index, inners in branches.items():
    if index not in wrong:
      for inner in inners:
        yield from leaves(inner)
  if len(wrong) == len(error.schema["oneOf"]):
    yield error


class Checker:

  def __init__(self, folder):
    self.specs = {}
    for name in ("datamanagement", "oss", "authentication"):
      with open(f"{folder}/{name}.yaml", encoding="utf-8") as file:
        self.specs[name] = yaml.safe_load(file)
    self.failures = []
    self.excused = {}
    self.checked = 0

  def resolve(self, spec, node):
    while "$ref" in node:
      target = spec
      for step in node["$ref"].lstrip("#/").split("/"):
        target = target[step]
      node = target
    return node

  def check(self, name, path, method, status, answer):
    spec = self.specs[name]
    responses = spec["paths"][path][method]["responses"]
    response = self.resolve(spec, responses[str(status)])
    schema = next(iter(response["content"].values()))["schema"]
    validator = jsonschema.Draft4Validator(
        schema, resolver=jsonschema.RefResolver("", spec),
        format_checker=formats)
    self.checked += 1
    for top in validator.iter_errors(answer):
      for error in leaves(top):
        reason = excuse(error, answer)
        if reason is None:
          self.failures.append(
              f"{method} {path}: {list(error.absolute_path)}: "
              f"{error.message[:200]}")
        else:
          self.excused[reason] = self.excused.get(reason, 0) + 1


class Client:

  def __init__(self, base):
    self.base = base
    self.headers = {}

  def call(self, path, body=None, headers=None):
    url = path if path.startswith("http") else self.base + path
    request = urllib.request.Request(url, data=body,
                                     headers={**self.headers,
                                              **(headers or {})})
    with urllib.request.urlopen(request, timeout=20) as response:
      return json.loads(response.read())


def log_in(client, checker):
  form = {"grant_type": "client_credentials", "scope": "data:read",
          "client_id": "emulator", "client_secret": "emulator"}
  answer = client.call("/authentication/v2/token",
                       urllib.parse.urlencode(form).encode())
  checker.check("authentication", "/authentication/v2/token", "post", 200,
                answer)
  client.headers = {"Authorization": "Bearer " + answer["access_token"]}


def check_project(client, checker, hub, project):
  def get(path, template, status=200):
    answer = client.call(path)
    checker.check("datamanagement", template, "get", status, answer)
    return answer

  root = "/project/v1/hubs/{hub_id}/projects/{project_id}"
  data = "/data/v1/projects/{project_id}"
  get(f"/project/v1/hubs/{hub}/projects/{project}", root)
  tops = get(f"/project/v1/hubs/{hub}/projects/{project}/topFolders",
             root + "/topFolders")
  queue = [folder["id"] for folder in tops["data"]]
  seen_item = False
  while queue:
    folder = urllib.parse.quote(queue.pop(), safe="")
    get(f"/data/v1/projects/{project}/folders/{folder}",
        data + "/folders/{folder_id}")
    page = get(f"/data/v1/projects/{project}/folders/{folder}/contents"
               "?includeHidden=true", data + "/folders/{folder_id}/contents")
    queue += [e["id"] for e in page["data"] if e["type"] == "folders"]
    for item in (e for e in page["data"] if e["type"] == "items"):
      if not seen_item:
        check_item(get, project, item["id"], page["included"][0]["id"])
      seen_item = True
    for version in page.get("included", []):
      check_object(client, checker, version)


def check_item(get, project, item, version):
  data = "/data/v1/projects/{project_id}"
  path = f"/data/v1/projects/{project}/items/" + urllib.parse.quote(item)
  get(path, data + "/items/{item_id}")
  get(path + "/tip", data + "/items/{item_id}/tip")
  get(path + "/versions", data + "/items/{item_id}/versions")
  get(f"/data/v1/projects/{project}/versions/" +
      urllib.parse.quote(version, safe=""), data + "/versions/{version_id}")


def check_object(client, checker, version):
  storage = version["relationships"].get("storage")
  if storage is None:
    return
  bucket, key = storage["data"]["id"].split(":")[-1].split("/", 1)
  base = f"/oss/v2/buckets/{bucket}/objects"
  template = "/oss/v2/buckets/{bucketKey}/objects"
  checker.check("oss", template + "/{objectKey}/signeds3download", "get", 200,
                client.call(f"{base}/{key}/signeds3download"))
  checker.check("oss", template + "/{objectKey}/details", "get", 200,
                client.call(f"{base}/{key}/details"))
  batch = json.dumps({"requests": [{"objectKey": key}]}).encode()
  checker.check("oss", template + "/batchsigneds3download", "post", 200,
                client.call(base + "/batchsigneds3download", batch))


def check_signing_variants(client, checker):
  for fault in ("chunked_urls", "fallback"):
    rule = {"match": {"endpoint": "sign"}, "action": {"type": fault}}
    client.call("/admin/faults", json.dumps(rule).encode())
    tree = client.call("/admin/tree")["entries"]
    key = next(e for e in tree if e.get("has_content") and e["size"] > 0)
    bucket, name = key["storage_urn"].split(":")[-1].split("/", 1)
    answer = client.call(
        f"/oss/v2/buckets/{bucket}/objects/{name}/signeds3download")
    assert answer["status"] == fault.split("_")[0], answer
    checker.check(
        "oss",
        "/oss/v2/buckets/{bucketKey}/objects/{objectKey}/signeds3download",
        "get", 200, answer)
    request = urllib.request.Request(client.base + "/admin/faults",
                                     method="DELETE")
    urllib.request.urlopen(request, timeout=20).close()


def prepare(client, project):
  edits = [
      {"op": "create_folder", "path": ["Project Files", "Empty"]},
      {"op": "create_file", "path": ["Project Files", "deleted.txt"],
       "size": 3},
      {"op": "delete", "path": ["Project Files", "deleted.txt"]},
      {"op": "create_file", "path": ["Project Files", "cloud.rvt"],
       "size": 9, "kind": "c4r"},
      {"op": "create_file", "path": ["Project Files", "no size.pdf"],
       "size": 9, "has_size": False},
      {"op": "create_file", "path": ["Project Files", "empty é.pdf"],
       "content": ""},
  ]
  for edit in edits:
    edit["project"] = project
  client.call("/admin/edit", json.dumps(edits).encode())


def run(binary, folder):
  emulator = subprocess.Popen(
      [binary, "--listen=127.0.0.1:0", "--limits=off", "--batch_sign=on",
       "--account=custom:projects=3,kind=mixed,folders=18,files=40,"
       "bytes=1MB,plans_documents=2,service_folders=2"],
      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
  try:
    client = Client(emulator.stdout.readline().strip())
    checker = Checker(folder)
    log_in(client, checker)
    hubs = client.call("/project/v1/hubs")
    checker.check("datamanagement", "/project/v1/hubs", "get", 200, hubs)
    hub = hubs["data"][0]["id"]
    checker.check("datamanagement", "/project/v1/hubs/{hub_id}", "get", 200,
                  client.call(f"/project/v1/hubs/{hub}"))
    for query in ("", "?page[limit]=1&page[number]=1"):
      projects = client.call(f"/project/v1/hubs/{hub}/projects{query}")
      checker.check("datamanagement", "/project/v1/hubs/{hub_id}/projects",
                    "get", 200, projects)
    projects = client.call(f"/project/v1/hubs/{hub}/projects")
    for project in projects["data"]:
      prepare(client, project["id"])
      check_project(client, checker, hub, project["id"])
    check_signing_variants(client, checker)
  finally:
    emulator.terminate()
    code = emulator.wait(timeout=20)
  return checker, code


def main():
  checker, code = run(sys.argv[1], sys.argv[2])
  for failure in checker.failures[:20]:
    print("FAIL", failure)
  unused = {"empty data", "empty user fields",
            "extension.data values"} - set(checker.excused)
  if unused:
    print("FAIL exceptions that nothing needs:", sorted(unused))
  if code != 0:
    print("FAIL the emulator ended with", code)
  print(f"{checker.checked} answers checked, {len(checker.failures)} "
        f"failures, excused: {checker.excused}")
  return 1 if checker.failures or unused or code != 0 else 0


if __name__ == "__main__":
  sys.exit(main())
