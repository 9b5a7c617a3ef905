#include "services/coordinator/catalog/sqlite_catalog.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/status_matchers.h"
#include "services/coordinator/catalog/catalog_contract.h"
#include "services/coordinator/catalog/schema.h"
#include "services/coordinator/catalog/sqlite_database.h"

namespace bimbackup::catalog {
namespace {

using absl_testing::IsOkAndHolds;
using absl_testing::StatusIs;
using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;

std::unique_ptr<Catalog> OpenSqlite(const std::string& state_dir, Clock& clock,
                                    Random& random) {
  SqliteCatalogOptions options;
  options.state_dir = state_dir;
  auto catalog = SqliteCatalog::Open(options, clock, random);
  EXPECT_OK(catalog);
  return catalog.ok() ? *std::move(catalog) : nullptr;
}

INSTANTIATE_TEST_SUITE_P(Sqlite, CatalogContract,
                         testing::Values(CatalogFactory(OpenSqlite)));

class SqliteCatalogTest : public testing::Test {
 protected:
  SqliteCatalogTest() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "sqlite.XXXXXX").string();
    state_dir_ = mkdtemp(pattern.data());
  }
  ~SqliteCatalogTest() override { std::filesystem::remove_all(state_dir_); }

  absl::StatusOr<std::unique_ptr<Catalog>> Open() {
    SqliteCatalogOptions options;
    options.state_dir = state_dir_;
    return SqliteCatalog::Open(options, clock_, random_);
  }

  std::string path() const { return state_dir_ + "/catalog.db"; }

  std::vector<std::string> Files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(state_dir_)) {
      names.push_back(entry.path().filename());
    }
    return names;
  }

  FakeClock clock_;
  SeededRandom random_;
  std::string state_dir_;
};

TEST_F(SqliteCatalogTest, SecondCoordinatorIsRefused) {
  ASSERT_OK_AND_ASSIGN(const auto first, Open());
  EXPECT_THAT(Open(), StatusIs(absl::StatusCode::kFailedPrecondition,
                               AllOf(HasSubstr("another coordinator"),
                                     HasSubstr(state_dir_))));
}

TEST_F(SqliteCatalogTest, StateFolderThatCannotBeMadeIsRefused) {
  std::ofstream(state_dir_ + "/file") << "x";
  state_dir_ += "/file";
  EXPECT_THAT(Open(), StatusIs(absl::StatusCode::kFailedPrecondition,
                               HasSubstr(state_dir_)));
}

TEST_F(SqliteCatalogTest, FileThatIsNoDatabaseIsRefusedUntouched) {
  const std::string text(5000, 'x');
  std::ofstream(path()) << text;
  EXPECT_THAT(Open(), StatusIs(absl::StatusCode::kFailedPrecondition));
  std::ifstream file(path());
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), text);
}

TEST_F(SqliteCatalogTest, NewerSchemaIsRefusedUntouched) {
  ASSERT_OK(Open());
  {
    ASSERT_OK_AND_ASSIGN(auto database,
                         Database::Open(path(), Database::Mode::kReadWrite));
    database->Execute("PRAGMA journal_mode = DELETE; PRAGMA user_version = 99");
  }
  const auto size = std::filesystem::file_size(path());
  const auto files = Files().size();
  EXPECT_THAT(Open(), StatusIs(absl::StatusCode::kFailedPrecondition,
                               HasSubstr("schema 99")));
  EXPECT_EQ(std::filesystem::file_size(path()), size);
  EXPECT_EQ(Files().size(), files);
}

// A catalog of schema 1, as its program left it.
constexpr char kVersion1Content[] = R"sql(
PRAGMA user_version = 1;
INSERT INTO settings VALUES('storage_id', 'the-storage');
INSERT INTO backups(number, id, request_id, validate_only, full_recheck, state,
  create_time, crawl_task)
VALUES(1, '20230101T000000Z-00000001', '', 0, 0, 0, 1672531200000000, 1);
INSERT INTO projects(pk, id, name, kind, root, files, folders, bytes)
VALUES(1, 'b.1', 'Tower', 'ACC', 1, 1, 1, 9);
INSERT INTO folders(pk, project, parent, depth, id_hash, id, name, task)
VALUES(1, 1, 0, 0, -6677434033858385979, 'root', '', 0), (2, 1, 1, 1, -5808556873153909620, 'a', 'Plans', 7);
INSERT INTO objects(pk, urn_hash, urn, size, asked, transfer)
VALUES(1, 8227547533788186283, 'urn1', 9, 1, 1);
INSERT INTO files(pk, project, folder, item_hash, item_id, name, version_id,
  version_number, object, reason, seen)
VALUES(1, 1, 1, 627974004683829679, 'i1', 'a.pdf', 'v1', 1, 1, '', 1);
INSERT INTO frontier(task, kind, project, folder) VALUES(7, 2, 1, 2);
INSERT INTO transfers(id, backup, object, file) VALUES(1, 1, 1, 1);
UPDATE backups SET transfers = 1;
)sql";

