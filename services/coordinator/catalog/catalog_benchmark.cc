// How much CPU the catalog needs for a first crawl:
//   catalog_benchmark [folders] [files per folder] [threads] [projects]
// Prints pages and files per second of CPU, the database's size, the process's
// peak memory, and how long it takes to open what is there. A tool for
// developers, not a test.

#include <stdlib.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "services/common/clock.h"
#include "services/common/random.h"
#include "services/coordinator/catalog/sqlite_catalog.h"

namespace bimbackup::catalog {
namespace {

double CpuSeconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec +
         (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

int64_t PeakKib() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

// Ids of the length and randomness of Autodesk's.
std::string NewId(Random& random, absl::string_view prefix) {
  return absl::StrCat(prefix, absl::Hex(random.Next(), absl::kZeroPad16),
                      absl::Hex(random.Next() & 0xffffff, absl::kZeroPad6));
}

ListedPage MakePage(Random& random, int folders, int files) {
  ListedPage page;
  for (int i = 0; i < folders; ++i) {
    ListedFolder& listed = page.folders.emplace_back();
    listed.folder.id = NewId(random, "urn:adsk.wipprod:fs.folder:co.");
    listed.folder.name = absl::StrCat("Folder ", i);
    listed.folder.rollup = "2022-05-06T08:27:50.0000000Z";
  }
  for (int i = 0; i < files; ++i) {
    bim360::Item& item = page.items.emplace_back().item;
    item.item_id = NewId(random, "urn:adsk.wipprod:dm.lineage:");
    item.name = absl::StrCat("Drawing ", i, " of a building.pdf");
    item.version_id =
        NewId(random, "urn:adsk.wipprod:fs.file:vf.") + "?version=1";
    item.version_number = 1;
    item.size = 1'000'000;
    item.storage_urn = absl::StrCat("urn:adsk.objects:os.object:wip.dm.prod/",
                                    random.NextUuid(), ".pdf");
    item.last_modified = absl::FromUnixSeconds(1'650'000'000 + i);
  }
  return page;
}

void ListProjects(Catalog& catalog, BackupNumber backup, int projects) {
  std::vector<bim360::Project> listed;
  for (int i = 0; i < projects; ++i) {
    listed.push_back({absl::StrCat("b.", i), absl::StrCat("Tower ", i), "ACC",
                      absl::StrCat("root", i)});
  }
  catalog
      .CommitProjectPage(backup, catalog.TakeTasks(1)->at(0), listed,
                         std::vector<bool>(listed.size(), true), "", "")
      .IgnoreError();
}

// A root's folders, in pages, as deep as the catalog's cost depends on.
void ListRoot(Catalog& catalog, BackupNumber backup, Random& random,
              const FrontierTask& task, int folders) {
  for (int left = folders; left > 0; left -= 200) {
    ListedPage page = MakePage(random, std::min(left, 200), 0);
    if (left > 200) page.next_page_url = "https://api/next";
    catalog.CommitFolderPage(backup, task, page, false).IgnoreError();
  }
}

void CrawlAll(Catalog& catalog, BackupNumber backup, int files, int threads) {
  SeededRandom random(2);
  auto work = [&] {
    while (true) {
      const auto tasks = catalog.TakeTasks(1);
      if (!tasks.ok() || tasks->empty()) return;
      catalog
          .CommitFolderPage(backup, tasks->at(0), MakePage(random, 0, files),
                            false)
          .IgnoreError();
      catalog.ReleaseTask(tasks->at(0).task_id);
    }
  };
  std::vector<std::thread> pool;
  for (int i = 0; i < threads; ++i) pool.emplace_back(work);
  for (std::thread& thread : pool) thread.join();
}

int Main(int argc, char** argv) {
  const int folders = argc > 1 ? atoi(argv[1]) : 11'737;
  const int files = argc > 2 ? atoi(argv[2]) : 4;
  const int threads = argc > 3 ? atoi(argv[3]) : 32;
  const int projects = argc > 4 ? atoi(argv[4]) : 1;
  std::string pattern =
      (std::filesystem::temp_directory_path() / "bench.XXXXXX").string();
  SqliteCatalogOptions options;
  options.state_dir = mkdtemp(pattern.data());
  SystemClock clock;
  SeededRandom random;
  auto catalog = SqliteCatalog::Open(options, clock, random);
  if (!catalog.ok()) return 1;
  const BackupNumber backup = (*catalog)->CreateBackup({})->number;
  (*catalog)->BeginCrawl(backup, nullptr).IgnoreError();
  ListProjects(**catalog, backup, projects);
  const double cpu_before = CpuSeconds();
  const absl::Duration before = clock.Monotonic();
  const auto roots = (*catalog)->TakeTasks(projects);
  if (!roots.ok()) return 1;
  for (const FrontierTask& root : *roots) {
    ListRoot(**catalog, backup, random, root, folders / projects);
    (*catalog)->ReleaseTask(root.task_id);
  }
  CrawlAll(**catalog, backup, files, threads);
  const double cpu = CpuSeconds() - cpu_before;
  const double wall = absl::ToDoubleSeconds(clock.Monotonic() - before);
  const AccountTotals totals = *(*catalog)->GetTotals();
  const auto bytes =
      std::filesystem::file_size(options.state_dir + "/catalog.db");
  printf(
      "%lld folders, %lld files: %.2f s CPU, %.2f s; %.0f pages/s and "
      "%.0f files/s of CPU; database %lld MB, peak %lld MB\n",
      static_cast<long long>(totals.folders),
      static_cast<long long>(totals.files), cpu, wall, totals.folders / cpu,
      totals.files / cpu, static_cast<long long>(bytes >> 20),
      static_cast<long long>(PeakKib() >> 10));
  catalog->reset();
  const absl::Duration closed = clock.Monotonic();
  catalog = SqliteCatalog::Open(options, clock, random);
  if (!catalog.ok()) return 1;
  printf("opened again in %.3f s\n",
         absl::ToDoubleSeconds(clock.Monotonic() - closed));
  catalog->reset();
  std::filesystem::remove_all(options.state_dir);
  return 0;
}

}  // namespace
}  // namespace bimbackup::catalog

int main(int argc, char** argv) { return bimbackup::catalog::Main(argc, argv); }
