#include "services/coordinator/rpc/restore_calls.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "clients/storage/format/utf8.h"
#include "services/common/rpc/request_bounds.h"
#include "services/common/status_macros.h"
#include "services/coordinator/rpc/conversions.h"
#include "services/coordinator/rpc/pull_stream.h"

namespace bimbackup::coordinator_rpc {
namespace {

// Streams at once; each has at most one piece of work in the queue.
constexpr int kMaxStreams = 128;
constexpr int kThreads = 4;
// A status travels in a header of limited size, escaped.
constexpr size_t kMaxDamageBytes = 2000;

absl::Status DamageError(const std::vector<std::string>& damage) {
  const std::string text = absl::StrJoin(damage, "; ");
  const absl::string_view cut = storage::format::CutUtf8(text, kMaxDamageBytes);
  return absl::DataLossError(
      absl::StrCat(cut, cut.size() < text.size() ? " …" : ""));
}

absl::StatusOr<restore::Selection> SelectionOf(
    const v1::RestoreSnapshotRequest& request) {
  ABSL_RETURN_IF_ERROR(rpc::CheckRequest(request));
  restore::Selection selection;
  ABSL_ASSIGN_OR_RETURN(selection.snapshot_id,
                        ReadName("snapshots", request.name()));
  selection.paths.assign(request.paths().begin(), request.paths().end());
  selection.item_id = request.item_id();
  return selection;
}

// What one stream of entries is at. For one thread at a time.
class EntryProducer {
 public:
  EntryProducer(restore::StorageSource& source,
                v1::RestoreSnapshotRequest request)
      : source_(source), request_(std::move(request)) {}

  absl::StatusOr<bool> Next(v1::RestoreSnapshotResponse& response) {
    if (ended_) return End();
    if (stream_ == nullptr) {
      ABSL_ASSIGN_OR_RETURN(const restore::Selection selection,
                            SelectionOf(request_));
      ABSL_ASSIGN_OR_RETURN(stream_, source_.ListEntries(selection));
    }
    ABSL_ASSIGN_OR_RETURN(const restore::EntryBatch batch, stream_->Next());
    ended_ = batch.last;
    response.set_name(absl::StrCat("snapshots/", batch.snapshot_id));
    response.set_files(batch.files);
    response.set_bytes(batch.bytes);
    for (const storage::format::ManifestEntry& entry : batch.entries) {
      *response.add_entries() = ToProto(entry);
    }
    return true;
  }

 private:
  absl::StatusOr<bool> End() const {
    if (stream_->damage().empty()) return false;
    return DamageError(stream_->damage());
  }

  restore::StorageSource& source_;
  const v1::RestoreSnapshotRequest request_;
  std::unique_ptr<restore::EntryStream> stream_;
  bool ended_ = false;
};

// What one stream of bytes is at. For one thread at a time.
class BlobProducer {
 public:
  BlobProducer(restore::StorageSource& source, v1::ReadBlobRequest request)
      : source_(source), request_(std::move(request)) {}

  absl::StatusOr<bool> Next(v1::ReadBlobResponse& response) {
    if (stream_ == nullptr) {
      ABSL_ASSIGN_OR_RETURN(
          stream_, source_.OpenBlob(request_.sha256(), request_.offset()));
    }
    ABSL_ASSIGN_OR_RETURN(const absl::string_view bytes, stream_->Next());
    response.set_data(bytes.data(), bytes.size());
    return !bytes.empty();
  }

 private:
  restore::StorageSource& source_;
  const v1::ReadBlobRequest request_;
  std::unique_ptr<restore::BlobStream> stream_;
};

// Ends at once, whatever the queue's threads wait for.
template <typename Response>
class RefusedStream final : public grpc::ServerWriteReactor<Response> {
 public:
  RefusedStream() {
    this->Finish(rpc::ToGrpcStatus(absl::UnavailableError(
        "too many files are being restored; ask again")));
  }
  void OnDone() override { delete this; }
};

// A stream whose answers a `Producer` made of `request` gives.
template <typename Producer, typename Response, typename Request>
grpc::ServerWriteReactor<Response>* StartStream(WorkQueue& queue,
                                                restore::StorageSource& source,
                                                std::shared_ptr<void> slot,
                                                const Request& request) {
  if (slot == nullptr) return new RefusedStream<Response>();
  auto producer = std::make_shared<Producer>(source, request);
  return new PullStream<Response>(
      queue, [slot = std::move(slot), producer](Response& response) {
        return producer->Next(response);
      });
}

}  // namespace

RestoreCalls::RestoreCalls(storage::Storage& storage)
    : source_(storage), queue_(kThreads, /*max_queued=*/2 * kMaxStreams) {}

std::shared_ptr<void> RestoreCalls::TakeSlot() {
  if (++streams_ > kMaxStreams) {
    --streams_;
    return nullptr;
  }
  return std::shared_ptr<void>(this, [this](void*) { --streams_; });
}

grpc::ServerWriteReactor<v1::RestoreSnapshotResponse>*
RestoreCalls::RestoreSnapshot(const v1::RestoreSnapshotRequest& request) {
  return StartStream<EntryProducer, v1::RestoreSnapshotResponse>(
      queue_, source_, TakeSlot(), request);
}

grpc::ServerWriteReactor<v1::ReadBlobResponse>* RestoreCalls::ReadBlob(
    const v1::ReadBlobRequest& request) {
  return StartStream<BlobProducer, v1::ReadBlobResponse>(queue_, source_,
                                                         TakeSlot(), request);
}

}  // namespace bimbackup::coordinator_rpc
