#include "services/coordinator/catalog/sqlite_catalog.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "services/common/status_macros.h"
#include "services/coordinator/catalog/schema.h"
#include "services/coordinator/catalog/sqlite_catalog_impl.h"

namespace bimbackup::catalog {
namespace {

// Few, because reads are short; an eighth of the memory each.
constexpr int kReaders = 4;

// Commits survive the death of the process; after a power cut the newest may
// be missing, never half of one.
constexpr char kWriterPragmas[] = R"sql(
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA journal_size_limit = 67108864;
PRAGMA temp_store = MEMORY;
CREATE TEMP TABLE gone(pk INTEGER PRIMARY KEY);
)sql";

}  // namespace

SqliteCatalogImpl::SqliteCatalogImpl(std::unique_ptr<StateLock> lock,
                                     std::unique_ptr<Checkpointer> checkpointer,
                                     std::unique_ptr<Database> writer,
                                     std::unique_ptr<ReaderPool> readers,
                                     std::string path, Clock& clock,
                                     Random& random)
    : clock_(clock),
      random_(random),
      lock_(std::move(lock)),
      checkpointer_(std::move(checkpointer)),
      writer_(std::move(writer), clock),
      readers_(std::move(readers)),
      path_(std::move(path)) {}

absl::Status SqliteCatalogImpl::LoadHashes() {
  return writer_.Commit([](WriteBatch& batch) {
    batch.hashes().Load();
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Catalog>> SqliteCatalog::Open(
    const SqliteCatalogOptions& options, Clock& clock, Random& random) {
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<StateLock> lock,
                        StateLock::Acquire(options.state_dir));
  const std::string path = absl::StrCat(options.state_dir, "/catalog.db");
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<Database> writer,
                        Database::Open(path, Database::Mode::kReadWrite));
  ABSL_RETURN_IF_ERROR(MigrateSchema(*writer, path, clock.Now()));
  const int64_t cache_kib = options.cache_bytes / 1024;
  writer->Execute(kWriterPragmas);
  writer->Execute(absl::StrCat("PRAGMA cache_size = -", cache_kib / 2).c_str());
  ABSL_RETURN_IF_ERROR(writer->TakeStatus());
  ABSL_ASSIGN_OR_RETURN(
      std::unique_ptr<ReaderPool> readers,
      ReaderPool::Open(path, kReaders, cache_kib / 2 / kReaders));
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<Database> emptying,
                        Database::Open(path, Database::Mode::kReadWrite));
  auto checkpointer = std::make_unique<Checkpointer>(std::move(emptying));
  writer->OnCommit([&checkpointer = *checkpointer](int64_t pages) {
    checkpointer.Note(pages);
  });
  auto catalog = std::make_unique<SqliteCatalogImpl>(
      std::move(lock), std::move(checkpointer), std::move(writer),
      std::move(readers), path, clock, random);
  ABSL_RETURN_IF_ERROR(catalog->LoadHashes());
  return catalog;
}

}  // namespace bimbackup::catalog
