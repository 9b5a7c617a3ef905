// Workers that finish at once: what a coordinator can commit.
//
//   stub_workers ADDRESS STORAGE_ID WORKERS SHA256 SECONDS
//
// Every transfer is reported as stored, with the blob SHA256 and size 0, in
// the next call. Ends when the backup does; prints, as JSON, how many results
// were acknowledged, how long that took from the first to the last, and how
// long calls with results took, which are never held.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "bimbackup/v1/worker_pool_service.grpc.pb.h"
#include "services/common/clock.h"
#include "services/common/rpc/channel.h"

namespace bimbackup {
namespace {

// Results that wait in the coordinator are as many as all slots: 512 of 32
// workers are more than it needs to be kept busy, and more only wait longer.
constexpr int kSlots = 16;

// What one worker saw.
struct Seen {
  int64_t acknowledged = 0;
  absl::Duration first = absl::InfiniteDuration();
  absl::Duration last = -absl::InfiniteDuration();
  std::vector<double> latencies;
  std::string error;
};

class StubWorker {
 public:
  StubWorker(const std::string& address, std::string storage_id,
             std::string sha256, int number, Clock& clock)
      : stub_(v1::WorkerPoolService::NewStub(rpc::Dial(address))),
        sha256_(std::move(sha256)),
        clock_(clock) {
    request_.set_worker_id(absl::StrCat("stub-", number));
    request_.set_display_name(request_.worker_id());
    request_.set_protocol_version(1);
    request_.set_version("stub");
    request_.set_storage_id(std::move(storage_id));
    request_.set_free_slots(kSlots);
  }

  // Works until a backup has run and ended, or `give_up`.
  Seen Run(absl::Duration give_up) {
    bool seen_running = false;
    while (clock_.Monotonic() < give_up && seen_.error.empty()) {
      const bool running = Exchange();
      if (seen_running && !running && request_.results().empty()) break;
      seen_running = seen_running || running;
    }
    return seen_;
  }

 private:
  // One call; whether a backup runs.
  bool Exchange() {
    request_.set_may_hold(request_.results().empty());
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::seconds(30));
    v1::SynchronizeResponse response;
    const absl::Duration sent = clock_.Monotonic();
    const grpc::Status status =
        stub_->Synchronize(&context, request_, &response);
    const absl::Duration answered = clock_.Monotonic();
    if (!status.ok()) {
      seen_.error = status.error_message();
      return false;
    }
    if (!request_.results().empty()) {
      seen_.latencies.push_back(absl::ToDoubleSeconds(answered - sent));
    }
    Count(response, answered);
    request_.clear_results();
    for (const v1::GrantedLease& lease : response.granted()) {
      v1::TransferResult& result = *request_.add_results();
      result.set_transfer_id(lease.transfer().transfer_id());
      result.set_epoch(lease.epoch());
      result.set_outcome(v1::TRANSFER_OUTCOME_STORED);
      result.set_sha256(sha256_);
    }
    return response.backup_running();
  }

  void Count(const v1::SynchronizeResponse& response, absl::Duration now) {
    if (response.acknowledged_transfer_ids().empty()) return;
    seen_.acknowledged += response.acknowledged_transfer_ids_size();
    seen_.first = std::min(seen_.first, now);
    seen_.last = std::max(seen_.last, now);
  }

  const std::unique_ptr<v1::WorkerPoolService::Stub> stub_;
  const std::string sha256_;
  Clock& clock_;
  v1::SynchronizeRequest request_;
  Seen seen_;
};

double Quantile(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  const size_t at = static_cast<size_t>(share * (sorted.size() - 1));
  return sorted[at];
}

int Report(const std::vector<Seen>& all) {
  Seen sum;
  for (const Seen& seen : all) {
    sum.acknowledged += seen.acknowledged;
    sum.first = std::min(sum.first, seen.first);
    sum.last = std::max(sum.last, seen.last);
    sum.latencies.insert(sum.latencies.end(), seen.latencies.begin(),
                         seen.latencies.end());
    if (!seen.error.empty()) {
      std::fprintf(stderr, "stub_workers: %s\n", seen.error.c_str());
      return 1;
    }
  }
  std::sort(sum.latencies.begin(), sum.latencies.end());
  std::printf(
      "{\"results\": %lld, \"seconds\": %.3f, \"calls\": %zu, "
      "\"p50\": %.6f, \"p99\": %.6f, \"max\": %.6f}\n",
      static_cast<long long>(sum.acknowledged),
      absl::ToDoubleSeconds(sum.last - sum.first), sum.latencies.size(),
      Quantile(sum.latencies, 0.5), Quantile(sum.latencies, 0.99),
      Quantile(sum.latencies, 1));
  return 0;
}

int Main(int argc, char** argv) {
  int workers = 0;
  int seconds = 0;
  if (argc != 6 || !absl::SimpleAtoi(argv[3], &workers) ||
      !absl::SimpleAtoi(argv[5], &seconds) || workers < 1 || workers > 256) {
    std::fprintf(stderr,
                 "usage: stub_workers ADDRESS STORAGE_ID WORKERS SHA256 "
                 "SECONDS\n");
    return 2;
  }
  SystemClock clock;
  const absl::Duration give_up = clock.Monotonic() + absl::Seconds(seconds);
  std::vector<Seen> seen(workers);
  std::vector<std::thread> threads;
  for (int i = 0; i < workers; ++i) {
    threads.emplace_back([&, i] {
      StubWorker worker(argv[1], argv[2], argv[4], i, clock);
      seen[i] = worker.Run(give_up);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return Report(seen);
}

}  // namespace
}  // namespace bimbackup

int main(int argc, char** argv) { return bimbackup::Main(argc, argv); }
