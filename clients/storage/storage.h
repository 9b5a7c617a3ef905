// The storage seam: where a backup lives. LocalStorage keeps it in a folder;
// an S3 bucket comes later, so nothing here renames, appends to or links what
// is committed, and whatever can be listed is listed by prefix.

#ifndef CLIENTS_STORAGE_STORAGE_H_
#define CLIENTS_STORAGE_STORAGE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace bimbackup::storage {

// A half-open range of a blob's bytes.
struct ByteRange {
  int64_t begin = 0;
  int64_t end = 0;
  bool operator==(const ByteRange&) const = default;
};

// What a partly written blob belongs to. Parts of an earlier attempt are
// taken up again only where all three agree; an empty ETag or an absent size
// agrees with none, so nothing is resumed then.
struct ContentIdentity {
  std::string storage_urn;
  std::optional<int64_t> size;
  std::string etag;
};

// One blob on its way in, exclusively held: while it lives, no other process
// writes the same bytes, and a successor that finds it held starts afresh
// beside it. Destruction without Commit keeps what RecordRange() recorded for
// a later attempt.
//
// Disjoint ranges may be written by several threads at once; the other
// methods are for one thread at a time.
class BlobWriter {
 public:
  virtual ~BlobWriter() = default;

  // What an earlier attempt recorded: sorted, disjoint. Empty for a fresh
  // start.
  virtual const std::vector<ByteRange>& recovered() const = 0;

  // Pins the identity of what will be written, once the first answer has told
  // ETag and size; before it nothing can be recorded. Drops what was
  // recovered when it disagrees.
  virtual absl::Status SetIdentity(const ContentIdentity& identity) = 0;

  // Writes bytes at an offset. RESOURCE_EXHAUSTED when the storage is full,
  // UNAVAILABLE when it failed.
  virtual absl::Status WriteAt(int64_t offset, absl::string_view bytes) = 0;

  // Reads back up to `size` bytes that were written; 0 at the end.
  virtual absl::StatusOr<size_t> ReadAt(int64_t offset, char* buffer,
                                        size_t size) = 0;

  // Makes a written range durable and journals it for a later attempt.
  virtual absl::Status RecordRange(ByteRange range) = 0;

  // Makes the first `size` bytes durable under `sha256`, which the caller has
  // computed over them; then calls `done`, on a thread of the storage's.
  // Several commits share their waits for the disk. OK also where the blob
  // exists already. The writer may be destroyed once `done` was called.
  virtual void Commit(absl::string_view sha256, int64_t size,
                      std::function<void(absl::Status)> done) = 0;

  // Forgets everything written and recorded: the next attempt starts from
  // zero.
  virtual absl::Status Discard() = 0;
};

// An object that is written once from start to end: a manifest or snapshot.
// Destruction without Commit leaves nothing. Not thread-safe.
class ObjectWriter {
 public:
  virtual ~ObjectWriter() = default;
  virtual absl::Status Append(absl::string_view bytes) = 0;

  // Makes the object durable under `key`. ALREADY_EXISTS when there is one
  // with other bytes; OK when it is the same.
  virtual absl::Status Commit(absl::string_view key) = 0;
};

// Reads a committed object or blob. Not thread-safe.
class ObjectReader {
 public:
  virtual ~ObjectReader() = default;
  virtual int64_t size() const = 0;
  // Reads up to `size` bytes at `offset`; 0 at the end.
  virtual absl::StatusOr<size_t> ReadAt(int64_t offset, char* buffer,
                                        size_t size) = 0;
};

// One page of List().
struct ObjectPage {
  struct Entry {
    std::string key;
    int64_t size = 0;
    // When the storage last changed it: never before its commit, whatever
    // time the latest view shows. By the clock of whoever keeps the storage.
    absl::Time modified;
  };
  // In order of their keys.
  std::vector<Entry> entries;
  // What the next call takes; empty after the last page.
  std::string next_page_token;
};

// What people open: an ordinary folder tree of the newest snapshot. Every
// call is idempotent, so that an interrupted update is simply repeated.
// Paths are stored names (see format/stored_name.h), relative to the view,
// separated by '/'. Not thread-safe.
class LatestView {
 public:
  virtual ~LatestView() = default;

  // Whether the folder is there.
  virtual absl::StatusOr<bool> HasFolder(absl::string_view path) = 0;

  // Makes the folder and its parents.
  virtual absl::Status PutFolder(absl::string_view path) = 0;

  // Makes or replaces the file atomically, with the blob's bytes; NOT_FOUND
  // where there is no such blob. The file's
  // modification time is set where the file has bytes of its own or the blob
  // is fresh.
  virtual absl::Status PutFile(absl::string_view path, absl::string_view sha256,
                               absl::Time last_modified) = 0;

