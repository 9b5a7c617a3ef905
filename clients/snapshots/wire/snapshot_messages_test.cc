#include "clients/snapshots/wire/snapshot_messages.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/status_matchers.h"

namespace bimbackup::snapshots {
namespace {

using absl_testing::StatusIs;
using storage::format::EntryKind;
using storage::format::EntryStatus;
using storage::format::ManifestEntry;

TEST(SnapshotMessagesTest, AnEntryComesBackAsItWas) {
  ManifestEntry entry;
  entry.kind = EntryKind::kFile;
  entry.project_id = "b.1";
  entry.project_name = "Tower";
  entry.path = {"Plans", "a/b.dwg"};
  entry.stored_path = "Tower/Plans/a%2Fb.dwg";
  entry.item_id = "item";
  entry.version_id = "version";
  entry.version_number = 7;
  entry.size = 0;
  entry.sha256 = std::string(64, 'a');
  entry.last_modified =
      absl::FromUnixSeconds(-5) + absl::Nanoseconds(123456789);
  entry.status = EntryStatus::kGuarded;
  entry.reason = "it vanished";
  const auto back = FromProto(ToProto(entry));
  ASSERT_OK(back);
  EXPECT_EQ(storage::format::FormatManifestLine(*back),
            storage::format::FormatManifestLine(entry));
}

TEST(SnapshotMessagesTest, WhatIsNotKnownStaysUnknown) {
  ManifestEntry entry;
  entry.kind = EntryKind::kFolder;
  const auto back = FromProto(ToProto(entry));
  ASSERT_OK(back);
  EXPECT_EQ(back->last_modified, absl::InfinitePast());
  EXPECT_FALSE(back->size.has_value());
}

TEST(SnapshotMessagesTest, RefusesKindsAndStatusesOfALaterTime) {
  v1::FileEntry entry = ToProto(ManifestEntry());
  entry.set_kind("link");
  EXPECT_THAT(FromProto(entry), StatusIs(absl::StatusCode::kInvalidArgument));
  entry = ToProto(ManifestEntry());
  entry.set_status("lost");
  EXPECT_THAT(FromProto(entry), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(SnapshotMessagesTest, OfATornSnapshotOnlyItsNameIsKnown) {
  ListedSnapshot torn;
  torn.snapshot.id = "1";
  torn.damage = "does not parse";
  const v1::Snapshot message = ToProto(torn);
  EXPECT_EQ(message.name(), "snapshots/1");
  EXPECT_EQ(message.damage(), "does not parse");
  EXPECT_FALSE(message.has_start_time());
}

}  // namespace
}  // namespace bimbackup::snapshots
