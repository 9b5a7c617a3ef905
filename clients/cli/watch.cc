#include "clients/cli/watch.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "clients/cli/format.h"

namespace bimbackup::cli {

absl::StatusOr<v1::Backup> WatchToEnd(const CoordinatorClient& client,
                                      absl::string_view name,
                                      absl::Duration first_patience,
                                      absl::Duration patience,
                                      Progress& progress) {
  Clock& clock = client.clock();
  v1::WatchBackupRequest request;
  request.set_name(std::string(name.data(), name.size()));
  v1::Backup latest;
  absl::Duration give_up = clock.Monotonic() + first_patience;
  bool lost = false;
  while (true) {
    bool heard = false;
    const absl::Status status =
        client.Watch(request, [&](const v1::WatchBackupResponse& response) {
          if (lost) progress.Note("the coordinator answers again");
          lost = false;
          heard = true;
          latest = response.backup();
          give_up = clock.Monotonic() + patience;
          progress.Update(response);
          return !HasEnded(latest.state());
        });
    if (status.ok()) return latest;
    // "backups/-" must not become another backup after a restart.
    if (!latest.name().empty()) request.set_name(latest.name());
    if (heard && absl::IsDeadlineExceeded(status)) continue;
    if (!lost && !latest.name().empty()) {
      progress.Note(absl::StrCat(status.message(), "; trying again for ",
                                 HumanDuration(give_up - clock.Monotonic())));
      lost = true;
    }
    if (!client.MayRetry(status, give_up)) return status;
  }
}

}  // namespace bimbackup::cli
