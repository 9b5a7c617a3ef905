#include "services/bim360_emulator/emulator.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "services/bim360_emulator/api_context.h"
#include "services/bim360_emulator/directory_source.h"
#include "services/bim360_emulator/dispatcher.h"
#include "services/bim360_emulator/http_server.h"
#include "services/bim360_emulator/shape.h"
#include "services/common/clock.h"
#include "services/common/random.h"
#include "services/common/status_macros.h"

namespace bimbackup::bim360_emulator {
namespace {

constexpr int kWorkThreads = 2;

class ServingEmulator : public Emulator {
 public:
  explicit ServingEmulator(EmulatorOptions options)
      : options_(std::move(options)),
        account_({options_.seed, options_.rollup,
                  options_.rollup_delay / options_.time_scale,
                  options_.rollup_delay_pages},
                 system_clock_),
        clock_(system_clock_),
        tokens_(clock_, random_, ledger_),
        signer_(clock_, random_, ledger_),
        limits_(options_.limits, options_.time_scale, system_clock_),
        faults_(random_),
        work_(kWorkThreads),
        parts_{options_, account_, clock_,  tokens_, signer_,
               ledger_,  limits_,  faults_, log_,    work_},
        dispatcher_(parts_) {}
  ~ServingEmulator() override { Stop(); }

  absl::Status FillAccount();
  absl::Status Listen();

  std::string base_url() const override {
    return absl::StrCat("http://", server_->address());
  }
  const EmulatorOptions& options() const override { return options_; }
  Account& account() override { return account_; }
  Faults& faults() override { return faults_; }
  RateLimits& limits() override { return limits_; }
  RequestLog& log() override { return log_; }
  SecretLedger& secrets() override { return ledger_; }
  TokenStore& tokens() override { return tokens_; }
  ShiftedClock& clock() override { return clock_; }
  void Rescan() override {
    if (directory_ != nullptr) directory_->Rescan();
  }
  void Stop() override {
    // Work answers through connections, so that it ends first.
    work_.Stop();
    if (server_ != nullptr) server_->Stop();
  }

 private:
  const EmulatorOptions options_;
  SystemClock system_clock_;
  SeededRandom random_;
  Account account_;
  ShiftedClock clock_;
  SecretLedger ledger_;
  TokenStore tokens_;
  UrlSigner signer_;
  RateLimits limits_;
  Faults faults_;
  RequestLog log_;
  WorkQueue work_;
  ApiParts parts_;
  Dispatcher dispatcher_;
  std::unique_ptr<DirectorySource> directory_;
  std::unique_ptr<HttpServer> server_;
};

absl::Status ServingEmulator::FillAccount() {
  absl::string_view account = options_.account;
  if (absl::ConsumePrefix(&account, "dir:")) {
    directory_ = std::make_unique<DirectorySource>(
        std::string(account.data(), account.size()), account_);
    parts_.directory = directory_.get();
    return directory_->Scan();
  }
  ABSL_ASSIGN_OR_RETURN(const Shape shape, ParseShape(account));
  BuildShape(shape, options_.size_scale, account_);
  return absl::OkStatus();
}

absl::Status ServingEmulator::Listen() {
  ABSL_ASSIGN_OR_RETURN(
      server_,
      HttpServer::Start(options_.listen, options_.threads, dispatcher_));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Emulator>> Emulator::Start(
    EmulatorOptions options) {
  if (!(options.time_scale > 0) || !(options.size_scale >= 0) ||
      options.threads < 1) {
    return absl::InvalidArgumentError(
        "time_scale and threads must be above 0, size_scale not below");
  }
  auto emulator = std::make_unique<ServingEmulator>(std::move(options));
  ABSL_RETURN_IF_ERROR(emulator->FillAccount());
  ABSL_RETURN_IF_ERROR(emulator->Listen());
  return emulator;
}

}  // namespace bimbackup::bim360_emulator
