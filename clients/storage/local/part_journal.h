// The journal beside a temporary blob: what of it is durable, and what it
// belongs to, so that a later attempt takes it up instead of starting over.
//
// A text of short lines, only ever appended to, each with a check over its
// rest:
//   <16 hex> identity <sha256 of the storage URN> <size> <ETag in hex>
//   <16 hex> range <begin> <end>
// The last line may be torn by a crash and is then dropped; any other bad
// line makes the journal worthless, which costs that one file's parts.

#ifndef CLIENTS_STORAGE_LOCAL_PART_JOURNAL_H_
#define CLIENTS_STORAGE_LOCAL_PART_JOURNAL_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "clients/storage/storage.h"

namespace bimbackup::storage::local {

// What a journal's text says.
struct JournalContent {
  // The identity line, without its check; empty where nothing is recorded.
  std::string identity;
  // Sorted, disjoint, merged.
  std::vector<ByteRange> ranges;
  // How much of the text is whole; what follows is torn.
  size_t valid_bytes = 0;
};

// The identity line of `identity`, without its check. Empty where it can pin
// nothing: without a size or an ETag.
std::string IdentityLine(const ContentIdentity& identity);
std::string RangeLine(ByteRange range);

// `line` with its check and newline.
std::string SealLine(absl::string_view line);

// Reads a journal's text. Nothing where it is corrupt.
std::optional<JournalContent> ParseJournal(absl::string_view text);

// Sorts and merges ranges that touch or overlap.
std::vector<ByteRange> MergeRanges(std::vector<ByteRange> ranges);

}  // namespace bimbackup::storage::local

#endif  // CLIENTS_STORAGE_LOCAL_PART_JOURNAL_H_
