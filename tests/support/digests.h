// Digests of what short runs compute, kept in a text file: a line is a name and a few hexadecimal numbers. They are the
// same on every processor with fused multiply-add, so one file serves all.
//
//   DigestFile file(EUREKA_TESTS "/engine/digests.txt");
//   file.expect("decoder softmax", {digest_of(a), digest_of(b)});
//
// With EUREKA_WRITE_DIGESTS set the file is written anew instead: for a change that is meant to change bits.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <span>
#include <sstream>
#include <string>
#include <vector>

namespace eureka {

// FNV-1a.
class Digest {
 public:
  void add(std::span<const std::byte> bytes) {
    for (const std::byte byte : bytes) value_ = (value_ ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3U;
  }
  void add(std::span<const float> values) { add(std::as_bytes(values)); }
  void add(double value) { add(std::as_bytes(std::span(&value, 1))); }
  void add(const std::string& text) { add(std::as_bytes(std::span(text))); }
  std::string text() const {
    char hexadecimal[17];
    std::snprintf(hexadecimal, sizeof hexadecimal, "%016llx", static_cast<unsigned long long>(value_));
    return std::string(hexadecimal, 8);
  }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325U;
};

class DigestFile {
 public:
  explicit DigestFile(std::string path) : path_(std::move(path)) {
    if (writing()) return;
    std::ifstream file(path_);
    for (std::string line; std::getline(file, line);) {
      const std::size_t colon = line.find(": ");
      if (colon != std::string::npos) lines_[line.substr(0, colon)] = line.substr(colon + 2);
    }
    EXPECT_FALSE(lines_.empty()) << path_ << " has no digests";
  }
  ~DigestFile() {
    if (!writing()) return;
    std::ofstream file(path_);
    for (const auto& [name, digests] : lines_) file << name << ": " << digests << "\n";
  }
  DigestFile(const DigestFile&) = delete;
  DigestFile& operator=(const DigestFile&) = delete;

  void expect(const std::string& name, const std::vector<std::string>& digests) {
    std::string line;
    for (const std::string& digest : digests) line += (line.empty() ? "" : " ") + digest;
    if (writing())
      lines_[name] = line;
    else
      EXPECT_EQ(lines_[name], line) << name;
    seen_[name] = true;
  }

  // A line that no test asks for would never fail.
  void expect_all_seen() const {
    for (const auto& [name, digests] : lines_) EXPECT_TRUE(seen_.contains(name)) << name;
  }

 private:
  static bool writing() { return std::getenv("EUREKA_WRITE_DIGESTS") != nullptr; }

  std::string path_;
  std::map<std::string, std::string> lines_;
  std::map<std::string, bool> seen_;
};

}  // namespace eureka
