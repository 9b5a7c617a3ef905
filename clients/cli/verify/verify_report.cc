#include "clients/cli/verify/verify_report.h"

#include <ostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "clients/cli/format.h"

namespace bimbackup::cli {
namespace {

constexpr absl::Duration kBetweenLines = absl::Seconds(10);

bool IsManifest(const v1::Damage& damage) {
  return damage.kind() == v1::DAMAGE_KIND_MANIFEST;
}

// What is damaged, as people call it.
std::string SubjectOf(const v1::Damage& damage) {
  if (IsManifest(damage)) {
    return absl::StrCat("manifest of ", Printable(damage.project_name()));
  }
  if (damage.kind() == v1::DAMAGE_KIND_SNAPSHOT) return "snapshot file";
  std::string path = DisplayPath(damage.project_name(), damage.path());
  if (damage.files() > 1) {
    absl::StrAppend(&path, " (and ", HumanCount(damage.files() - 1), " more)");
  }
  return path;
}

std::string WhatFollows(const v1::Damage& damage) {
  if (!damage.will_be_fetched()) return "; the next backup cannot mend it";
  return IsManifest(damage) ? "; the next backup writes it again"
                            : "; the next backup fetches it again";
}

std::string Blobs(int64_t count) {
  return absl::StrCat(HumanCount(count), count == 1 ? " blob" : " blobs");
}

}  // namespace

std::string RenderDamage(const v1::Damage& damage, bool offline) {
  return absl::StrCat("damaged: ", SubjectOf(damage), ": ",
                      Printable(damage.message()), " [", damage.key(), "]",
                      offline ? "" : WhatFollows(damage));
}

std::string RenderProgress(const v1::VerifySnapshotResponse& response) {
  std::string share;
  if (response.bytes_to_read() > 0) {
    share = absl::StrFormat(" %3.0f %%",
                            100.0 * static_cast<double>(response.bytes_read()) /
                                static_cast<double>(response.bytes_to_read()));
  }
  return absl::StrCat(
      response.name(), ": ", HumanCount(response.manifests_done()), " of ",
      HumanCount(response.manifests()), " manifests, ",
      Blobs(response.blobs_checked()), ", read ",
      HumanBytes(static_cast<double>(response.bytes_read())), " of ",
      HumanBytes(static_cast<double>(response.bytes_to_read())), share, ", ",
      HumanCount(response.damaged()), " damaged");
}

void VerifyReport::Show(const v1::VerifySnapshotResponse& response) {
  latest_ = response;
  latest_.clear_damage();
  if (context_.json()) PrintJson(context_, response);
  for (const v1::Damage& damage : response.damage()) {
    to_be_mended_ += damage.will_be_fetched() ? 1 : 0;
    if (context_.json()) continue;
    Clear();
    *context_.out << RenderDamage(damage, offline_) << std::endl;
  }
  if (!context_.json() && !response.done()) ShowProgress();
}

void VerifyReport::ShowProgress() {
  if (context_.terminal) {
    // One line, which a narrow terminal cuts rather than wraps.
    *context_.out << "\r\x1b[?7l" << RenderProgress(latest_) << "\x1b[K\x1b[?7h"
                  << std::flush;
    drawn_ = true;
    return;
  }
  const absl::Duration now = clock_.Monotonic();
  if (now < next_show_) return;
  next_show_ = now + kBetweenLines;
  *context_.out << RenderProgress(latest_) << std::endl;
}

void VerifyReport::Clear() {
  if (drawn_) *context_.out << "\r\x1b[K";
  drawn_ = false;
}

int VerifyReport::Finish() {
  const int64_t damaged = latest_.damaged();
  const int code = damaged == 0 ? kExitSuccess : kExitPartial;
  if (context_.json()) return code;
  Clear();
  *context_.out << latest_.name() << ": "
                << (damaged == 0
                        ? "whole"
                        : absl::StrCat(HumanCount(damaged), " damaged"))
                << "; " << HumanCount(latest_.manifests()) << " manifests, "
                << Blobs(latest_.blobs_checked()) << ", "
                << HumanCount(latest_.blobs_read()) << " of them read again ("
                << HumanBytes(static_cast<double>(latest_.bytes_read()))
                << ")\n";
  if (damaged > 0 && !offline_) {
    *context_.out << "  the next backup mends " << HumanCount(to_be_mended_)
                  << " of them\n";
  }
  *context_.out << std::flush;
  return code;
}

}  // namespace bimbackup::cli
