// An account in memory, a catalog in a temporary folder and crawls of the one
// into the other, for tests.

#ifndef SERVICES_COORDINATOR_CRAWL_CRAWL_HARNESS_H_
#define SERVICES_COORDINATOR_CRAWL_CRAWL_HARNESS_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "clients/bim360/fake_bim360_client.h"
#include "services/common/clock.h"
#include "services/common/random.h"
#include "services/coordinator/catalog/catalog.h"
#include "services/coordinator/crawl/crawler.h"

namespace bimbackup::crawl {

class CrawlHarness {
 public:
  CrawlHarness();
  ~CrawlHarness();

  // Closes the catalog and opens it again, as a restart does.
  void Reopen();

  // Starts a backup; a filter and the like come with `request`.
  catalog::BackupNumber Start(const catalog::BackupRequest& request = {});
  CrawlerOptions Options(catalog::BackupNumber backup) const;
  // Ends it.
  void End(catalog::BackupNumber backup,
           catalog::BackupState state = catalog::BackupState::kSucceeded);

  // One whole backup: crawls, stores everything, ends. Returns its record as
  // it was when the crawl ended.
  catalog::BackupRecord Backup(int64_t recheck_folders = 0);
  // With a filter.
  catalog::BackupRecord Backup(const catalog::BackupRequest& request);

  // Stores, or fails, every pending transfer of the backup; returns the URNs.
  std::vector<std::string> StoreAll(catalog::BackupNumber backup);
  std::vector<std::string> FailAll(catalog::BackupNumber backup);

  // Everything the catalog would show, "<project>/<path>" to a description of
  // the entry: "folder", or version, digest and flags.
  std::map<std::string, std::string> Tree();
  // The same of the account, as if all were stored.
  std::map<std::string, std::string> TrueTree();
  // "<project>/<path>: reason" of what was not listed.
  std::vector<std::string> Unlisted();
  bool IsChanged(absl::string_view project_id);
  catalog::BackupCounters Counters(catalog::BackupNumber backup);

  bim360::FakeBim360Client client;
  SystemClock clock;
  SeededRandom random;
  std::string state_dir;
  std::unique_ptr<catalog::Catalog> catalog;

 private:
  catalog::BackupRecord Run(catalog::BackupNumber backup,
                            CrawlerOptions options);
  void AddChildren(const std::string& project_id, const std::string& folder_id,
                   const std::string& path,
                   std::map<std::string, std::string>& tree);
  void AddTrueChildren(const std::string& project_id,
                       const std::string& folder_id, const std::string& path,
                       std::map<std::string, std::string>& tree);
};

// The digest that StoreAll gives to a storage object.
std::string FakeDigest(absl::string_view storage_urn);

}  // namespace bimbackup::crawl

#endif  // SERVICES_COORDINATOR_CRAWL_CRAWL_HARNESS_H_
