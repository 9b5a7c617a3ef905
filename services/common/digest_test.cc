#include "services/common/digest.h"

#include "gtest/gtest.h"

namespace bimbackup {
namespace {

// The vectors of FIPS 180-4's examples.
TEST(DigestTest, MatchesThePublishedVectors) {
  Digest sha1(DigestKind::kSha1);
  sha1.Update("abc");
  EXPECT_EQ(sha1.FinishHex(), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(Sha256Hex("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256Hex(""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(DigestTest, PiecesGiveTheSameAsTheWhole) {
  Digest pieces(DigestKind::kSha256);
  pieces.Update("a");
  pieces.Update("");
  pieces.Update("bc");
  EXPECT_EQ(pieces.FinishHex(), Sha256Hex("abc"));
}

TEST(DigestTest, RecognisesItsOwnForm) {
  EXPECT_TRUE(IsSha256Hex(Sha256Hex("x")));
  EXPECT_FALSE(IsSha256Hex(""));
  EXPECT_FALSE(IsSha256Hex(std::string(64, 'A')));
  EXPECT_FALSE(IsSha256Hex(std::string(63, 'a')));
  EXPECT_FALSE(IsSha256Hex(std::string(62, 'a') + "/."));
}

}  // namespace
}  // namespace bimbackup
