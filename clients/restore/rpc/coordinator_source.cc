#include "clients/restore/rpc/coordinator_source.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "clients/snapshots/wire/snapshot_messages.h"
#include "services/common/rpc/grpc_status.h"
#include "services/common/status_macros.h"

namespace bimbackup::restore {
namespace {

using storage::format::ManifestEntry;

// One stream of answers. Not thread-safe.
template <typename Response>
class AnswerReader {
 public:
  using Reader = grpc::ClientReaderInterface<Response>;

  explicit AnswerReader(StallWatch& watch) : watch_(watch) {}
  // Lets the other side go.
  ~AnswerReader() {
    if (reader_ == nullptr || ended_) return;
    context_.TryCancel();
    Response rest;
    while (reader_->Read(&rest)) {
    }
    reader_->Finish();
  }
  AnswerReader(const AnswerReader&) = delete;
  AnswerReader& operator=(const AnswerReader&) = delete;

  grpc::ClientContext& context() { return context_; }
  void Start(std::unique_ptr<Reader> reader) { reader_ = std::move(reader); }

  // False at the end.
  absl::StatusOr<bool> Read(Response& response) {
    StallWatch::Wait wait(watch_, context_);
    if (reader_->Read(&response)) return true;
    ended_ = true;
    const grpc::Status status = reader_->Finish();
    if (wait.expired()) {
      return absl::DeadlineExceededError(absl::StrCat(
          "it has said nothing for ", absl::FormatDuration(watch_.patience())));
    }
    ABSL_RETURN_IF_ERROR(rpc::FromGrpcStatus(status));
    return false;
  }

 private:
  StallWatch& watch_;
  grpc::ClientContext context_;
  std::unique_ptr<Reader> reader_;
  bool ended_ = false;
};

class CoordinatorEntryStream : public EntryStream {
 public:
  CoordinatorEntryStream(CoordinatorSource::Stub& stub, StallWatch& watch,
                         const v1::RestoreSnapshotRequest& request)
      : reader_(watch) {
    reader_.Start(stub.RestoreSnapshot(&reader_.context(), request));
  }

  absl::StatusOr<EntryBatch> Next() override {
    v1::RestoreSnapshotResponse response;
    const absl::StatusOr<bool> more = reader_.Read(response);
    EntryBatch batch;
    if (absl::IsDataLoss(more.status()) && begun_) {
      damage_.emplace_back(more.status().message());
      batch.last = true;
      return batch;
    }
    ABSL_RETURN_IF_ERROR(more.status());
    if (!*more) {
      batch.last = true;
      return batch;
    }
    begun_ = true;
    ABSL_RETURN_IF_ERROR(Fill(response, batch));
    return batch;
  }

  const std::vector<std::string>& damage() const override { return damage_; }

 private:
  static absl::Status Fill(const v1::RestoreSnapshotResponse& response,
                           EntryBatch& batch) {
    absl::string_view id = response.name();
    absl::ConsumePrefix(&id, "snapshots/");
    batch.snapshot_id = std::string(id);
    batch.files = response.files();
    batch.bytes = response.bytes();
    for (const v1::FileEntry& entry : response.entries()) {
      ABSL_ASSIGN_OR_RETURN(ManifestEntry converted,
                            snapshots::FromProto(entry));
      batch.entries.push_back(std::move(converted));
    }
    return absl::OkStatus();
  }

  AnswerReader<v1::RestoreSnapshotResponse> reader_;
  // A torn snapshot ends the stream before its first message, damaged
  // manifests behind the last one.
  bool begun_ = false;
  std::vector<std::string> damage_;
};

class CoordinatorBlobStream : public BlobStream {
 public:
  CoordinatorBlobStream(CoordinatorSource::Stub& stub, StallWatch& watch,
                        const v1::ReadBlobRequest& request)
      : reader_(watch) {
    reader_.Start(stub.ReadBlob(&reader_.context(), request));
  }

  absl::StatusOr<absl::string_view> Next() override {
    do {
      ABSL_ASSIGN_OR_RETURN(const bool more, reader_.Read(response_));
      if (!more) return absl::string_view();
    } while (response_.data().empty());
    return response_.data();
  }

 private:
  AnswerReader<v1::ReadBlobResponse> reader_;
  v1::ReadBlobResponse response_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<EntryStream>> CoordinatorSource::ListEntries(
    const Selection& selection) {
  v1::RestoreSnapshotRequest request;
  request.set_name(absl::StrCat("snapshots/", selection.snapshot_id));
  request.mutable_paths()->Assign(selection.paths.begin(),
                                  selection.paths.end());
  request.set_item_id(selection.item_id);
  return std::make_unique<CoordinatorEntryStream>(stub_, watch_, request);
}

absl::StatusOr<std::unique_ptr<BlobStream>> CoordinatorSource::OpenBlob(
    absl::string_view sha256, int64_t offset) {
  v1::ReadBlobRequest request;
  request.set_sha256(std::string(sha256));
  request.set_offset(offset);
  return std::make_unique<CoordinatorBlobStream>(stub_, watch_, request);
}

}  // namespace bimbackup::restore