  // Removes the file or the empty folder; OK when there is none.
  // FAILED_PRECONDITION for a folder that still holds something.
  virtual absl::Status Remove(absl::string_view path) = 0;

  // Removes the file or folder with all it holds; everything, where `path` is
  // empty.
  virtual absl::Status RemoveTree(absl::string_view path) = 0;

  // Makes all of the above durable.
  virtual absl::Status Sync() = 0;
};

// Room left, as far as the storage knows.
struct Capacity {
  std::optional<int64_t> free_bytes;
  std::optional<int64_t> total_bytes;
};

// Thread-safe. Errors of all methods: RESOURCE_EXHAUSTED (full),
// PERMISSION_DENIED, UNAVAILABLE (the storage failed or has gone),
// FAILED_PRECONDITION (it is not, or no longer, our storage), NOT_FOUND.
class Storage {
 public:
  virtual ~Storage() = default;

  // The id in the storage's marker, the same for everybody who sees it. Empty
  // where the storage was opened read-only and has no marker.
  virtual const std::string& id() const = 0;

  // Looks that the marker is still there, with our id: an unmounted share
  // must not look like an empty one. FAILED_PRECONDITION when it is not.
  virtual absl::Status CheckMarker() = 0;

  virtual absl::StatusOr<Capacity> GetCapacity() = 0;

  // Takes up, or starts, the blob of this storage object.
  virtual absl::StatusOr<std::unique_ptr<BlobWriter>> OpenBlobWriter(
      absl::string_view storage_urn) = 0;

  // A committed blob's size; NOT_FOUND where there is none.
  virtual absl::StatusOr<int64_t> GetBlobSize(absl::string_view sha256) = 0;

  virtual absl::StatusOr<std::unique_ptr<ObjectReader>> OpenBlob(
      absl::string_view sha256) = 0;

  // Moves a blob whose bytes are wrong to damaged/<sha256>, in place of an
  // earlier one, so that the next Commit() stores good bytes. Durable; OK when
  // there is none.
  virtual absl::Status SetAsideBlob(absl::string_view sha256) = 0;

  // Removes a blob. Durable; OK when there is none.
  virtual absl::Status RemoveBlob(absl::string_view sha256) = 0;

  // Objects by key: "manifests/sha256/abc/<64 hex>.jsonl.zst",
  // "snapshots/<id>.json", and what stands under protected/ and catalog/.
  virtual absl::StatusOr<std::unique_ptr<ObjectWriter>> OpenObjectWriter() = 0;
  virtual absl::StatusOr<std::unique_ptr<ObjectReader>> OpenObject(
      absl::string_view key) = 0;
  virtual absl::StatusOr<bool> ObjectExists(absl::string_view key) = 0;

  // Removes an object. Durable; OK when there is none.
  virtual absl::Status RemoveObject(absl::string_view key) = 0;

  // Up to 1,000 objects or blobs whose key starts with `prefix`, in order.
  virtual absl::StatusOr<ObjectPage> List(absl::string_view prefix,
                                          absl::string_view page_token) = 0;

  // The latest view; UNIMPLEMENTED where the storage has none or it is off.
  virtual absl::StatusOr<std::unique_ptr<LatestView>> OpenLatestView() = 0;

  // Removes temporary files that nobody holds and that no attempt has
  // touched for `age`.
  virtual absl::Status SweepTemporary(absl::Duration age) = 0;
};

// How storage is opened.
struct OpenOptions {
  // "file:///backup", or a plain absolute path.
  std::string url;
  // Make the marker where the folder is empty and this is set; refuse with
  // FAILED_PRECONDITION a folder without marker otherwise.
  bool create = false;
  // Open what is left of a storage, for reading alone: nothing is written or
  // made, no marker is needed where snapshots/, manifests/ or blobs/ stand, a
  // read-only mount will do, and all that writes is FAILED_PRECONDITION.
  // `create` is not looked at.
  bool read_only = false;
  // Where not empty, refuse a storage with another id, or with none.
  std::string expected_id;
  // "auto", "reflink", "hardlink", "copy" or "off".
  std::string latest = "auto";
};

// Opens the storage behind a URL. INVALID_ARGUMENT for an unknown scheme or
// option, FAILED_PRECONDITION for no marker, another id or a newer format,
// PERMISSION_DENIED or UNAVAILABLE when it cannot be written or read. Nothing
// is written on failure.
absl::StatusOr<std::unique_ptr<Storage>> OpenStorage(
    const OpenOptions& options);

}  // namespace bimbackup::storage

#endif  // CLIENTS_STORAGE_STORAGE_H_
