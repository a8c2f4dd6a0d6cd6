#include "io/crc32c.h"

#include <gtest/gtest.h>

#include <string>

namespace eureka {
namespace {

TEST(Crc32c, MatchesTheCatalogCheckValue) { EXPECT_EQ(crc32c("123456789"), 0xE3069283U); }

TEST(Crc32c, MatchesTheVectorsOfRfc3720) {
  std::string ascending, descending;
  for (int i = 0; i < 32; ++i) {
    ascending.push_back(static_cast<char>(i));
    descending.push_back(static_cast<char>(31 - i));
  }
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(crc32c(std::string(32, '\xFF')), 0x62A8AB43U);
  EXPECT_EQ(crc32c(ascending), 0x46DD794EU);
  EXPECT_EQ(crc32c(descending), 0x113FDB5CU);

  std::string iscsi_read(48, '\0');  // the SCSI Read (10) command of section B.4
  iscsi_read[0] = '\x01';
  iscsi_read[1] = '\xC0';
  iscsi_read[16] = '\x14';
  iscsi_read[22] = '\x04';
  iscsi_read[27] = '\x14';
  iscsi_read[31] = '\x18';
  iscsi_read[32] = '\x28';
  iscsi_read[40] = '\x02';
  EXPECT_EQ(crc32c(iscsi_read), 0xD9963A56U);
}

TEST(Crc32c, OfNothingIsZero) { EXPECT_EQ(crc32c(""), 0U); }

// The obvious version, one bit at a time.
std::uint32_t bitwise_crc32c(std::string_view bytes) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82F63B78U : 0U);
  }
  return ~crc;
}

TEST(Crc32c, AgreesWithTheBitwiseVersionForEveryLengthAndSplit) {
  std::string bytes;
  std::uint32_t state = 1;
  for (int length = 0; length < 70; ++length) {
    ASSERT_EQ(crc32c(bytes), bitwise_crc32c(bytes)) << "length " << length;
    const std::string_view whole = bytes;
    for (std::size_t cut = 0; cut <= whole.size(); ++cut)
      ASSERT_EQ(crc32c(whole.substr(cut), crc32c(whole.substr(0, cut))), crc32c(whole));
    state = state * 1664525 + 1013904223;
    bytes.push_back(static_cast<char>(state >> 24));
  }
}

TEST(Crc32c, MaskedFormMatchesAFileOfTensorFlow) {
  // The first 12 bytes of every event file: the length 24 of the version record and its masked checksum.
  EXPECT_EQ(masked_crc32c(std::string_view("\x18\0\0\0\0\0\0\0", 8)), 0x224B7FA3U);
}

}  // namespace
}  // namespace eureka
