// What every catalog does, as a suite of tests.

#ifndef SERVICES_COORDINATOR_CATALOG_CATALOG_CONTRACT_H_
#define SERVICES_COORDINATOR_CATALOG_CATALOG_CONTRACT_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "services/common/fake_clock.h"
#include "services/common/random.h"
#include "services/coordinator/catalog/catalog.h"

namespace bimbackup::catalog {

// Opens the catalog that lives in this folder; makes it where there is none.
using CatalogFactory = std::function<std::unique_ptr<Catalog>(
    const std::string& state_dir, Clock& clock, Random& random)>;

// An implementation instantiates the suite with its factory:
// INSTANTIATE_TEST_SUITE_P(Sqlite, CatalogContract, testing::Values(factory)).
class CatalogContract : public testing::TestWithParam<CatalogFactory> {
 protected:
  CatalogContract();
  ~CatalogContract() override;

  void Reopen();

  // A running backup whose crawl has begun and whose projects are listed:
  // "b.1" called Tower, with the root folder "root".
  BackupNumber StartWithProject();
  void EndBackup(BackupNumber backup);
  // Commits one page, the last, of the folder that the frontier holds.
  void ListFolder(BackupNumber backup, const std::string& folder_id,
                  const std::vector<ListedFolder>& folders,
                  const std::vector<ListedItem>& items);
  FrontierTask TakeTask(const std::string& folder_id);

  static ListedFolder Folder(const std::string& id, const std::string& rollup);
  static ListedItem Item(const std::string& id, const std::string& urn);

  FakeClock clock_;
  SeededRandom random_{7};
  std::string state_dir_;
  std::unique_ptr<Catalog> catalog_;
};

}  // namespace bimbackup::catalog

#endif  // SERVICES_COORDINATOR_CATALOG_CATALOG_CONTRACT_H_
