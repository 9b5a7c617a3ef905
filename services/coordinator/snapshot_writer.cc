#include "services/coordinator/snapshot_writer.h"

namespace bimbackup::coordinator {
namespace {

class UnwrittenSnapshot : public backup::SnapshotStep {
 public:
  absl::Status WriteSnapshot(const catalog::BackupRecord&,
                             catalog::BackupState) override {
    return absl::UnimplementedError("this version writes no snapshots");
  }
  absl::Status UpdateLatest(const catalog::BackupRecord&) override {
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<backup::SnapshotStep> MakeSnapshotWriter(const Options&,
                                                         catalog::Catalog&,
                                                         storage::Storage&,
                                                         Clock&) {
  return std::make_unique<UnwrittenSnapshot>();
}

}  // namespace bimbackup::coordinator
