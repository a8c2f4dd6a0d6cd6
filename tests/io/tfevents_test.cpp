#include "io/tfevents.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstring>

#include "base/error.h"
#include "io/crc32c.h"
#include "support/temporary_directory.h"

namespace eureka {
namespace {

using namespace std::string_literals;

class TfEvents : public testing::Test {
 protected:
  const TemporaryDirectory scratch_;
  const fs::path directory_ = scratch_.path();
};

// Payloads of the records, both checksums verified here without the code under test.
std::vector<std::string> payloads(const std::string& bytes) {
  std::vector<std::string> found;
  for (std::size_t at = 0; at < bytes.size();) {
    std::uint64_t length;
    std::uint32_t length_crc, data_crc;
    std::memcpy(&length, bytes.data() + at, 8);
    std::memcpy(&length_crc, bytes.data() + at + 8, 4);
    const std::string payload = bytes.substr(at + 12, length);
    std::memcpy(&data_crc, bytes.data() + at + 12 + length, 4);
    const auto mask = [](std::uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xA282EAD8U; };
    EXPECT_EQ(length_crc, mask(crc32c(bytes.substr(at, 8))));
    EXPECT_EQ(data_crc, mask(crc32c(payload)));
    found.push_back(payload);
    at += 16 + length;
  }
  return found;
}

std::string decode_raw(const std::string& payload, const fs::path& scratch) {
  atomic_write(scratch, payload);
  const std::string command = "protoc --decode_raw < '" + scratch.string() + "' 2>&1";
  FILE* pipe = ::popen(command.c_str(), "r");
  std::string text;
  char buffer[256];
  while (std::fgets(buffer, sizeof buffer, pipe) != nullptr) text += buffer;
  ::pclose(pipe);
  return text;
}

std::string record(const std::string& payload) {
  std::string out;
  append_tfrecord(out, payload);
  return out;
}

TEST_F(TfEvents, IsWhatProtocDecodes) {
  if (std::system("protoc --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "protoc is not installed";
  EventWriter writer(directory_ / "events");
  writer.add_scalars(300, {{"val/accuracy", 0.5}, {"val/loss", 1.0}}, 1.0);
  const std::vector<std::string> events = payloads(read_file(writer.path()));
  ASSERT_EQ(events.size(), 2U);
  const std::string version = decode_raw(events[0], directory_ / "scratch");
  EXPECT_NE(version.find("3: \"brain.Event:2\""), std::string::npos) << version;
  EXPECT_EQ(decode_raw(events[1], directory_ / "scratch"),
            "1: 0x3ff0000000000000\n"
            "2: 300\n"
            "5 {\n"
            "  1 {\n"
            "    1: \"val/accuracy\"\n"
            "    2: 0x3f000000\n"
            "  }\n"
            "  1 {\n"
            "    1: \"val/loss\"\n"
            "    2: 0x3f800000\n"
            "  }\n"
            "}\n");
}

TEST_F(TfEvents, ReadsBackWhatItWrote) {
  EventWriter writer(directory_ / "events");
  for (std::int64_t step = 0; step < 5; ++step)
    writer.add_scalars(step * 100, {{"loss", 1.0 / (1.0 + static_cast<double>(step))}, {"accuracy", 0.25}}, 1e9 + 0.5);
  writer.add_scalars(-1, {{"loss", std::nan("")}}, 0);
  const std::vector<ScalarSeries> series = read_tfevents(writer.path());
  ASSERT_EQ(series.size(), 2U);
  EXPECT_EQ(series[0].tag, "loss");
  ASSERT_EQ(series[0].points.size(), 6U);
  EXPECT_EQ(series[0].points[2].step, 200);
  EXPECT_EQ(series[0].points[2].wall_time, 1e9 + 0.5);
  EXPECT_EQ(series[0].points[2].value, static_cast<double>(1.0F / 3.0F));
  EXPECT_EQ(series[0].points[5].step, -1);
  EXPECT_TRUE(std::isnan(series[0].points[5].value));
  EXPECT_EQ(series[1].points.size(), 5U);
}

TEST_F(TfEvents, ResumeFindsItsFileAndCutsItToTheCheckpoint) {
  const fs::path tb = directory_ / "run" / "tb";
  std::uint64_t at_checkpoint = 0;
  std::string uninterrupted;
  {
    EventWriter writer = EventWriter::find_or_create(tb);
    writer.add_scalars(1, {{"loss", 1}}, 1);
    at_checkpoint = writer.size();
    writer.add_scalars(2, {{"loss", 2}}, 2);
    writer.sync();
    uninterrupted = read_file(writer.path());
    writer.add_scalars(3, {{"loss", 3}}, 3);
  }
  EventWriter resumed = EventWriter::find_or_create(tb);
  EXPECT_EQ(list_event_files(tb).size(), 1U);
  EXPECT_TRUE(resumed.path().filename().string().starts_with("events.out.tfevents."));
  resumed.truncate(at_checkpoint);
  EXPECT_EQ(resumed.size(), at_checkpoint);
  resumed.add_scalars(2, {{"loss", 2}}, 2);
  EXPECT_EQ(read_file(resumed.path()), uninterrupted);
}

TEST_F(TfEvents, TruncateNeverLeavesPartOfARecord) {
  EventWriter writer(directory_ / "events");
  writer.add_scalars(1, {{"loss", 1}}, 1);
  const std::uint64_t one = writer.size();
  writer.add_scalars(2, {{"loss", 2}}, 2);
  const std::uint64_t two = writer.size();
  writer.truncate(two + 1000);
  EXPECT_EQ(writer.size(), two);
  writer.truncate(two - 1);
  EXPECT_EQ(writer.size(), one);
  writer.truncate(0);
  EXPECT_EQ(payloads(read_file(writer.path())).size(), 1U) << "the version record is written again";
}

TEST_F(TfEvents, OpeningCutsATornTail) {
  const fs::path path = directory_ / "events";
  {
    EventWriter writer(path);
    writer.add_scalars(1, {{"loss", 1}}, 1);
  }
  const std::string whole = read_file(path);
  for (const std::string& tail : {"\x18\0\0"s, std::string(40, '\0'), record("torn").substr(0, 17)}) {
    atomic_write(path, whole + tail);
    EventWriter writer(path);
    EXPECT_EQ(writer.size(), whole.size());
    EXPECT_EQ(read_file(path), whole);
  }
}

// Event{step 7, Summary{Value{tag "t", tensor}}} with lengths below 128.
std::string tensor_event(const std::string& tensor) {
  const auto nested = [](char key, const std::string& body) {
    return std::string(1, key) + std::string(1, static_cast<char>(body.size())) + body;
  };
  return "\x10\x07"s + nested('\x2A', nested('\x0A', "\x0A\x01t"s + nested('\x42', tensor)));
}

std::vector<ScalarSeries> parse_tensor(const std::string& tensor) {
  return parse_tfevents(record(tensor_event(tensor)), "memory");
}

TEST_F(TfEvents, ReadsTensorScalarsInEveryFormInUse) {
  const std::string rank0 = "\x12\x00"s;                                 // tensor_shape {}
  const std::string ones = "\x12\x08\x12\x02\x08\x01\x12\x02\x08\x01"s;  // dim {1} dim {1}
  const std::string half = "\x00\x00\x00\x3F"s;                          // 0.5f
  const std::string half_double = "\0\0\0\0\0\0\xE0\x3F"s;               // 0.5
  const std::pair<std::string, double> cases[] = {
      {"\x08\x01"s + rank0 + "\x22\x04"s + half, 0.5},          // float, tensor_content (TF2)
      {"\x08\x01"s + rank0 + "\x2A\x04"s + half, 0.5},          // float_val, packed
      {"\x08\x01"s + rank0 + "\x2D"s + half, 0.5},              // float_val, unpacked
      {"\x08\x01"s + ones + "\x22\x04"s + half, 0.5},           // shape [1, 1]
      {"\x08\x01"s + "\x22\x04"s + half, 0.5},                  // shape left out
      {"\x08\x02"s + rank0 + "\x22\x08"s + half_double, 0.5},   // double, tensor_content
      {"\x08\x02"s + rank0 + "\x32\x08"s + half_double, 0.5},   // double_val, packed
      {"\x08\x02"s + rank0 + "\x31"s + half_double, 0.5},       // double_val, unpacked
      {"\x08\x03"s + rank0 + "\x22\x04\xFB\xFF\xFF\xFF"s, -5},  // int32 content
      {"\x08\x09"s + rank0 + "\x52\x02\xAC\x02"s, 300},         // int64_val, packed
      {"\x08\x09"s + rank0 + "\x50\xAC\x02"s, 300},             // int64_val, unpacked
  };
  for (const auto& [tensor, value] : cases) {
    const std::vector<ScalarSeries> series = parse_tensor(tensor);
    ASSERT_EQ(series.size(), 1U);
    EXPECT_EQ(series[0].tag, "t");
    EXPECT_EQ(series[0].points[0].step, 7);
    EXPECT_EQ(series[0].points[0].value, value);
  }
}

TEST_F(TfEvents, PassesOverTensorsThatAreNoScalars) {
  const std::string three = "\x12\x04\x12\x02\x08\x03"s;
  EXPECT_TRUE(parse_tensor("\x08\x01"s + three + "\x22\x0C"s + std::string(12, '\0')).empty());
  EXPECT_TRUE(parse_tensor("\x08\x01"s + three + "\x2A\x04"s + std::string(4, '\0')).empty())
      << "one value fills three";
  EXPECT_TRUE(parse_tensor("\x08\x07\x42\x02hi"s).empty()) << "text";
}

TEST_F(TfEvents, ReadsADirectoryInTheOrderOfItsFiles) {
  EventWriter(directory_ / "events.out.tfevents.0000000002.host").add_scalars(2, {{"loss", 2}}, 2);
  EventWriter(directory_ / "events.out.tfevents.0000000001.host").add_scalars(1, {{"loss", 1}}, 1);
  atomic_write(directory_ / "notes.txt", "not an event file");
  const std::vector<ScalarSeries> series = read_tfevents(directory_);
  ASSERT_EQ(series.size(), 1U);
  ASSERT_EQ(series[0].points.size(), 2U);
  EXPECT_EQ(series[0].points[0].step, 1);
  EXPECT_EQ(series[0].points[1].step, 2);
}

TEST_F(TfEvents, ADirectoryWithoutEventFilesIsAnError) { EXPECT_THROW(read_tfevents(directory_), Error); }

TEST_F(TfEvents, DamageInTheMiddleNamesTheByte) {
  EventWriter writer(directory_ / "events");
  const std::uint64_t first = writer.size();
  writer.add_scalars(1, {{"loss", 1}}, 1);
  writer.add_scalars(2, {{"loss", 2}}, 2);
  std::string bytes = read_file(writer.path());
  bytes[first + 14] ^= 1;
  try {
    parse_tfevents(bytes, "events");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), "events: byte " + std::to_string(first));
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_FALSE(error.hint().empty());
  }
}

TEST_F(TfEvents, AFileOfAnotherKindIsAnError) {
  EXPECT_THROW(parse_tfevents("step,loss\n1,2\n3,4\n", "curve.csv"), Error);
  EXPECT_FALSE(looks_like_tfevents("step,loss\n1,2\n3,4\n"));
}

TEST_F(TfEvents, TruncatedAtEveryByteGivesTheWholeRecordsBefore) {
  EventWriter writer(directory_ / "events");
  std::vector<std::uint64_t> ends = {writer.size()};
  for (std::int64_t step = 0; step < 3; ++step) {
    writer.add_scalars(step, {{"loss", 1}}, 1);
    ends.push_back(writer.size());
  }
  const std::string bytes = read_file(writer.path());
  EXPECT_TRUE(looks_like_tfevents(bytes));
  for (std::size_t length = 0; length <= bytes.size(); ++length) {
    std::size_t whole = 0;
    while (whole < 3 && ends[whole + 1] <= length) ++whole;
    const std::vector<ScalarSeries> series = parse_tfevents(bytes.substr(0, length), "events");
    ASSERT_EQ(series.empty() ? 0 : series[0].points.size(), whole) << "length " << length;
  }
}

TEST_F(TfEvents, AnyFlippedByteIsReadOrRefusedButNeverCrashes) {
  EventWriter writer(directory_ / "events");
  for (std::int64_t step = 0; step < 3; ++step) writer.add_scalars(step, {{"loss", 1}}, 1);
  const std::string bytes = read_file(writer.path());
  for (std::size_t at = 0; at < bytes.size(); ++at)
    for (int mask = 1; mask < 256; ++mask) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ mask);
      try {
        parse_tfevents(damaged, "events");
      } catch (const Error& error) {
        ASSERT_EQ(error.kind(), ErrorKind::input);
      }
    }
}

TEST_F(TfEvents, AnyPayloadBehindARightChecksumNeverCrashes) {
  const std::string event = tensor_event("\x08\x02\x12\x04\x12\x02\x08\x01\x32\x08\0\0\0\0\0\0\xE0\x3F"s);
  for (std::size_t at = 0; at < event.size(); ++at)
    for (int byte = 0; byte < 256; ++byte)
      for (const std::size_t length : {event.size(), at + 1}) {
        std::string damaged = event.substr(0, length);
        damaged[at] = static_cast<char>(byte);
        try {
          parse_tfevents(record(damaged) + record(event), "events");
        } catch (const Error& error) {
          ASSERT_EQ(error.kind(), ErrorKind::input);
        }
      }
}

}  // namespace
}  // namespace eureka
