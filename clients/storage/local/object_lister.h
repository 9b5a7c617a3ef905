// Lists the files of a storage by the prefix of their keys, in order.

#ifndef CLIENTS_STORAGE_LOCAL_OBJECT_LISTER_H_
#define CLIENTS_STORAGE_LOCAL_OBJECT_LISTER_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "clients/storage/storage.h"

namespace bimbackup::storage::local {

// Up to `page_size` files of blobs/ and the objects' folders whose key starts
// with `prefix` and comes after `page_token`. Memory is bounded by the
// page, not by what a folder holds.
absl::StatusOr<ObjectPage> ListObjects(int root, absl::string_view prefix,
                                       absl::string_view page_token,
                                       size_t page_size);

}  // namespace bimbackup::storage::local

#endif  // CLIENTS_STORAGE_LOCAL_OBJECT_LISTER_H_
