#include "services/coordinator/catalog/schema.h"

#include "absl/strings/str_cat.h"
#include "services/common/logging.h"
#include "services/common/status_macros.h"

namespace bimbackup::catalog {
namespace {

// Ids of Autodesk are long and random. Tables therefore refer to each other
// by numbers, and are searched by a hash of the id, so that the indexes of a
// million files stay in memory; the id itself is compared too.
//
// folders: the row with parent 0 is the project's root. `rollup` is what the
//   parent's listing gave; `listed_rollup` what it had given when the folder
//   was last listed completely, by the task `listed` (0: never; -1: it is made
//   up for the names above a folder whose parents cannot be seen). `seen` is
//   the parent's task that saw it last; `task` its own in the frontier, or 0.
// missing: 0 present, 1 not seen by a complete listing, 2 guarded.
// objects.asked: the backup of its newest transfer, `transfer`.
// frontier.kind: FrontierTask::Kind. blocked: 0 open, 1 unlisted, 2 outside
//   the filter, 3 below something missing or vanished.
// transfers.state: TransferState. Those of a backup have ids without a gap,
//   from backups.first_transfer.
constexpr char kStep1[] = R"sql(
CREATE TABLE settings(
  name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE backups(
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  request_id TEXT NOT NULL,
  validate_only INTEGER NOT NULL,
  full_recheck INTEGER NOT NULL,
  state INTEGER NOT NULL,
  message TEXT NOT NULL DEFAULT '',
  create_time INTEGER NOT NULL,
  end_time INTEGER,
  snapshot_id TEXT NOT NULL DEFAULT '',
  first_transfer INTEGER NOT NULL DEFAULT 0,
  crawl_task INTEGER NOT NULL DEFAULT 0,
  crawl_ended INTEGER NOT NULL DEFAULT 0,
  rechecked INTEGER,
  folders_listed INTEGER NOT NULL DEFAULT 0,
  folders_skipped INTEGER NOT NULL DEFAULT 0,
  transfers INTEGER NOT NULL DEFAULT 0,
  transfer_bytes INTEGER NOT NULL DEFAULT 0,
  transfers_stored INTEGER NOT NULL DEFAULT 0,
  bytes_stored INTEGER NOT NULL DEFAULT 0,
  transfers_failed INTEGER NOT NULL DEFAULT 0,
  unlisted INTEGER NOT NULL DEFAULT 0,
  guarded INTEGER NOT NULL DEFAULT 0,
  manifests_written INTEGER NOT NULL DEFAULT 0);
CREATE INDEX backups_by_request ON backups(request_id) WHERE request_id <> '';
CREATE INDEX backups_running ON backups(state) WHERE state < 3;
CREATE TABLE backup_filters(
  backup INTEGER, kind INTEGER, position INTEGER, value TEXT NOT NULL,
  PRIMARY KEY(backup, kind, position)) WITHOUT ROWID;
CREATE TABLE backup_api_calls(
  backup INTEGER, name TEXT, calls INTEGER NOT NULL,
  PRIMARY KEY(backup, name)) WITHOUT ROWID;
CREATE TABLE projects(
  pk INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  root INTEGER NOT NULL DEFAULT 0,
  vanished INTEGER NOT NULL DEFAULT 0,
  changed INTEGER NOT NULL DEFAULT 1,
  manifest BLOB,
  seen INTEGER NOT NULL DEFAULT 0,
  files INTEGER NOT NULL DEFAULT 0,
  folders INTEGER NOT NULL DEFAULT 0,
  bytes INTEGER NOT NULL DEFAULT 0);
CREATE TABLE folders(
  pk INTEGER PRIMARY KEY,
  project INTEGER NOT NULL,
  parent INTEGER NOT NULL,
  depth INTEGER NOT NULL,
  id_hash INTEGER NOT NULL,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  rollup TEXT NOT NULL DEFAULT '',
  listed_rollup TEXT NOT NULL DEFAULT '',
  listed INTEGER NOT NULL DEFAULT 0,
  seen INTEGER NOT NULL DEFAULT 0,
  task INTEGER NOT NULL DEFAULT 0,
  missing INTEGER NOT NULL DEFAULT 0,
  in_part INTEGER NOT NULL DEFAULT 0,
  unlisted TEXT);
CREATE INDEX folders_by_id ON folders(id_hash);
CREATE INDEX folders_by_parent ON folders(parent);
CREATE INDEX folders_by_listing ON folders(listed);
CREATE INDEX folders_missing ON folders(project) WHERE missing = 1;
CREATE INDEX folders_guarded ON folders(project) WHERE missing = 2;
CREATE INDEX folders_unlisted ON folders(project) WHERE unlisted IS NOT NULL;
CREATE TABLE objects(
  pk INTEGER PRIMARY KEY,
  urn_hash INTEGER NOT NULL,
  urn TEXT NOT NULL,
  size INTEGER,
  sha256 BLOB,
  asked INTEGER NOT NULL DEFAULT 0,
  transfer INTEGER NOT NULL DEFAULT 0,
  failure TEXT);
CREATE INDEX objects_by_urn ON objects(urn_hash);
CREATE TABLE files(
  pk INTEGER PRIMARY KEY,
  project INTEGER NOT NULL,
  folder INTEGER NOT NULL,
  item_hash INTEGER NOT NULL,
  item_id TEXT NOT NULL,
  name TEXT NOT NULL,
  version_id TEXT NOT NULL,
  version_number INTEGER NOT NULL,
  object INTEGER,
  modified INTEGER,
  reason TEXT NOT NULL,
  seen INTEGER NOT NULL,
  missing INTEGER NOT NULL DEFAULT 0,
  former_object INTEGER,
  former_version_id TEXT,
  former_number INTEGER,
  former_modified INTEGER);
CREATE INDEX files_by_item ON files(item_hash);
CREATE INDEX files_by_folder ON files(folder);
CREATE INDEX files_by_object ON files(object) WHERE object IS NOT NULL;
CREATE INDEX files_missing ON files(project) WHERE missing = 1;
CREATE INDEX files_guarded ON files(project) WHERE missing = 2;
CREATE TABLE frontier(
  task INTEGER PRIMARY KEY AUTOINCREMENT,
  kind INTEGER NOT NULL,
  project INTEGER NOT NULL DEFAULT 0,
  folder INTEGER NOT NULL DEFAULT 0,
  rollup TEXT NOT NULL DEFAULT '',
  page_url TEXT NOT NULL DEFAULT '',
  page_number INTEGER NOT NULL DEFAULT 0,
  blocked INTEGER NOT NULL DEFAULT 0,
  defect TEXT NOT NULL DEFAULT '',
  keep INTEGER NOT NULL DEFAULT 0);
CREATE INDEX frontier_open ON frontier(task) WHERE blocked = 0;
CREATE INDEX frontier_by_kind ON frontier(kind) WHERE kind = 0;
CREATE INDEX frontier_by_project ON frontier(project);
CREATE TABLE transfers(
  id INTEGER PRIMARY KEY,
  backup INTEGER NOT NULL,
  object INTEGER NOT NULL,
  file INTEGER NOT NULL,
  state INTEGER NOT NULL DEFAULT 0,
  attempts INTEGER NOT NULL DEFAULT 0,
  epoch INTEGER NOT NULL DEFAULT 0,
  worker TEXT NOT NULL DEFAULT '',
  reason TEXT NOT NULL DEFAULT '');
CREATE INDEX transfers_pending ON transfers(backup) WHERE state = 0;
CREATE INDEX transfers_leased ON transfers(backup) WHERE state = 1;
CREATE INDEX transfers_failed ON transfers(backup) WHERE state = 3;
CREATE TABLE attempts(
  transfer INTEGER, number INTEGER,
  end_time INTEGER NOT NULL,
  worker TEXT NOT NULL,
  outcome INTEGER NOT NULL,
  http_status INTEGER NOT NULL,
  bytes_received INTEGER NOT NULL,
  message TEXT NOT NULL,
  PRIMARY KEY(transfer, number)) WITHOUT ROWID;
CREATE TABLE shown(
  project_id TEXT PRIMARY KEY,
  manifest TEXT NOT NULL,
  updating_to TEXT NOT NULL) WITHOUT ROWID;
)sql";

// folders.kept_by: the backup that found it in a cycle, which says nothing
//   about where it is, so that it is not taken for missing; of a root, the
//   first that was not shown its files.
// frontier.times_blocked: in how many backups in a row.
// transfers.project, path, item_id: known when the file is gone; the latter
//   two of failed ones only.
constexpr char kStep2[] = R"sql(
ALTER TABLE folders ADD COLUMN kept_by INTEGER NOT NULL DEFAULT 0;
ALTER TABLE frontier ADD COLUMN times_blocked INTEGER NOT NULL DEFAULT 0;
ALTER TABLE transfers ADD COLUMN path TEXT;
ALTER TABLE transfers ADD COLUMN project INTEGER NOT NULL DEFAULT 0;
ALTER TABLE transfers ADD COLUMN item_id TEXT;
UPDATE transfers SET project =
  COALESCE((SELECT project FROM files WHERE files.pk = transfers.file), 0);
)sql";

// folders.denied: 1 its last listing was forbidden; 2 and somebody accepts
//   that: it is then in the frontier only when its parent was listed.
// missing 3, vanished 2: guarded no longer, because somebody accepted it; rows
//   that are gone as soon as there is time, but for the project's own.
// attempts.late: reported when the lease was lost, whose end is an attempt.
// objects.expected: the digest that its bytes had before their blob was found
//   damaged; until they are fetched again.
// damaged_blobs.state: 0 to be fetched again, 1 fetched and not yet put into
//   the latest view again, 2 given up. tries: by so many backups.
constexpr char kStep3[] = R"sql(
ALTER TABLE folders ADD COLUMN denied INTEGER NOT NULL DEFAULT 0;
ALTER TABLE backups ADD COLUMN denied INTEGER NOT NULL DEFAULT 0;
ALTER TABLE attempts ADD COLUMN late INTEGER NOT NULL DEFAULT 0;
ALTER TABLE objects ADD COLUMN expected BLOB;
CREATE TABLE damaged_blobs(
  sha256 BLOB PRIMARY KEY,
  urn TEXT NOT NULL,
  size INTEGER,
  found INTEGER NOT NULL,
  project_id TEXT NOT NULL,
  project_name TEXT NOT NULL,
  item_id TEXT NOT NULL,
  path BLOB NOT NULL,
  state INTEGER NOT NULL DEFAULT 0,
  tries INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
CREATE INDEX damaged_blobs_by_state ON damaged_blobs(state);
CREATE INDEX folders_denied ON folders(project) WHERE denied = 1;
CREATE INDEX folders_accepted ON folders(pk) WHERE missing = 3;
CREATE INDEX files_accepted ON files(pk) WHERE missing = 3;
CREATE INDEX objects_by_digest ON objects(sha256) WHERE sha256 IS NOT NULL;
CREATE INDEX files_by_former ON files(former_object)
  WHERE former_object IS NOT NULL;
CREATE INDEX objects_unstored ON objects(pk) WHERE sha256 IS NULL;
)sql";

// Random entries of an index are what a first crawl pays most for: each dirties
// a page of its own, which goes through the log. Hence
// folders.id_hash, files.item_hash: begin with the project, in whose few pages
//   its crawl stays.
// object_hashes: the objects by their URNs' hashes, which nothing brings near
//   each other. New ones wait in new_object_hashes, whose pages are few, until
//   enough of them are moved over in order. urn_hashes: both.
constexpr char kStep4[] = R"sql(
DROP INDEX objects_by_urn;
CREATE TABLE object_hashes(
  urn_hash INTEGER, object INTEGER,
  PRIMARY KEY(urn_hash, object)) WITHOUT ROWID;
CREATE TABLE new_object_hashes(
  urn_hash INTEGER, object INTEGER,
  PRIMARY KEY(urn_hash, object)) WITHOUT ROWID;
CREATE VIEW urn_hashes AS
  SELECT urn_hash, object FROM object_hashes
  UNION ALL SELECT urn_hash, object FROM new_object_hashes;
INSERT INTO object_hashes SELECT urn_hash, pk FROM objects ORDER BY urn_hash;
ALTER TABLE objects DROP COLUMN urn_hash;
UPDATE folders SET id_hash = (project << 40) | (id_hash & 0xffffffffff);
UPDATE files SET item_hash = (project << 40) | (item_hash & 0xffffffffff);
)sql";

