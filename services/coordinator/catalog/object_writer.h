// Storage objects and their transfers, within a transaction.

#ifndef SERVICES_COORDINATOR_CATALOG_OBJECT_WRITER_H_
#define SERVICES_COORDINATOR_CATALOG_OBJECT_WRITER_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "services/coordinator/catalog/types.h"
#include "services/coordinator/catalog/write_batch.h"

namespace bimbackup::catalog {

// Numbers for a URN, and for the id of one of a project's folders or items;
// stable for ever: what indexes hold instead. Those of a project are near each
// other.
int64_t UrnHash(absl::string_view urn);
int64_t IdHash(int64_t project, absl::string_view id);

// A row of `objects`.
struct ObjectRow {
  int64_t pk = 0;
  std::optional<int64_t> size;
  bool stored = false;
  // The backup that made its newest transfer; 0 for none, also while that is
  // only promised.
  BackupNumber asked = 0;
  // The transfer that was promised when the row was made; 0 for none.
  int64_t promised = 0;
};

std::optional<ObjectRow> FindObject(WriteBatch& batch, absl::string_view urn);

// The object of this URN, which is made where there is none.
ObjectRow FindOrAddObject(WriteBatch& batch, absl::string_view urn,
                          std::optional<int64_t> size);

// As FindOrAddObject. One that is made says at once that this backup has asked
// for it: EnsureTransfer() must follow.
ObjectRow FindOrPlanObject(WriteBatch& batch, BackupNumber backup,
                           absl::string_view urn, std::optional<int64_t> size);

// Makes a transfer of the object in this backup, unless it is stored or has
// one.
void EnsureTransfer(WriteBatch& batch, BackupNumber backup,
                    const ObjectRow& object, int64_t project, int64_t file);

}  // namespace bimbackup::catalog

#endif  // SERVICES_COORDINATOR_CATALOG_OBJECT_WRITER_H_
