#include "services/bim360_emulator/faults.h"

#include "gtest/gtest.h"
#include "services/bim360_emulator/admin_json.h"
#include "services/common/status_matchers.h"

namespace bimbackup::bim360_emulator {
namespace {

using absl_testing::StatusIs;

class FaultsTest : public testing::Test {
 protected:
  bool Hit(Endpoint endpoint, const std::string& id = "x",
           absl::string_view name = "", absl::string_view target = "/") {
    const std::vector<std::string> ids = {"project", id};
    FaultSubject subject;
    subject.endpoint = endpoint;
    subject.method = "GET";
    subject.target = target;
    subject.ids = &ids;
    subject.name = name;
    return faults_.Find(subject).has_value();
  }

  SeededRandom random_{1};
  Faults faults_{random_};
};

TEST_F(FaultsTest, EveryMemberThatIsSetMustMatch) {
  FaultMatch match;
  match.endpoint = Endpoint::kContents;
  match.id = "folder";
  ASSERT_OK(faults_.Add(match, {}));
  EXPECT_TRUE(Hit(Endpoint::kContents, "folder"));
  EXPECT_FALSE(Hit(Endpoint::kContents, "other"));
  EXPECT_FALSE(Hit(Endpoint::kItem, "folder"));
}

TEST_F(FaultsTest, MatchesByNameAndByPath) {
  FaultMatch by_name;
  by_name.name = "Plan.pdf";
  ASSERT_OK(faults_.Add(by_name, {}));
  FaultMatch by_path;
  by_path.path_regex = "page\\[number\\]=[3-5]$";
  ASSERT_OK(faults_.Add(by_path, {}));
  EXPECT_TRUE(Hit(Endpoint::kStorage, "x", "Plan.pdf"));
  EXPECT_FALSE(Hit(Endpoint::kStorage, "x", "plan.pdf"));
  EXPECT_TRUE(Hit(Endpoint::kContents, "x", "", "/c?page[number]=4"));
  EXPECT_FALSE(Hit(Endpoint::kContents, "x", "", "/c?page[number]=40"));
}

TEST_F(FaultsTest, NthAndCountChooseAmongMatches) {
  FaultMatch match;
  match.nth = 3;
  match.count = 2;
  ASSERT_OK(faults_.Add(match, {}));
  std::string hits;
  for (int i = 0; i < 6; ++i) hits += Hit(Endpoint::kSign) ? 'x' : '.';
  EXPECT_EQ(hits, "..xx..");
  EXPECT_EQ(faults_.List().at(0).matched, 6);
  EXPECT_EQ(faults_.List().at(0).applied, 2);
}

TEST_F(FaultsTest, ProbabilityIsMetRoughly) {
  FaultMatch match;
  match.probability = 0.25;
  ASSERT_OK(faults_.Add(match, {}));
  int hits = 0;
  for (int i = 0; i < 4000; ++i) hits += Hit(Endpoint::kSign);
  EXPECT_NEAR(hits, 1000, 150);
}

TEST_F(FaultsTest, RulesCanBeRemoved) {
  ASSERT_OK_AND_ASSIGN(const int64_t id, faults_.Add({}, {}));
  EXPECT_FALSE(faults_.empty());
  EXPECT_TRUE(faults_.Remove(id));
  EXPECT_FALSE(faults_.Remove(id));
  EXPECT_TRUE(faults_.empty());
}

TEST_F(FaultsTest, ABadExpressionIsRefused) {
  FaultMatch match;
  match.path_regex = "(";
  EXPECT_THAT(faults_.Add(match, {}),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(FaultJsonTest, ARuleIsReadWhole) {
  ASSERT_OK_AND_ASSIGN(
      const FaultRule rule,
      ParseFaultRule(R"({"match":{"endpoint":"contents","method":"GET",
          "path":"x","id":"i","name":"n","nth":2,"count":3,
          "probability":0.5},
          "action":{"type":"status","status":429,"retry_after":"date:5",
          "body":"b","bytes":7,"delay_ms":1500,"keys":["sha1","size"],
          "location":"http://x/"}})"));
  EXPECT_EQ(rule.match.endpoint, Endpoint::kContents);
  EXPECT_EQ(rule.match.method, "GET");
  EXPECT_EQ(rule.match.path_regex, "x");
  EXPECT_EQ(rule.match.id, "i");
  EXPECT_EQ(rule.match.name, "n");
  EXPECT_EQ(rule.match.nth, 2);
  EXPECT_EQ(rule.match.count, 3);
  EXPECT_EQ(rule.match.probability, 0.5);
  EXPECT_EQ(rule.action.type, FaultType::kStatus);
  EXPECT_EQ(rule.action.status, 429);
  EXPECT_EQ(rule.action.retry_after, "date:5");
  EXPECT_EQ(rule.action.body, "b");
  EXPECT_EQ(rule.action.bytes, 7);
  EXPECT_EQ(rule.action.delay, absl::Milliseconds(1500));
  EXPECT_EQ(rule.action.keys, (std::vector<std::string>{"sha1", "size"}));
  EXPECT_EQ(rule.action.location, "http://x/");
}

TEST(FaultJsonTest, WhatIsNoRuleIsRefused) {
  for (const char* bad :
       {"", "[]", "{}", R"({"action":{"type":"explode"}})",
        R"({"match":{"endpoint":"nowhere"},"action":{"type":"stall"}})"}) {
    EXPECT_THAT(ParseFaultRule(bad),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << bad;
  }
}

TEST(FaultJsonTest, EveryTypeHasAName) {
  for (int i = 0; i <= static_cast<int>(FaultType::kLast); ++i) {
    const FaultType type = static_cast<FaultType>(i);
    EXPECT_THAT(ParseFaultType(FaultTypeName(type)),
                absl_testing::IsOkAndHolds(type));
  }
}

}  // namespace
}  // namespace bimbackup::bim360_emulator
