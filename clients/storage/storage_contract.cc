#include "clients/storage/storage_contract.h"

#include <algorithm>
#include <future>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "services/common/digest.h"
#include "services/common/status_matchers.h"

namespace bimbackup::storage {

using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

absl::Status CommitAndWait(BlobWriter& writer, absl::string_view sha256,
                           int64_t size) {
  auto promise = std::make_shared<std::promise<absl::Status>>();
  std::future<absl::Status> result = promise->get_future();
  writer.Commit(sha256, size, [promise](const absl::Status& status) {
    promise->set_value(status);
  });
  if (result.wait_for(std::chrono::minutes(1)) != std::future_status::ready) {
    return absl::DeadlineExceededError("a commit did not end");
  }
  return result.get();
}

std::string PutBlob(Storage& storage, absl::string_view storage_urn,
                    absl::string_view bytes) {
  const std::string sha256 = Sha256Hex(bytes);
  auto writer = storage.OpenBlobWriter(storage_urn);
  EXPECT_OK(writer);
  if (!writer.ok()) return sha256;
  EXPECT_OK((*writer)->WriteAt(0, bytes));
  EXPECT_OK(CommitAndWait(**writer, sha256, bytes.size()));
  return sha256;
}

std::string ReadAll(ObjectReader& reader) {
  std::string bytes(reader.size() + 1, '\0');
  auto size = reader.ReadAt(0, bytes.data(), bytes.size());
  EXPECT_OK(size);
  bytes.resize(size.ok() ? *size : 0);
  return bytes;
}

absl::Status PutObject(Storage& storage, absl::string_view key,
                       absl::string_view bytes) {
  auto writer = storage.OpenObjectWriter();
  if (!writer.ok()) return writer.status();
  const absl::Status appended = (*writer)->Append(bytes);
  return appended.ok() ? (*writer)->Commit(key) : appended;
}

namespace {

ContentIdentity Identity(std::string urn, int64_t size, std::string etag) {
  return {std::move(urn), size, std::move(etag)};
}

TEST_P(StorageContractTest, ACommittedBlobIsReadBack) {
  const std::string sha256 = PutBlob(storage(), "urn:a", "hello");
  EXPECT_THAT(storage().GetBlobSize(sha256), IsOkAndHolds(5));
  ASSERT_OK_AND_ASSIGN(auto reader, storage().OpenBlob(sha256));
  EXPECT_EQ(ReadAll(*reader), "hello");
}

TEST_P(StorageContractTest, AnEmptyBlobIsABlob) {
  const std::string sha256 = PutBlob(storage(), "urn:a", "");
  EXPECT_THAT(storage().GetBlobSize(sha256), IsOkAndHolds(0));
}

TEST_P(StorageContractTest, AMissingBlobIsNotFound) {
  EXPECT_THAT(storage().GetBlobSize(Sha256Hex("x")),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(storage().OpenBlob(Sha256Hex("x")),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_P(StorageContractTest, TheSameBytesTwiceAreOneBlob) {
  const std::string first = PutBlob(storage(), "urn:a", "same");
  EXPECT_EQ(PutBlob(storage(), "urn:b", "same"), first);
  ASSERT_OK_AND_ASSIGN(auto page, storage().List("blobs/", ""));
  EXPECT_EQ(page.entries.size(), 1);
}

TEST_P(StorageContractTest, ABlobIsNotThereBeforeItsCommit) {
  ASSERT_OK_AND_ASSIGN(auto writer, storage().OpenBlobWriter("urn:a"));
  ASSERT_OK(writer->WriteAt(0, "hello"));
  EXPECT_THAT(storage().GetBlobSize(Sha256Hex("hello")),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_P(StorageContractTest, RangesMayBeWrittenInAnyOrderByManyThreads) {
  constexpr int kRanges = 64;
  constexpr int kSize = 1000;
  std::string bytes;
  for (int i = 0; i < kRanges; ++i) bytes += std::string(kSize, 'a' + i % 26);
  ASSERT_OK_AND_ASSIGN(auto writer, storage().OpenBlobWriter("urn:a"));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = kRanges - 1 - t; i >= 0; i -= 4) {
        EXPECT_OK(writer->WriteAt(
            i * kSize, absl::string_view(bytes).substr(i * kSize, kSize)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_OK(CommitAndWait(*writer, Sha256Hex(bytes), bytes.size()));
  ASSERT_OK_AND_ASSIGN(auto reader, storage().OpenBlob(Sha256Hex(bytes)));
  EXPECT_TRUE(ReadAll(*reader) == bytes);
}

TEST_P(StorageContractTest, ACommitCutsWhatWasWrittenBeyondIt) {
  ASSERT_OK_AND_ASSIGN(auto writer, storage().OpenBlobWriter("urn:a"));
  ASSERT_OK(writer->WriteAt(0, "hello and more"));
  ASSERT_OK(CommitAndWait(*writer, Sha256Hex("hello"), 5));
  EXPECT_THAT(storage().GetBlobSize(Sha256Hex("hello")), IsOkAndHolds(5));
}

TEST_P(StorageContractTest, ACommitOfMoreThanWasWrittenFails) {
  ASSERT_OK_AND_ASSIGN(auto writer, storage().OpenBlobWriter("urn:a"));
  ASSERT_OK(writer->WriteAt(0, "hell"));
  EXPECT_THAT(CommitAndWait(*writer, Sha256Hex("hello"), 5),
              StatusIs(absl::StatusCode::kDataLoss));
  // The writer still is of use.
  ASSERT_OK(writer->WriteAt(4, "o"));
  EXPECT_OK(CommitAndWait(*writer, Sha256Hex("hello"), 5));
}

TEST_P(StorageContractTest, NothingIsWrittenOnceACommitBegan) {
  ASSERT_OK_AND_ASSIGN(auto writer, storage().OpenBlobWriter("urn:a"));
  ASSERT_OK(writer->WriteAt(0, "hello"));
  ASSERT_OK(CommitAndWait(*writer, Sha256Hex("hello"), 5));
  EXPECT_THAT(writer->WriteAt(0, "J"),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  ASSERT_OK_AND_ASSIGN(auto reader, storage().OpenBlob(Sha256Hex("hello")));
  EXPECT_EQ(ReadAll(*reader), "hello");
}

TEST_P(StorageContractTest, AnAttemptTakesUpWhatAnEarlierOneRecorded) {
  {
    ASSERT_OK_AND_ASSIGN(auto writer, storage().OpenBlobWriter("urn:a"));
    EXPECT_THAT(writer->recovered(), IsEmpty());
    ASSERT_OK(writer->SetIdentity(Identity("urn:a", 10, "e1")));
    ASSERT_OK(writer->WriteAt(6, "6789"));
    ASSERT_OK(writer->RecordRange({6, 10}));
    ASSERT_OK(writer->WriteAt(0, "012"));
    ASSERT_OK(writer->RecordRange({0, 3}));
  }
  auto again = fixture_->OpenAgain();
  ASSERT_OK_AND_ASSIGN(auto writer, again->OpenBlobWriter("urn:a"));
  EXPECT_THAT(writer->recovered(),
              ElementsAre(ByteRange{0, 3}, ByteRange{6, 10}));
  ASSERT_OK(writer->SetIdentity(Identity("urn:a", 10, "e1")));
  EXPECT_EQ(writer->recovered().size(), 2);
  ASSERT_OK(writer->WriteAt(3, "345"));
  EXPECT_OK(CommitAndWait(*writer, Sha256Hex("0123456789"), 10));
  ASSERT_OK_AND_ASSIGN(auto reader,
                       storage().OpenBlob(Sha256Hex("0123456789")));
  EXPECT_EQ(ReadAll(*reader), "0123456789");
}

TEST_P(StorageContractTest, AnotherETagOrSizeStartsOver) {
  for (const ContentIdentity& other :
       {Identity("urn:a", 10, "e2"), Identity("urn:a", 11, "e1"),
        Identity("urn:a", 10, ""),
        ContentIdentity{"urn:a", std::nullopt, "e1"}}) {
    {
      ASSERT_OK_AND_ASSIGN(auto writer, storage().OpenBlobWriter("urn:a"));
      ASSERT_OK(writer->SetIdentity(Identity("urn:a", 10, "e1")));
      ASSERT_OK(writer->WriteAt(0, "0123"));
      ASSERT_OK(writer->RecordRange({0, 4}));
    }
    ASSERT_OK_AND_ASSIGN(auto writer, storage().OpenBlobWriter("urn:a"));
    EXPECT_THAT(writer->recovered(), ElementsAre(ByteRange{0, 4}));
    ASSERT_OK(writer->SetIdentity(other));
    EXPECT_THAT(writer->recovered(), IsEmpty());
  }
}

TEST_P(StorageContractTest, NothingIsRecordedBeforeTheIdentityIsKnown) {
  ASSERT_OK_AND_ASSIGN(auto writer, storage().OpenBlobWriter("urn:a"));
  ASSERT_OK(writer->WriteAt(0, "0123"));
  EXPECT_THAT(writer->RecordRange({0, 4}),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_P(StorageContractTest, WhatWasDiscardedIsNotTakenUp) {
  {
    ASSERT_OK_AND_ASSIGN(auto writer, storage().OpenBlobWriter("urn:a"));
    ASSERT_OK(writer->SetIdentity(Identity("urn:a", 10, "e1")));
    ASSERT_OK(writer->WriteAt(0, "0123"));
    ASSERT_OK(writer->RecordRange({0, 4}));
    ASSERT_OK(writer->Discard());
  }
  ASSERT_OK_AND_ASSIGN(auto writer, storage().OpenBlobWriter("urn:a"));
  EXPECT_THAT(writer->recovered(), IsEmpty());
}

TEST_P(StorageContractTest, RecordingGoesOnAfterADiscard) {
  {
    ASSERT_OK_AND_ASSIGN(auto writer, storage().OpenBlobWriter("urn:a"));
    ASSERT_OK(writer->SetIdentity(Identity("urn:a", 10, "e1")));
    ASSERT_OK(writer->WriteAt(0, "0123"));
    ASSERT_OK(writer->RecordRange({0, 4}));
    ASSERT_OK(writer->Discard());
    ASSERT_OK(writer->WriteAt(0, "01"));
    ASSERT_OK(writer->RecordRange({0, 2}));
  }
  ASSERT_OK_AND_ASSIGN(auto writer, storage().OpenBlobWriter("urn:a"));
  EXPECT_THAT(writer->recovered(), ElementsAre(ByteRange{0, 2}));
}

TEST_P(StorageContractTest, ASuccessorOfAHeldBlobStartsAfreshBesideIt) {
  auto again = fixture_->OpenAgain();
  ASSERT_OK_AND_ASSIGN(auto late, storage().OpenBlobWriter("urn:a"));
  ASSERT_OK(late->SetIdentity(Identity("urn:a", 5, "e1")));
  ASSERT_OK(late->WriteAt(0, "hel"));
  ASSERT_OK(late->RecordRange({0, 3}));
  ASSERT_OK_AND_ASSIGN(auto same_process, storage().OpenBlobWriter("urn:a"));
  ASSERT_OK_AND_ASSIGN(auto successor, again->OpenBlobWriter("urn:a"));
  EXPECT_THAT(same_process->recovered(), IsEmpty());
  EXPECT_THAT(successor->recovered(), IsEmpty());
  ASSERT_OK(successor->WriteAt(0, "hello"));
  ASSERT_OK(CommitAndWait(*successor, Sha256Hex("hello"), 5));

  ASSERT_OK(late->WriteAt(0, "XXXXX"));
  ASSERT_OK_AND_ASSIGN(auto reader, storage().OpenBlob(Sha256Hex("hello")));
  EXPECT_EQ(ReadAll(*reader), "hello");
  // And where the late one finishes after all, its commit finds the blob.
  ASSERT_OK(late->WriteAt(0, "hello"));
  EXPECT_OK(CommitAndWait(*late, Sha256Hex("hello"), 5));
}

TEST_P(StorageContractTest, AWriterMayBeDestroyedByItsOwnCommit) {
  ASSERT_OK_AND_ASSIGN(auto writer, storage().OpenBlobWriter("urn:a"));
  ASSERT_OK(writer->WriteAt(0, "hello"));
  std::promise<absl::Status> promise;
  BlobWriter& held = *writer;
  held.Commit(Sha256Hex("hello"), 5, [&](const absl::Status& status) {
    writer.reset();
    promise.set_value(status);
  });
  EXPECT_OK(promise.get_future().get());
}

TEST_P(StorageContractTest, ManyCommitsAtOnceAllSucceed) {
  constexpr int kBlobs = 700;
  std::vector<std::unique_ptr<BlobWriter>> writers;
  std::vector<std::promise<absl::Status>> results(kBlobs);
  for (int i = 0; i < kBlobs; ++i) {
    // Every seventh has the bytes of another.
    const std::string bytes = absl::StrCat("blob ", i % 7 == 0 ? 0 : i);
    ASSERT_OK_AND_ASSIGN(auto writer,
                         storage().OpenBlobWriter(absl::StrCat("urn:", i)));
    ASSERT_OK(writer->WriteAt(0, bytes));
    writer->Commit(Sha256Hex(bytes), bytes.size(),
                   [&results, i](const absl::Status& status) {
                     results[i].set_value(status);
                   });
    writers.push_back(std::move(writer));
  }
  for (auto& result : results) EXPECT_OK(result.get_future().get());
  ASSERT_OK_AND_ASSIGN(auto page, storage().List("blobs/", ""));
  EXPECT_EQ(page.entries.size(), kBlobs - kBlobs / 7 + 1);
}

TEST_P(StorageContractTest, AnObjectIsReadBackUnderItsKey) {
  ASSERT_OK(PutObject(storage(), "snapshots/a.json", "{}"));
  EXPECT_THAT(storage().ObjectExists("snapshots/a.json"), IsOkAndHolds(true));
  ASSERT_OK_AND_ASSIGN(auto reader, storage().OpenObject("snapshots/a.json"));
  EXPECT_EQ(ReadAll(*reader), "{}");
}

TEST_P(StorageContractTest, AMissingObjectIsNotFound) {
  EXPECT_THAT(storage().ObjectExists("snapshots/a.json"), IsOkAndHolds(false));
  EXPECT_THAT(storage().OpenObject("snapshots/a.json"),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_P(StorageContractTest, AnObjectIsNeverReplaced) {
  ASSERT_OK(PutObject(storage(), "snapshots/a.json", "one"));
  EXPECT_OK(PutObject(storage(), "snapshots/a.json", "one"));
  EXPECT_THAT(PutObject(storage(), "snapshots/a.json", "two"),
              StatusIs(absl::StatusCode::kAlreadyExists));
  ASSERT_OK_AND_ASSIGN(auto reader, storage().OpenObject("snapshots/a.json"));
  EXPECT_EQ(ReadAll(*reader), "one");
}

TEST_P(StorageContractTest, AnObjectThatIsNotCommittedLeavesNothing) {
  {
    ASSERT_OK_AND_ASSIGN(auto writer, storage().OpenObjectWriter());
    ASSERT_OK(writer->Append("half"));
  }
  ASSERT_OK_AND_ASSIGN(auto page, storage().List("", ""));
  EXPECT_THAT(page.entries, IsEmpty());
}

TEST_P(StorageContractTest, KeysThatLeadElsewhereAreRefused) {
  for (const char* key :
       {"", "a", "bimbackup.json", "latest/a", "snapshots/../bimbackup.json",
        "snapshots//a", "/snapshots/a", "snapshots/", "tmp/a",
        "blobs/sha256/abc/x"}) {
    EXPECT_THAT(PutObject(storage(), key, "x"),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << key;
  }
}

TEST_P(StorageContractTest, ListingGoesInOrderThroughAllPages) {
  std::vector<std::string> expected;
  for (int i = 0; i < 2300; ++i) {
    const std::string key =
        absl::StrFormat("manifests/sha256/%03x/%d", i % 3, i);
    ASSERT_OK(PutObject(storage(), key, "x"));
    expected.push_back(key);
  }
  ASSERT_OK(PutObject(storage(), "snapshots/a.json", "12345"));
  std::sort(expected.begin(), expected.end());
  std::vector<std::string> found;
  std::string token;
  do {
    ASSERT_OK_AND_ASSIGN(const ObjectPage page,
                         storage().List("manifests/", token));
    EXPECT_LE(page.entries.size(), 1000);
    for (const auto& entry : page.entries) found.push_back(entry.key);
    token = page.next_page_token;
  } while (!token.empty() && found.size() <= expected.size());
  EXPECT_EQ(found, expected);
}

TEST_P(StorageContractTest, ListingKeepsToThePrefix) {
  for (const char* key : {"snapshots/ab", "snapshots/abc", "snapshots/b",
                          "manifests/sha256/abc/d"}) {
    ASSERT_OK(PutObject(storage(), key, "123"));
  }
  ASSERT_OK_AND_ASSIGN(const ObjectPage page,
                       storage().List("snapshots/a", ""));
  ASSERT_EQ(page.entries.size(), 2);
  EXPECT_EQ(page.entries[0].key, "snapshots/ab");
  EXPECT_EQ(page.entries[0].size, 3);
  EXPECT_EQ(page.entries[1].key, "snapshots/abc");
  EXPECT_EQ(page.next_page_token, "");
}

TEST_P(StorageContractTest, TheSweepLeavesAloneWhatIsHeld) {
  auto again = fixture_->OpenAgain();
  ASSERT_OK_AND_ASSIGN(auto writer, storage().OpenBlobWriter("urn:a"));
  ASSERT_OK(writer->SetIdentity(Identity("urn:a", 5, "e1")));
  ASSERT_OK(writer->WriteAt(0, "hel"));
  ASSERT_OK(writer->RecordRange({0, 3}));
  ASSERT_OK_AND_ASSIGN(auto object, storage().OpenObjectWriter());
  ASSERT_OK(again->SweepTemporary(absl::ZeroDuration()));
  ASSERT_OK(writer->WriteAt(3, "lo"));
  EXPECT_OK(CommitAndWait(*writer, Sha256Hex("hello"), 5));
  EXPECT_OK(object->Commit("snapshots/a.json"));
}

TEST_P(StorageContractTest, TheSweepRemovesWhatIsOldAndHeldByNobody) {
  const auto leave_parts = [&] {
    auto writer = storage().OpenBlobWriter("urn:a");
    ASSERT_OK(writer);
    ASSERT_OK((*writer)->SetIdentity(Identity("urn:a", 5, "e1")));
    ASSERT_OK((*writer)->WriteAt(0, "hel"));
    ASSERT_OK((*writer)->RecordRange({0, 3}));
  };
  leave_parts();
  ASSERT_OK(storage().SweepTemporary(absl::Hours(1)));
  {
    ASSERT_OK_AND_ASSIGN(auto writer, storage().OpenBlobWriter("urn:a"));
    EXPECT_EQ(writer->recovered().size(), 1);
  }
  ASSERT_OK(storage().SweepTemporary(absl::ZeroDuration()));
  ASSERT_OK_AND_ASSIGN(auto writer, storage().OpenBlobWriter("urn:a"));
  EXPECT_THAT(writer->recovered(), IsEmpty());
}

TEST_P(StorageContractTest, EverybodySeesTheSameStorage) {
  auto again = fixture_->OpenAgain();
  EXPECT_EQ(again->id(), storage().id());
  EXPECT_OK(storage().CheckMarker());
  const std::string sha256 = PutBlob(*again, "urn:a", "hello");
  EXPECT_THAT(storage().GetBlobSize(sha256), IsOkAndHolds(5));
}

}  // namespace

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(StorageContractTest);

}  // namespace bimbackup::storage