TEST_F(SqliteCatalogTest, OlderCatalogIsCopiedThenMigrated) {
  {
    ASSERT_OK_AND_ASSIGN(auto database,
                         Database::Open(path(), Database::Mode::kReadWrite));
    database->Execute(SchemaStep(1));
    database->Execute(kVersion1Content);
    ASSERT_OK(database->TakeStatus());
  }
  ASSERT_OK_AND_ASSIGN(const auto catalog, Open());
  const std::string copy_path = path() + ".v1-20231114T221320Z";
  ASSERT_OK_AND_ASSIGN(auto copy,
                       Database::Open(copy_path, Database::Mode::kReadOnly));
  EXPECT_EQ(ReadInt(*copy, 0, "PRAGMA user_version"), 1);
  EXPECT_EQ(ReadInt(*copy, 0, "SELECT COUNT(*) FROM files"), 1);

  EXPECT_THAT(catalog->GetSetting("storage_id"), IsOkAndHolds("the-storage"));
  EXPECT_THAT(catalog->ListChildren("b.1", "")->files, SizeIs(1));
  ASSERT_OK_AND_ASSIGN(const auto pending, catalog->ListPending(1, 0, 10));
  ASSERT_THAT(pending, SizeIs(1));
  EXPECT_EQ(pending[0].project_name, "Tower");
  // What the new schema knows can be used at once.
  ASSERT_OK_AND_ASSIGN(const auto tasks, catalog->TakeTasks(1));
  ASSERT_THAT(tasks, SizeIs(1));
  // What it had is found again.
  ListedPage page;
  ListedItem& listed = page.items.emplace_back();
  listed.item.item_id = "i1";
  listed.item.name = "a.pdf";
  listed.item.version_id = "v1";
  listed.item.storage_urn = "urn1";
  page.next_page_url = "https://api/next";
  ASSERT_OK(catalog->CommitFolderPage(1, tasks[0], page, false));
  EXPECT_EQ(catalog->GetTotals()->files, 1);
  EXPECT_THAT(*catalog->ListPending(1, 0, 10), SizeIs(1));
  catalog->ReleaseTask(tasks[0].task_id);
  ASSERT_OK_AND_ASSIGN(const auto next, catalog->TakeTasks(1));
  ASSERT_THAT(next, SizeIs(1));
  ASSERT_OK(catalog->CommitUnlisted(1, next[0], "HTTP 403"));
  ASSERT_OK(catalog->FailOpen(1, "no"));
  EXPECT_THAT(catalog->ListTransfers(1, true, 0, 10)->at(0).path,
              testing::ElementsAre("Plans", "a.pdf"));
}

TEST_F(SqliteCatalogTest, HashesThatWaitedInTheFileAreMigrated) {
  {
    ASSERT_OK_AND_ASSIGN(auto database,
                         Database::Open(path(), Database::Mode::kReadWrite));
    for (int version = 1; version <= 4; ++version) {
      database->Execute(SchemaStep(version));
    }
    database->Execute(R"sql(
PRAGMA user_version = 4;
INSERT INTO objects(pk, urn) VALUES(1, 'urn1'), (2, 'urn2');
INSERT INTO object_hashes VALUES(11, 1);
INSERT INTO new_object_hashes VALUES(22, 2);
)sql");
    ASSERT_OK(database->TakeStatus());
  }
  ASSERT_OK(Open());
  ASSERT_OK_AND_ASSIGN(auto database,
                       Database::Open(path(), Database::Mode::kReadOnly));
  EXPECT_EQ(ReadInt(*database, 0,
                    "SELECT urn_hash FROM object_hashes WHERE object = 2"),
            22);
  EXPECT_EQ(ReadInt(*database, 0,
                    "SELECT CAST(value AS INTEGER) FROM settings "
                    "WHERE name = 'hashed_objects'"),
            2);
}

TEST_F(SqliteCatalogTest, MigratedCatalogIsNotCopiedAgain) {
  ASSERT_OK(Open());
  ASSERT_OK(Open());
  EXPECT_THAT(Files(), testing::Not(testing::Contains(HasSubstr(".v"))));
}

TEST_F(SqliteCatalogTest, CommitsOfManyThreadsAllCount) {
  ASSERT_OK_AND_ASSIGN(const auto catalog, Open());
  ASSERT_OK_AND_ASSIGN(const BackupRecord backup, catalog->CreateBackup({}));
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        EXPECT_OK(catalog->AddApiCalls(backup.number, {{"folders", 1}}));
        EXPECT_OK(catalog->GetBackup(backup.id));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(catalog->GetBackup(backup.id)->counters.api_calls["folders"], 800);
}

// What was answered before a SIGKILL is there after it.
TEST_F(SqliteCatalogTest, CommittedChangesSurviveTheDeathOfTheProcess) {
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    SystemClock clock;
    SeededRandom random;
    SqliteCatalogOptions options;
    options.state_dir = state_dir_;
    auto catalog = SqliteCatalog::Open(options, clock, random);
    for (int i = 1; catalog.ok(); ++i) {
      if (!(*catalog)->SetSetting("count", absl::StrCat(i)).ok()) break;
      if (write(pipe_ends[1], &i, sizeof(i)) != sizeof(i)) break;
    }
    _exit(1);
  }
  int answered = 0;
  while (answered < 50) {
    ASSERT_EQ(read(pipe_ends[0], &answered, sizeof(answered)),
              static_cast<ssize_t>(sizeof(answered)));
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(pipe_ends[1]);
  while (read(pipe_ends[0], &answered, sizeof(answered)) > 0) {
  }
  close(pipe_ends[0]);
  ASSERT_OK_AND_ASSIGN(const auto catalog, Open());
  EXPECT_GE(std::stoi(*catalog->GetSetting("count")), answered);
}

}  // namespace
}  // namespace bimbackup::catalog