// object_hashes: the objects up to the number that the setting hashed_objects
//   holds. Those of newer ones are kept in memory, known_hashes.h says how:
//   in a table of the file, each commit would write most of its pages.
constexpr char kStep5[] = R"sql(
DROP VIEW urn_hashes;
INSERT INTO object_hashes SELECT urn_hash, object FROM new_object_hashes
  ORDER BY urn_hash;
DROP TABLE new_object_hashes;
INSERT INTO settings(name, value)
  SELECT 'hashed_objects', IFNULL(MAX(pk), 0) FROM objects;
)sql";

constexpr const char* kSteps[kSchemaVersion] = {kStep1, kStep2, kStep3, kStep4,
                                                kStep5};

}  // namespace

const char* SchemaStep(int version) { return kSteps[version - 1]; }

absl::Status MigrateSchema(Database& database, const std::string& path,
                           absl::Time now) {
  const int64_t version = ReadInt(database, 0, "PRAGMA user_version");
  ABSL_RETURN_IF_ERROR(database.TakeStatus());
  if (version == kSchemaVersion) return absl::OkStatus();
  if (version > kSchemaVersion) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the catalog ", path, " has schema ", version, ", this program knows ",
        kSchemaVersion, ": use the newer program that wrote it"));
  }
  if (version > 0) {
    const std::string copy = absl::StrCat(
        path, ".v", version, "-",
        absl::FormatTime("%Y%m%dT%H%M%SZ", now, absl::UTCTimeZone()));
    ABSL_RETURN_IF_ERROR(database.CopyTo(copy));
    spdlog::info("migrating the catalog from schema {} to {}; a copy is in {}",
                 version, kSchemaVersion, copy);
  }
  database.Execute("BEGIN IMMEDIATE");
  for (int64_t step = version; step < kSchemaVersion; ++step) {
    database.Execute(kSteps[step]);
  }
  database.Execute(
      absl::StrCat("PRAGMA user_version = ", kSchemaVersion, "; COMMIT")
          .c_str());
  return database.TakeStatus();
}

}  // namespace bimbackup::catalog
