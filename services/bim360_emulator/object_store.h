// Autodesk's object storage service: signed URLs, and the storage host that
// they point to.

#ifndef SERVICES_BIM360_EMULATOR_OBJECT_STORE_H_
#define SERVICES_BIM360_EMULATOR_OBJECT_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "services/bim360_emulator/api_context.h"
#include "services/common/digest.h"
#include "services/common/mutex.h"

namespace bimbackup::bim360_emulator {

// Thread-safe.
class ObjectStore {
 public:
  explicit ObjectStore(ApiParts& parts) : parts_(parts) {}

  // Answers kSign, kDetails, kBatchSign, kSignedResource and kStorage. The
  // first three may answer later, from another thread, when a large file's
  // digest must be taken first.
  void Handle(std::shared_ptr<const ApiRequest> request, Responder respond);

  // The object's digest, cached; empty when its bytes cannot be read. Blocks
  // for about a second a gigabyte.
  std::string DigestOf(uint64_t storage_key, DigestKind kind);

 private:
  HttpResponse HandleSign(const ApiRequest& request);
  HttpResponse HandleBatchSign(const ApiRequest& request);
  HttpResponse HandleDetails(const ApiRequest& request);
  HttpResponse HandleSignedResource(const ApiRequest& request);
  HttpResponse HandleStorage(const ApiRequest& request);

  // The object whose digest answering takes, when that is neither cached nor
  // quick.
  std::optional<uint64_t> SlowDigest(const ApiRequest& request) const;
  // Has `answer` run once the digest is taken, which happens once however
  // many wait for it.
  void AnswerAfterDigest(uint64_t storage_key, std::function<void()> answer);
  void RunWaiting(uint64_t storage_key);
  // The JSON object about one signed object; nothing when there is no such
  // object.
  std::optional<std::string> SignJson(const ApiRequest& request,
                                      absl::string_view object_key,
                                      int minutes);
  HttpResponse Serve(const ApiRequest& request, absl::string_view object_key,
                     const UrlSigner::Check& check);

  ApiParts& parts_;
  mutable Mutex mutex_;
  absl::flat_hash_map<std::pair<uint64_t, DigestKind>, std::string> digests_
      ABSL_GUARDED_BY(mutex_);
  // Answers that wait for a digest that is being taken.
  absl::flat_hash_map<uint64_t, std::vector<std::function<void()>>> waiting_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace bimbackup::bim360_emulator

#endif  // SERVICES_BIM360_EMULATOR_OBJECT_STORE_H_
