// Files of a storage that go away, or aside, for good.

#ifndef CLIENTS_STORAGE_LOCAL_FILE_REMOVAL_H_
#define CLIENTS_STORAGE_LOCAL_FILE_REMOVAL_H_

#include <string>

#include "absl/status/status.h"

namespace bimbackup::storage::local {

// Removes the file `key`, relative to `root`, durably. OK when there is none.
absl::Status RemoveDurably(int root, const std::string& key);

// Moves the file `from` to `to`, both relative to `root`, in place of what
// stands there, durably; makes the folder above `to`. OK when there is none.
absl::Status MoveDurably(int root, const std::string& from,
                         const std::string& to);

}  // namespace bimbackup::storage::local

#endif  // CLIENTS_STORAGE_LOCAL_FILE_REMOVAL_H_
