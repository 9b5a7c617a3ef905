// How an account stores its nodes. Included by account's sources alone.

#ifndef SERVICES_BIM360_EMULATOR_ACCOUNT_DATA_H_
#define SERVICES_BIM360_EMULATOR_ACCOUNT_DATA_H_

#include <cstdint>
#include <string>
#include <vector>

#include "services/bim360_emulator/account.h"

namespace bimbackup::bim360_emulator {

inline constexpr uint32_t kNoNode = UINT32_MAX;

// Keys that are not node numbers have this bit.
inline constexpr uint64_t kStableBit = 1ULL << 63;

struct Account::Item {
  uint64_t key = 0;
  uint64_t version_key = 0;
  uint32_t folder = kNoNode;
  bool hidden = false;
  ItemKind kind = ItemKind::kFile;
  std::string name;
  int64_t created = 0;
  Version tip;
};

struct Account::Folder {
  uint64_t key = 0;
  uint32_t parent = kNoNode;
  uint32_t project = 0;
  FolderType type = FolderType::kNormal;
  bool hidden = false;
  std::string name;
  int64_t created = 0;
  int64_t modified = 0;
  int64_t rollup = 0;
  std::vector<uint32_t> folders;
  std::vector<uint32_t> items;
};

struct Account::Project {
  std::string guid;
  std::string name;
  ProjectKind kind = ProjectKind::kAcc;
  uint32_t root = kNoNode;
  bool archived = false;
};

// A rollup that is not seen yet.
struct Account::LateRollup {
  uint32_t folder = kNoNode;
  int64_t time = 0;
  absl::Duration due;
  int64_t due_page = 0;
};

}  // namespace bimbackup::bim360_emulator

#endif  // SERVICES_BIM360_EMULATOR_ACCOUNT_DATA_H_
