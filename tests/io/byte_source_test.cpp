#include "io/byte_source.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"
#include "io/tar.h"
#include "support/archives.h"

namespace eureka {
namespace {

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.message();
  }
  return "accepted";
}

TEST(ByteSource, GivesTheSameBytesPlainAndGzipped) {
  std::string content;
  for (int i = 0; i < 100'000; ++i) content += static_cast<char>(i * i);
  for (const std::string& bytes : {content, gzip(content), gzip(content.substr(0, 700)) + gzip(content.substr(700))}) {
    const auto source = open_bytes(bytes, "file");
    EXPECT_EQ(source->take(10), content.substr(0, 10));
    source->skip(990);
    EXPECT_EQ(source->take(99'000), content.substr(1000));
    EXPECT_NO_THROW(source->expect_end());
  }
}

TEST(ByteSource, SaysWhereAFileEndsOrGoesOn) {
  const std::string bytes = "0123456789";
  EXPECT_EQ(refusal([&] { open_bytes(bytes, "f")->take(12); }).substr(0, 40),
            "f: ends after 10 bytes, 2 more are missi");
  EXPECT_EQ(refusal([&] {
              const auto source = open_bytes(bytes, "f");
              source->take(4);
              source->expect_end();
            }).substr(0, 46),
            "f: goes on after the 4 bytes its header promis");
}

TEST(ByteSource, RefusesTruncatedAndDamagedGzip) {
  const std::string packed = gzip(std::string(50'000, 'x') + "end");
  const std::string half = packed.substr(0, packed.size() / 2);
  EXPECT_NE(refusal([&] { open_bytes(half, "f")->take(50'003); }).find("gzip data end"), std::string::npos);
  std::string damaged = packed;
  damaged[packed.size() / 2] = static_cast<char>(~damaged[packed.size() / 2]);
  EXPECT_NE(refusal([&] {
              const auto source = open_bytes(damaged, "f");
              source->take(50'003);
              source->expect_end();
            }),
            "accepted");
}

// 64 megabytes in less than 100 kB: only what is asked for is unpacked.
TEST(ByteSource, ABombUnpacksNoFurtherThanAsked) {
  const std::string bomb = gzip(std::string(64 << 20, '\0'));
  ASSERT_LT(bomb.size(), 100'000U);
  const auto source = open_bytes(bomb, "bomb.gz");
  EXPECT_EQ(source->take(1000).size(), 1000U);
  EXPECT_NE(refusal([&] { source->expect_end(); }).find("goes on after the 1000 bytes"), std::string::npos);
}

TEST(Tar, VisitsFilesAndPassesOverTheRest) {
  const std::string archive = tar({{"package/a.txt", "first"}, {"package/b.bin", std::string(1500, 'b')}, {"c", ""}});
  for (const std::string& bytes : {archive, gzip(archive)}) {
    std::vector<std::string> names;
    read_tar(bytes, "x.tgz", [&](const TarEntry& entry, ByteSource& content) {
      names.push_back(entry.name);
      if (entry.name != "package/b.bin") return;
      EXPECT_EQ(content.take(entry.size), std::string(1500, 'b'));
    });
    EXPECT_EQ(names, (std::vector<std::string>{"package/a.txt", "package/b.bin", "c"}));
  }
}

TEST(Tar, RefusesDamage) {
  const auto nothing = [](const TarEntry&, ByteSource&) {};
  std::string archive = tar({{"a", "content"}});
  archive[130] = '9';
  EXPECT_NE(refusal([&] { read_tar(archive, "x", nothing); }).find("no tar header at byte 0"), std::string::npos);
  const std::string cut = tar({{"a", std::string(5000, 'x')}}).substr(0, 2000);
  EXPECT_NE(refusal([&] { read_tar(cut, "x", nothing); }).find("ends after"), std::string::npos);
}

}  // namespace
}  // namespace eureka
