#include "services/bim360_emulator/json_writer.h"

#include "gtest/gtest.h"

namespace bimbackup::bim360_emulator {
namespace {

void WriteSample(JsonWriter& json) {
  json.BeginObject().Field("a", "x").Key("b").BeginObject();
  json.IntField("a", 1).Key("c").BeginArray().Int(1).Int(2).EndArray();
  json.EndObject().BoolField("d", true).EndObject();
}

TEST(JsonWriterTest, PutsCommasWhereTheyBelong) {
  JsonWriter json;
  WriteSample(json);
  EXPECT_EQ(json.Take(), R"({"a":"x","b":{"a":1,"c":[1,2]},"d":true})");
}

TEST(JsonWriterTest, EscapesWhatJsonCannotHold) {
  std::string out;
  AppendJsonString("a\"b\\c\n\x01 é😀", out);
  EXPECT_EQ(out, "\"a\\\"b\\\\c\\u000a\\u0001 é😀\"");
}

TEST(JsonWriterTest, OmitsMembersAtAnyDepth) {
  JsonWriter first({"a"});
  WriteSample(first);
  EXPECT_EQ(first.Take(), R"({"b":{"c":[1,2]},"d":true})");
  JsonWriter nested({"b"});
  WriteSample(nested);
  EXPECT_EQ(nested.Take(), R"({"a":"x","d":true})");
  JsonWriter all({"a", "b", "d"});
  WriteSample(all);
  EXPECT_EQ(all.Take(), "{}");
}

}  // namespace
}  // namespace bimbackup::bim360_emulator
