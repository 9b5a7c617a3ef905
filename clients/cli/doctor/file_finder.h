// Finds some file with content, in few calls.

#ifndef CLIENTS_CLI_DOCTOR_FILE_FINDER_H_
#define CLIENTS_CLI_DOCTOR_FILE_FINDER_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "clients/bim360/bim360_client.h"

namespace bimbackup::cli::doctor {

struct FoundFile {
  std::string storage_urn;
  std::string display_path;
};

// How a search ended.
struct FileSearch {
  std::optional<FoundFile> file;
  // The project searched last.
  std::string project_name;
  int folders_listed = 0;
  // The latest call that failed; OK where none did.
  absl::Status problem;
};

// Searches the first three of `projects`, of which there is at least one,
// depth first, until a file of known size above zero is found or 30 calls
// are made.
FileSearch FindFile(absl::string_view hub_id,
                    const std::vector<bim360::Project>& projects,
                    bim360::Bim360Client& client);

}  // namespace bimbackup::cli::doctor

#endif  // CLIENTS_CLI_DOCTOR_FILE_FINDER_H_
