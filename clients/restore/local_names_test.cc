#include "clients/restore/local_names.h"

#include <fcntl.h>

#include "clients/restore/name_probe.h"
#include "clients/storage/local/posix_file.h"
#include "clients/storage/temp_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/status_matchers.h"

namespace bimbackup::restore {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

storage::format::ManifestEntry Entry(std::vector<std::string> path,
                                     std::string stored_path) {
  storage::format::ManifestEntry entry;
  entry.project_name = "Tower";
  entry.path = std::move(path);
  entry.stored_path = std::move(stored_path);
  entry.version_number = 12;
  return entry;
}

TEST(LocalNamesTest, PairsOriginalAndStoredNames) {
  EXPECT_THAT(TreeNames(Entry({"a/b", "c"}, "T%2E/a%2Fb/c")),
              ElementsAre(EntryName{"Tower", "T%2E"}, EntryName{"a/b", "a%2Fb"},
                          EntryName{"c", "c"}));
  EXPECT_THAT(TreeNames(Entry({"a/b", "c"}, "Tower/a/b/c")), IsEmpty());
}

TEST(LocalNamesTest, AVersionsNumberStandsBeforeTheExtension) {
  const auto name_of = [](const std::string& name) {
    return VersionNames(Entry({name}, "Tower/stored"))[0].original;
  };
  EXPECT_EQ(name_of("plan.dwg"), "plan (version 12).dwg");
  EXPECT_EQ(name_of("plan"), "plan (version 12)");
  EXPECT_EQ(name_of(".hidden"), ".hidden (version 12)");
  EXPECT_EQ(name_of("v1.0 of everything and more"),
            "v1.0 of everything and more (version 12)");
  const std::string cut = name_of(std::string(254, 'x') + "é.dwg");
  EXPECT_EQ(cut.size(), 255);
  EXPECT_TRUE(cut.ends_with("x (version 12).dwg")) << cut;
}

TEST(LocalNamesTest, GivesNoNameTwice) {
  FolderNames names{NameRules()};
  EXPECT_EQ(names.Assign({"a", "a"}), "a");
  EXPECT_EQ(names.Assign({"a", "a~1"}), "a~1");
  EXPECT_EQ(names.Assign({"A", "A~2"}), "A");
  // Its own name is another one's stored name.
  EXPECT_EQ(names.Assign({"a~1", "a~1~3"}), "a~1~3");
  const std::string made_up = names.Assign({"a", "a~1"});
  EXPECT_TRUE(made_up.starts_with("a~1~")) << made_up;
  EXPECT_NE(names.Assign({"a", "a~1"}), made_up);
}

TEST(LocalNamesTest, NamesThatFoldAreOneWhereTheFileSystemSaysSo) {
  NameRules rules;
  rules.folds = true;
  FolderNames names(rules);
  EXPECT_EQ(names.Assign({"Plan.dwg", "Plan.dwg"}), "Plan.dwg");
  EXPECT_EQ(names.Assign({"plan.DWG", "plan~1.DWG"}), "plan~1.DWG");
  EXPECT_EQ(names.Assign({"cafe\u0301", "a"}), "cafe\u0301");
  EXPECT_EQ(names.Assign({"caf\u00e9", "b"}), "b");
}

TEST(LocalNamesTest, WindowsNamesAreHeldUnlessTheFileSystemRefusesThem) {
  NameRules rules;
  EXPECT_TRUE(CanHold("a:b?", rules));
  EXPECT_TRUE(CanHold("dot.", rules));
  rules.holds_reserved = false;
  EXPECT_FALSE(CanHold("a:b?", rules));
  EXPECT_FALSE(CanHold("dot.", rules));
  EXPECT_TRUE(CanHold("50% CD.pdf", rules));
  FolderNames names(rules);
  // A snapshot that was made with Windows' names allowed.
  EXPECT_EQ(names.Assign({"a:b", "a:b"}).substr(0, 6), "a%3Ab~");
}

TEST(LocalNamesTest, ShortNamesAreCut) {
  NameRules rules;
  rules.max_bytes = 143;
  FolderNames names(rules);
  const std::string long_name(200, 'x');
  const std::string local = names.Assign({long_name, long_name});
  EXPECT_LE(local.size(), 143);
  EXPECT_NE(names.Assign({long_name + "y", long_name + "y"}), local);
}

TEST(LocalNamesTest, NoFileSystemHoldsThese) {
  for (const std::string& name :
       {std::string(), std::string("."), std::string(".."), std::string("a/b"),
        std::string("a\0b", 3), std::string(256, 'x')}) {
    EXPECT_FALSE(CanHold(name, NameRules())) << name;
  }
}

TEST(NameProbeTest, FindsOutWhatThisFileSystemHoldsAndLeavesNothing) {
  storage::TempFolder folder;
  ASSERT_OK_AND_ASSIGN(const storage::local::UniqueFd fd,
                       storage::local::OpenFolderAt(AT_FDCWD, folder.path()));
  ASSERT_OK_AND_ASSIGN(const NameRules rules,
                       ProbeNameRules(fd.get(), folder.path()));
  EXPECT_EQ(rules.max_bytes, 255);
  EXPECT_TRUE(rules.holds_reserved);
  EXPECT_FALSE(rules.folds);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace bimbackup::restore
