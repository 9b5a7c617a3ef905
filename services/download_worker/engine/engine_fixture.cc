#include "services/download_worker/engine/engine_fixture.h"

#include <cstdlib>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "services/common/digest.h"

namespace bimbackup::engine {
namespace {

// One folder for all tests of a process, because making its fan-out takes
// seconds; transfers are told apart by the name of their test.
class SharedFolder {
 public:
  SharedFolder() {
    std::string pattern = absl::StrCat(testing::TempDir(), "/engine_XXXXXX");
    folder_ = mkdtemp(pattern.data());
    storage::OpenOptions options;
    options.url = folder_;
    options.create = true;
    auto opened = storage::OpenStorage(options);
    EXPECT_OK(opened);
    storage_ = *std::move(opened);
  }

  ~SharedFolder() {
    storage_.reset();
    std::filesystem::remove_all(folder_);
  }

  storage::Storage& storage() { return *storage_; }

 private:
  std::string folder_;
  std::unique_ptr<storage::Storage> storage_;
};

storage::Storage& SharedStorage() {
  static SharedFolder folder;
  return folder.storage();
}

}  // namespace

EngineFixture::EngineFixture() : storage_(SharedStorage()) {}

EngineFixture::~EngineFixture() { engine_.reset(); }

EngineOptions EngineFixture::QuickOptions() {
  EngineOptions options;
  options.slots = 4;
  options.parts = {
      .split_from = 64 << 10, .smallest = 16 << 10, .largest = 16 << 10};
  options.journal_from = 64 << 10;
  options.backoff.initial = absl::Milliseconds(1);
  options.backoff.maximum = absl::Milliseconds(5);
  options.worthwhile_bytes = 1;
  options.probe_first = absl::Milliseconds(10);
  return options;
}

void EngineFixture::StartEngine(const EngineOptions& options) {
  if (engine_ == nullptr) origin_.Open();
  engine_.reset();
  const EngineDeps deps{.clock = clock_,
                        .random = random_,
                        .transport = origin_.transport(),
                        .storage = faulty_,
                        .hosts = hosts_,
                        .resolver = resolver_};
  engine_ = std::make_unique<DownloadEngine>(deps, options);
}

TransferTask EngineFixture::Put(int64_t id, absl::string_view name,
                                const std::string& bytes) {
  origin_.PutObject(name, bytes);
  TransferTask task;
  task.transfer_id = id;
  task.storage_urn = absl::StrCat(
      "urn:adsk.objects:os.object:",
      testing::UnitTest::GetInstance()->current_test_info()->name(), "/", name);
  task.display_path = std::string(name.data(), name.size());
  task.source = FakeOrigin::SourceOf(name, bytes);
  return task;
}

uint64_t EngineFixture::Submit(TransferTask task) {
  return engine_->Submit(std::move(task),
                         [this](uint64_t handle, const TransferReport& report) {
                           MutexLock lock(mutex_);
                           reports_[handle] = report;
                           changed_.NotifyAll();
                         });
}

TransferReport EngineFixture::Wait(uint64_t handle) {
  const absl::Duration deadline = clock_.Monotonic() + absl::Seconds(30);
  MutexLock lock(mutex_);
  while (reports_.count(handle) == 0) {
    if (!clock_.WaitUntil(mutex_, changed_, deadline)) break;
  }
  EXPECT_EQ(reports_.count(handle), 1u) << "the transfer did not end";
  return reports_[handle];
}

void EngineFixture::ExpectStored(const TransferReport& report,
                                 const std::string& bytes) {
  EXPECT_EQ(report.outcome, Outcome::kStored) << report.message;
  EXPECT_EQ(report.size, static_cast<int64_t>(bytes.size()));
  EXPECT_EQ(report.sha256, Sha256Hex(bytes));
  auto blob = storage_.OpenBlob(report.sha256);
  ASSERT_OK(blob);
  std::string read(bytes.size() + 1, '\0');
  size_t size = 0;
  while (size < read.size()) {
    const auto got = (*blob)->ReadAt(static_cast<int64_t>(size),
                                     read.data() + size, read.size() - size);
    ASSERT_OK(got);
    if (*got == 0) break;
    size += *got;
  }
  read.resize(size);
  EXPECT_TRUE(read == bytes) << "the blob's bytes differ";
}

}  // namespace bimbackup::engine
