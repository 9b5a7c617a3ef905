// Autodesk's JSON answers, read into the seam's types: pure functions of the
// bytes. They are tolerant of every optional key and of unknown ones.

#ifndef CLIENTS_BIM360_ANSWERS_H_
#define CLIENTS_BIM360_ANSWERS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "clients/bim360/bim360_client.h"
#include "services/common/secret.h"

namespace bimbackup::bim360 {

// What an answer may hold. Autodesk's own are far below: names of 255
// characters, 200 entries a page, S3's 10,000 parts an object. What is over
// them would be kept in the catalog and in every manifest.
inline constexpr size_t kMaxNameBytes = 4096;
// An id, a URN, a type.
inline constexpr size_t kMaxIdBytes = 2048;
inline constexpr size_t kMaxUrlBytes = 16 << 10;
inline constexpr size_t kMaxEntries = 10'000;
inline constexpr size_t kMaxSignedRanges = 10'000;
// Folders above a top folder.
inline constexpr size_t kMaxParents = 200;

// All return DATA_LOSS when the answer as a whole cannot be understood: no
// JSON, too deep, no `data`, too many entries, a next link that is unreadable
// or too long. An entry with a name or id that is too long is a defect, and
// left out. A next_page_url is the link as the server wrote it, unresolved.

absl::StatusOr<HubList> ParseHubs(absl::string_view json);
absl::StatusOr<ProjectPage> ParseProjects(absl::string_view json);
// Of topFolders and of a folder's contents alike.
absl::StatusOr<FolderPage> ParseFolderPage(absl::string_view json);

// Of signeds3download. `expires` is left to the caller. DATA_LOSS also when the
// ranges have a gap, contradict the size, are too many, or lack a URL.
absl::StatusOr<SignedDownload> ParseSignedDownload(absl::string_view json);

// Of batchsigneds3download: the download of each key, in the order of `keys`;
// NOT_FOUND for one that the answer calls an error, DATA_LOSS for one that it
// lacks or that is malformed.
absl::StatusOr<std::vector<absl::StatusOr<SignedDownload>>> ParseSignedBatch(
    absl::string_view json, const std::vector<std::string>& keys);

struct Token {
  Secret access_token;
  absl::Duration expires_in;
};
absl::StatusOr<Token> ParseToken(absl::string_view json);

// One line from an error answer in any of Autodesk's forms, such as
// "FOLDER_NOT_FOUND: The folder does not exist"; empty where there is none.
// Without control characters, and bounded.
std::string ParseErrorBody(absl::string_view body);

// A time as Autodesk writes it, with 0 to 7 fractional digits; infinite past
// when it is none.
absl::Time ParseTimestamp(absl::string_view text);

}  // namespace bimbackup::bim360

#endif  // CLIENTS_BIM360_ANSWERS_H_
