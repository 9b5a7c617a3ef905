#include "clients/cli/doctor/storage_checks.h"

#include <fcntl.h>
#include <sys/statvfs.h>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "clients/cli/doctor/scratch_folder.h"
#include "clients/cli/format.h"
#include "clients/storage/local/layout.h"
#include "clients/storage/local/posix_file.h"

namespace bimbackup::cli::doctor {
namespace {

using storage::local::UniqueFd;

bool IsEmpty(int root, const std::string& path) {
  bool empty = true;
  const absl::Status visited = storage::local::VisitFolder(
      root, path, [&empty](absl::string_view name, unsigned char) {
        // What a fresh file system brings along.
        empty = name == "." || name == ".." || name == "lost+found";
        return empty;
      });
  return visited.ok() && empty;
}

void CheckMarker(int root, const std::string& path, Report& report) {
  const absl::StatusOr<std::string> id = storage::local::ReadMarker(root, path);
  if (id.ok()) {
    report.Ok("marker", absl::StrCat("storage id ", *id));
  } else if (!absl::IsNotFound(id.status())) {
    report.Fail("marker", id.status().message(),
                "use the version of bimbackup that wrote it, or another "
                "folder");
  } else if (IsEmpty(root, path)) {
    report.Ok("marker",
              absl::StrCat(path,
                           " is empty; the coordinator's first start makes "
                           "the marker. Is the share mounted that should be "
                           "there?"));
  } else {
    report.Fail("marker",
                absl::StrCat(path, " has no bimbackup.json, but other files"),
                "mount the share that should be there, or name an empty "
                "folder");
  }
}

void CheckRoom(const std::string& path, Report& report) {
  struct statvfs room {};
  if (statvfs(path.c_str(), &room) != 0) {
    report.Warn("room", "cannot be told", "check by hand that it is enough");
    return;
  }
  const double unit = room.f_frsize;
  const double free_bytes = unit * room.f_bavail;
  const std::string detail = absl::StrCat(HumanBytes(free_bytes), " free of ",
                                          HumanBytes(unit * room.f_blocks));
  if (free_bytes < 10e9) {
    report.Warn("room", detail, "a backup pauses when the storage is full");
  } else {
    report.Ok("room", detail);
  }
}

void CheckLinks(ScratchFolder& scratch, Report& report) {
  if (scratch.TryReflink().ok()) {
    report.Ok("links", "reflinks work: latest/ costs no room");
    return;
  }
  const absl::Status linked = scratch.TryHardLink();
  if (linked.ok()) {
    report.Ok("links",
              "hard links work: latest/ costs no room; export it read-only");
    return;
  }
  report.Warn("links", linked.message(),
              "no reflinks, no hard links: latest/ is left out unless you "
              "start the coordinator with --latest=copy, which doubles the "
              "room needed");
}

void TryOperations(const std::string& path, Report& report) {
  absl::StatusOr<ScratchFolder> scratch = ScratchFolder::Make(path);
  if (!scratch.ok()) {
    report.Fail("write", scratch.status().message(),
                "give the user that runs coordinator and workers the right "
                "to write there");
    return;
  }
  if (const absl::Status renamed = scratch->TryRename(); !renamed.ok()) {
    report.Fail("rename", renamed.message(),
                "this file system cannot hold a storage");
  } else {
    report.Ok("rename", "works");
  }
  if (const absl::Status locked = scratch->TryLock(); !locked.ok()) {
    report.Fail("locks", locked.message(),
                "mount the share with working locks (NFS: version 4; SMB: "
                "without nobrl)");
  } else {
    report.Ok("locks", "work");
  }
  if (const absl::StatusOr<absl::Duration> took = scratch->TimeSync();
      !took.ok()) {
    report.Fail("fsync", took.status().message(),
                "without it a power cut may take what was reported as stored");
  } else {
    report.Ok("fsync",
              absl::StrCat("works, ", absl::ToInt64Milliseconds(*took), " ms"));
  }
  CheckLinks(*scratch, report);
}

}  // namespace

void CheckStorage(const std::string& url, Report& report) {
  absl::string_view rest = url;
  absl::ConsumePrefix(&rest, "file://");
  const std::string path(rest.data(), rest.size());
  if (!absl::StartsWith(path, "/")) {
    report.Fail("storage", absl::StrCat("\"", url, "\" is no absolute folder"),
                "set BIMBACKUP_STORAGE, for example file:///backup");
    return;
  }
  const absl::StatusOr<UniqueFd> root = storage::local::OpenRoot(path);
  if (!root.ok()) {
    report.Fail("storage", root.status().message(),
                "make the folder, or mount the share");
    return;
  }
  CheckMarker(root->get(), path, report);
  CheckRoom(path, report);
  TryOperations(path, report);
}

}  // namespace bimbackup::cli::doctor
