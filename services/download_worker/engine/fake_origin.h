// A storage host without a network, for the engine's tests: objects with
// ranges and ETags, served through a FakeTransport.

#ifndef SERVICES_DOWNLOAD_WORKER_ENGINE_FAKE_ORIGIN_H_
#define SERVICES_DOWNLOAD_WORKER_ENGINE_FAKE_ORIGIN_H_

#include <map>
#include <string>

#include "absl/strings/string_view.h"
#include "clients/http/fake_transport.h"
#include "services/common/mutex.h"
#include "services/download_worker/engine/transfer_task.h"

namespace bimbackup::engine {

// Thread-safe.
class FakeOrigin {
 public:
  FakeOrigin();

  // The transport that reaches it. Rules that a test adds before Open() come
  // before the origin's own.
  http::FakeTransport& transport() { return transport_; }

  // Serves what PutObject() gave; call once, after the test's own rules.
  void Open();

  // Makes or replaces an object, with a new ETag.
  void PutObject(absl::string_view name, std::string bytes);

  // The URL of an object under a signature.
  static std::string Url(absl::string_view name,
                         absl::string_view signature = "s1");

  // A source of one range with size and SHA-1, as the coordinator gives it.
  static Source SourceOf(absl::string_view name, absl::string_view bytes,
                         absl::string_view signature = "s1");

 private:
  struct Object {
    std::string bytes;
    std::string etag;
  };

  http::FakeTransport::Answer Serve(const http::Request& request);

  Mutex mutex_;
  std::map<std::string, Object> objects_ ABSL_GUARDED_BY(mutex_);
  int last_etag_ ABSL_GUARDED_BY(mutex_) = 0;
  // Last: it calls the above until it is gone.
  http::FakeTransport transport_;
};

// `size` bytes without a period, so that a misplaced part shows.
std::string AperiodicBytes(int64_t size, uint64_t seed);

}  // namespace bimbackup::engine

#endif  // SERVICES_DOWNLOAD_WORKER_ENGINE_FAKE_ORIGIN_H_
