// An engine between a FakeOrigin and a storage in a temporary folder, for the
// engine's tests.

#ifndef SERVICES_DOWNLOAD_WORKER_ENGINE_ENGINE_FIXTURE_H_
#define SERVICES_DOWNLOAD_WORKER_ENGINE_ENGINE_FIXTURE_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "clients/http/host_policy.h"
#include "clients/storage/faulty_storage.h"
#include "clients/storage/storage.h"
#include "gtest/gtest.h"
#include "services/common/clock.h"
#include "services/common/mutex.h"
#include "services/common/random.h"
#include "services/common/status_matchers.h"
#include "services/download_worker/engine/download_engine.h"
#include "services/download_worker/engine/engine_options.h"
#include "services/download_worker/engine/fake_origin.h"
#include "services/download_worker/engine/transfer_task.h"

namespace bimbackup::engine {

// Answers with what a test put in. Thread-safe.
class FakeResolver : public SourceResolver {
 public:
  void Resolve(const TransferTask& task,
               std::function<void(absl::StatusOr<Source>)> done) override {
    absl::StatusOr<Source> answer = absl::UnavailableError("nothing to sign");
    {
      MutexLock lock(mutex_);
      ++calls_;
      const auto it = answers_.find(task.transfer_id);
      if (it != answers_.end()) answer = it->second;
    }
    done(std::move(answer));
  }

  void Put(int64_t transfer_id, absl::StatusOr<Source> answer) {
    MutexLock lock(mutex_);
    answers_.insert_or_assign(transfer_id, std::move(answer));
  }

  int calls() {
    MutexLock lock(mutex_);
    return calls_;
  }

 private:
  Mutex mutex_;
  std::map<int64_t, absl::StatusOr<Source>> answers_ ABSL_GUARDED_BY(mutex_);
  int calls_ ABSL_GUARDED_BY(mutex_) = 0;
};

class EngineFixture : public testing::Test {
 protected:
  EngineFixture();
  ~EngineFixture() override;

  // Small parts and short waits, so that tests are quick.
  static EngineOptions QuickOptions();

  // Serves the origin and starts the engine.
  void StartEngine(const EngineOptions& options = QuickOptions());

  // Puts the object `name` and makes the transfer that fetches it.
  TransferTask Put(int64_t id, absl::string_view name,
                   const std::string& bytes);

  uint64_t Submit(TransferTask task);
  // Waits for a transfer to end.
  TransferReport Wait(uint64_t handle);
  TransferReport Run(TransferTask task) {
    return Wait(Submit(std::move(task)));
  }

  // Waits until `condition` holds; fails the test after half a minute.
  template <typename Condition>
  bool Eventually(Condition condition) {
    for (int i = 0; i < 30'000; ++i) {
      if (condition()) return true;
      clock_.Sleep(absl::Milliseconds(1));
    }
    return false;
  }

  // Expects that the transfer was stored with these very bytes.
  void ExpectStored(const TransferReport& report, const std::string& bytes);

  SystemClock clock_;
  SeededRandom random_{1};
  storage::Storage& storage_;
  storage::FaultyStorage faulty_{storage_};
  FakeOrigin origin_;
  FakeResolver resolver_;
  http::HostPolicy hosts_ = http::HostPolicy::Default();
  std::unique_ptr<DownloadEngine> engine_;

 private:
  Mutex mutex_;
  CondVar changed_;
  std::map<uint64_t, TransferReport> reports_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bimbackup::engine

#endif  // SERVICES_DOWNLOAD_WORKER_ENGINE_ENGINE_FIXTURE_H_
