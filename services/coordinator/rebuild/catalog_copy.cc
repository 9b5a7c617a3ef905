#include "services/coordinator/rebuild/catalog_copy.h"

#include <zstd.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "clients/storage/format/zstd_stream.h"
#include "services/common/status_macros.h"

namespace bimbackup::rebuild {
namespace {

constexpr absl::string_view kPrefix = "catalog/";
constexpr absl::string_view kSuffix = ".db.zst";
constexpr size_t kBufferBytes = 256 << 10;
// Twice as fast as zstd's usual level, and a twentieth larger: every night
// waits for it, also one in which nothing changed.
constexpr int kLevel = 1;

absl::Status RemoveOldCopies(storage::Storage& storage) {
  ABSL_ASSIGN_OR_RETURN(const std::vector<std::string> keys,
                        ListCatalogCopies(storage));
  for (size_t i = kCopiesKept; i < keys.size(); ++i) {
    ABSL_RETURN_IF_ERROR(storage.RemoveObject(keys[i]));
  }
  return absl::OkStatus();
}

struct FreeContext {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

// One whole zstd frame, whose checksum is looked at.
class Decompressor {
 public:
  using Sink = std::function<absl::Status(absl::string_view)>;

  explicit Decompressor(const Sink& sink)
      : sink_(sink), context_(ZSTD_createDCtx()), output_(kBufferBytes, '\0') {}

  absl::Status Take(absl::string_view bytes) {
    ZSTD_inBuffer input = {bytes.data(), bytes.size(), 0};
    bool full = true;
    while (input.pos < input.size || full) {
      ZSTD_outBuffer output = {output_.data(), output_.size(), 0};
      left_ = ZSTD_decompressStream(context_.get(), &output, &input);
      if (ZSTD_isError(left_)) {
        return absl::DataLossError(ZSTD_getErrorName(left_));
      }
      full = output.pos == output.size;
      if (output.pos > 0) {
        ABSL_RETURN_IF_ERROR(sink_({output_.data(), output.pos}));
      }
      if (left_ == 0) break;
    }
    if (input.pos == input.size) return absl::OkStatus();
    return absl::DataLossError("bytes after its end");
  }

  // Whether the frame has ended.
  bool done() const { return left_ == 0; }

 private:
  const Sink& sink_;
  const std::unique_ptr<ZSTD_DCtx, FreeContext> context_;
  std::string output_;
  size_t left_ = 1;
};

}  // namespace

absl::Status StoreCatalogCopy(catalog::Catalog& catalog,
                              storage::Storage& storage,
                              absl::string_view snapshot_id,
                              const std::function<bool()>& stopping) {
  ABSL_RETURN_IF_ERROR(storage.CheckMarker());
  const std::string key = absl::StrCat(kPrefix, snapshot_id, kSuffix);
  ABSL_ASSIGN_OR_RETURN(const bool exists, storage.ObjectExists(key));
  if (!exists) {
    ABSL_ASSIGN_OR_RETURN(std::unique_ptr<storage::ObjectWriter> object,
                          storage.OpenObjectWriter());
    storage::format::ZstdWriter writer(std::move(object), kLevel);
    ABSL_RETURN_IF_ERROR(catalog.StreamCopy([&](absl::string_view bytes) {
      if (stopping()) return absl::CancelledError("the coordinator stops");
      return bytes.empty() ? absl::OkStatus() : writer.Append(bytes);
    }));
    ABSL_RETURN_IF_ERROR(writer.Finish());
    ABSL_RETURN_IF_ERROR(writer.Commit(key));
  }
  return RemoveOldCopies(storage);
}

absl::StatusOr<std::vector<std::string>> ListCatalogCopies(
    storage::Storage& storage) {
  std::vector<std::string> keys;
  std::string token;
  do {
    ABSL_ASSIGN_OR_RETURN(storage::ObjectPage page,
                          storage.List(kPrefix, token));
    for (storage::ObjectPage::Entry& entry : page.entries) {
      if (absl::EndsWith(entry.key, kSuffix)) {
        keys.push_back(std::move(entry.key));
      }
    }
    token = std::move(page.next_page_token);
  } while (!token.empty());
  // Ids of snapshots sort by time.
  std::reverse(keys.begin(), keys.end());
  return keys;
}

absl::Status ReadCatalogCopy(
    storage::Storage& storage, absl::string_view key,
    const std::function<absl::Status(absl::string_view bytes)>& sink) {
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<storage::ObjectReader> object,
                        storage.OpenObject(key));
  Decompressor decompressor(sink);
  std::string buffer(kBufferBytes, '\0');
  int64_t offset = 0;
  while (true) {
    ABSL_ASSIGN_OR_RETURN(const size_t size,
                          object->ReadAt(offset, buffer.data(), buffer.size()));
    if (size == 0) break;
    if (decompressor.done()) return absl::DataLossError("bytes after its end");
    offset += static_cast<int64_t>(size);
    ABSL_RETURN_IF_ERROR(decompressor.Take({buffer.data(), size}));
  }
  if (decompressor.done()) return absl::OkStatus();
  return absl::DataLossError("it ends too early");
}

}  // namespace bimbackup::rebuild
