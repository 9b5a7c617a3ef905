#include "clients/verify/messages.h"

#include "absl/strings/str_cat.h"

namespace bimbackup::verify {
namespace {

v1::DamageKind ToProto(DamageKind kind) {
  switch (kind) {
    case DamageKind::kMissingBlob:
      return v1::DAMAGE_KIND_MISSING_BLOB;
    case DamageKind::kWrongSize:
      return v1::DAMAGE_KIND_WRONG_SIZE;
    case DamageKind::kWrongDigest:
      return v1::DAMAGE_KIND_WRONG_DIGEST;
    case DamageKind::kUnreadableBlob:
      return v1::DAMAGE_KIND_UNREADABLE_BLOB;
    case DamageKind::kManifest:
      return v1::DAMAGE_KIND_MANIFEST;
    case DamageKind::kSnapshot:
      return v1::DAMAGE_KIND_SNAPSHOT;
  }
  return v1::DAMAGE_KIND_UNSPECIFIED;
}

}  // namespace

VerifyOptions OptionsOf(const v1::VerifySnapshotRequest& request) {
  VerifyOptions options;
  if (request.has_part()) {
    options.part = request.part().number();
    options.parts = request.part().count();
  }
  if (request.selection_case() ==
      v1::VerifySnapshotRequest::SelectionCase::kPercent) {
    options.percent = request.percent();
  }
  options.max_bandwidth = request.max_bandwidth();
  return options;
}

v1::Damage ToProto(const Damage& damage, bool will_be_fetched) {
  v1::Damage message;
  message.set_kind(ToProto(damage.kind));
  message.set_key(damage.key);
  message.set_project_name(damage.project_name);
  for (const std::string& name : damage.path) message.add_path(name);
  message.set_files(damage.files);
  message.set_message(damage.message);
  message.set_will_be_fetched(will_be_fetched);
  return message;
}

void SetProgress(const VerifyProgress& progress,
                 v1::VerifySnapshotResponse& response) {
  response.set_name(absl::StrCat("snapshots/", progress.snapshot_id));
  response.set_manifests_done(progress.manifests_done);
  response.set_manifests(progress.manifests);
  response.set_blobs_checked(progress.blobs_checked);
  response.set_blobs_read(progress.blobs_read);
  response.set_bytes_read(progress.bytes_read);
  response.set_bytes_to_read(progress.bytes_to_read);
  response.set_damaged(progress.damaged);
}

}  // namespace bimbackup::verify
