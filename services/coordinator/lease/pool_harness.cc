#include "services/coordinator/lease/pool_harness.h"

#include <chrono>
#include <thread>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "services/common/digest.h"

namespace bimbackup::lease {

absl::StatusOr<bim360::SignedDownload> SigningClient::SignDownload(
    absl::string_view storage_urn, absl::Duration lifetime,
    const std::stop_token& cancel) {
  absl::StatusOr<bim360::SignedDownload> download =
      FakeBim360Client::SignDownload(storage_urn, lifetime, cancel);
  // What the fake says of an object of which no listing has told it.
  if (absl::IsNotFound(download.status()) &&
      download.status().message() == "HTTP 404: no such object") {
    download.emplace();
    download->ranges = {
        {0, -1, absl::StrCat("https://storage.invalid/", storage_urn)}};
  }
  if (download.ok()) download->expires = clock_.Monotonic() + lifetime;
  return download;
}

PoolHarness::PoolHarness()
    : hosts(*http::HostPolicy::Parse("storage.invalid")) {
  Restart();
}

void PoolHarness::Restart() {
  pool.reset();
  pool =
      std::make_unique<LeasePool>(store, blobs, client, hosts, clock, random);
  EXPECT_TRUE(pool->LoadEpoch().ok());
}

void PoolHarness::Begin() {
  EXPECT_TRUE(pool->BeginBackup(kBackup, clock.Now()).ok());
  pool->SetListingDone();
  Settle();
}

PendingReport PoolHarness::Send(WorkerReport report) {
  PendingReport pending;
  pending.answer =
      std::make_shared<std::optional<absl::StatusOr<SynchronizeAnswer>>>();
  pending.number = pool->Synchronize(
      std::move(report),
      [slot = pending.answer](absl::StatusOr<SynchronizeAnswer> answer) {
        EXPECT_FALSE(slot->has_value()) << "answered twice";
        *slot = std::move(answer);
      });
  return pending;
}

SynchronizeAnswer PoolHarness::Exchange(WorkerReport report) {
  report.may_hold = false;
  const PendingReport pending = Send(std::move(report));
  Settle();
  EXPECT_TRUE(pending.answered());
  EXPECT_TRUE(pending.status().ok()) << pending.status();
  return pending.status().ok() ? pending.get() : SynchronizeAnswer();
}

std::vector<GrantedLease> PoolHarness::Take(const std::string& worker_id,
                                            int slots) {
  Settle();
  return Exchange(Report(worker_id, slots)).granted;
}

void PoolHarness::Settle() {
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::seconds(20);
  do {
    pool->Pump();
    if (pool->stats().signing == 0) break;
    std::this_thread::yield();
  } while (std::chrono::steady_clock::now() < deadline);
  EXPECT_EQ(pool->stats().signing, 0);
  pool->Pump();
}

void PoolHarness::Advance(absl::Duration duration) {
  clock.Advance(duration);
  Settle();
}

TransferResult PoolHarness::Stored(const GrantedLease& lease, bool whole) {
  TransferResult result = Ended(lease, Outcome::kStored);
  result.sha256 = Sha256Hex(absl::StrCat(lease.transfer.transfer_id));
  result.size = lease.transfer.size.value_or(1);
  result.bytes_received = result.size;
  if (whole) blobs.Put(result.sha256, result.size);
  return result;
}

TransferResult PoolHarness::Ended(const GrantedLease& lease, Outcome outcome) {
  TransferResult result;
  result.transfer_id = lease.transfer.transfer_id;
  result.epoch = lease.epoch;
  result.outcome = outcome;
  if (outcome != Outcome::kStored) result.message = "as the test wants it";
  return result;
}

WorkerReport PoolHarness::Report(const std::string& worker_id, int slots,
                                 const std::vector<GrantedLease>& held) {
  WorkerReport report;
  report.worker_id = worker_id;
  report.free_slots = slots;
  report.may_hold = true;
  for (const GrantedLease& lease : held) {
    report.held.push_back({lease.transfer.transfer_id, lease.epoch, 0});
  }
  return report;
}

}  // namespace bimbackup::lease
