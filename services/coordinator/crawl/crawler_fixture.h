// The account that the crawler's tests start from.

#ifndef SERVICES_COORDINATOR_CRAWL_CRAWLER_FIXTURE_H_
#define SERVICES_COORDINATOR_CRAWL_CRAWLER_FIXTURE_H_

#include <string>

#include "gtest/gtest.h"
#include "services/coordinator/crawl/crawl_harness.h"
#include "services/coordinator/crawl/crawler.h"

namespace bimbackup::crawl {

// Tower/Plans/a.pdf, Tower/Plans/Old/b.pdf and Tower/Models/c.rvt.
class CrawlerFixture : public testing::Test {
 protected:
  CrawlerFixture() {
    AddProject("b.1", "Tower");
    plans_ = client().AddFolder("b.1", "Plans");
    models_ = client().AddFolder("b.1", "Models");
    old_ = client().AddFolder(plans_, "Old");
    client().AddFile(plans_, "a.pdf", 10);
    client().AddFile(old_, "b.pdf", 20);
    client().AddFile(models_, "c.rvt", 30);
  }

  void AddProject(const std::string& id, const std::string& name) {
    bim360::Project project;
    project.id = id;
    project.name = name;
    client().AddProject(project);
  }

  bim360::FakeBim360Client& client() { return harness_.client; }

  // A crawl alone; its backup stays open.
  absl::StatusOr<CrawlResult> Crawl(const CrawlerOptions& options) {
    Crawler crawler(client(), *harness_.catalog, harness_.clock, options);
    return crawler.Run();
  }

  // A crawl that fails, with its backup ended.
  absl::Status FailedCrawl(const catalog::BackupRequest& request = {}) {
    const catalog::BackupNumber backup = harness_.Start(request);
    CrawlerOptions options = harness_.Options(backup);
    options.filter = *PathFilter::Create(request);
    const absl::Status status = Crawl(options).status();
    harness_.End(backup, catalog::BackupState::kFailed);
    return status;
  }

  CrawlHarness harness_;
  std::string plans_;
  std::string models_;
  std::string old_;
};

}  // namespace bimbackup::crawl

#endif  // SERVICES_COORDINATOR_CRAWL_CRAWLER_FIXTURE_H_
