#include "clients/verify/response_observer.h"

#include <utility>

#include "clients/verify/messages.h"
#include "services/common/status_macros.h"

namespace bimbackup::verify {
namespace {

// Between two messages that tell of nothing but progress.
constexpr absl::Duration kPause = absl::Milliseconds(250);

}  // namespace

ResponseObserver::ResponseObserver(Clock& clock, Hooks hooks)
    : clock_(clock), hooks_(std::move(hooks)) {}

absl::Status ResponseObserver::OnDamage(const Damage& damage) {
  ABSL_ASSIGN_OR_RETURN(const bool will_be_mended, hooks_.keep(damage));
  *response_.add_damage() = ToProto(damage, will_be_mended);
  if (response_.damage_size() >= kMaxDamagePerMessage) Write();
  return absl::OkStatus();
}

void ResponseObserver::OnProgress(const VerifyProgress& progress) {
  SetProgress(progress, response_);
  if (response_.damage_size() > 0 || clock_.Monotonic() >= next_) Write();
}

void ResponseObserver::Finish(const VerifyProgress& progress) {
  SetProgress(progress, response_);
  response_.set_done(true);
  Write();
}

void ResponseObserver::Write() {
  hooks_.write(response_);
  response_.clear_damage();
  next_ = clock_.Monotonic() + kPause;
}

}  // namespace bimbackup::verify
