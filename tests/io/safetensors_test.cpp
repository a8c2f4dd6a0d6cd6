#include "io/safetensors.h"

#include <gtest/gtest.h>

#include <random>

namespace eureka {
namespace {

using namespace std::string_literals;

std::string with_length(const std::string& header, const std::string& data = {}) {
  const std::uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + header + data;
}

TensorFile sample() {
  TensorFile file;
  file.metadata = {{"step", "400"}, {"note", "a \"quoted\"\nline, µ"}};
  const std::vector<float> q = {1, 2, 3, 4, 5, 6};
  const std::vector<double> running = {0.5, -0.25};
  const std::vector<std::int64_t> step = {400};
  file.add(make_tensor<float>("blocks.1.attn.q", {2, 3}, q));
  file.add(make_tensor<double>("running", {2}, running));
  file.add(make_tensor<std::int64_t>("step", {}, step));
  file.add({"empty", DType::f32, {0, 4}, {}});
  file.add({"mask", DType::boolean, {3}, "\1\0\1"s});
  return file;
}

std::string error_of(const std::string& bytes) {
  try {
    parse_safetensors(bytes, "model.safetensors");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_NE(error.where().find("model.safetensors: byte "), std::string::npos);
    EXPECT_FALSE(error.hint().empty());
    return error.what();
  }
  return "accepted";
}

TEST(Safetensors, MatchesBytesWrittenByHandFromTheSpecification) {
  TensorFile file;
  const std::vector<float> a = {1.0F, -2.0F};
  file.add(make_tensor<float>("a", {2}, a));
  // 54 characters of JSON, two spaces of padding, then 1.0f and -2.0f.
  const std::string golden =
      "\x38\0\0\0\0\0\0\0"s
      "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}"
      "  "
      "\x00\x00\x80\x3F\x00\x00\x00\xC0"s;
  EXPECT_EQ(write_safetensors(file), golden);
  EXPECT_EQ(tensor_values<float>(parse_safetensors(golden, "golden").at("a")), a);
}

TEST(Safetensors, ReadsTheExampleOfTheOfficialCrate) {
  const std::string bytes =
      "<\0\0\0\0\0\0\0{\"test\":{\"dtype\":\"I32\",\"shape\":[2,2],\"data_offsets\":[0,16]}}"s + std::string(16, '\0');
  const TensorFile file = parse_safetensors(bytes, "crate");
  EXPECT_EQ(file.at("test").shape, (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(tensor_values<std::int32_t>(file.at("test")), std::vector<std::int32_t>(4, 0));
}

TEST(Safetensors, RoundTripKeepsEveryTensorAndTheMetadata) {
  const TensorFile before = sample();
  const TensorFile after = parse_safetensors(write_safetensors(before), "memory");
  EXPECT_EQ(after.metadata, before.metadata);
  ASSERT_EQ(after.tensors().size(), before.tensors().size());
  for (const auto& [name, tensor] : before.tensors()) {
    EXPECT_EQ(after.at(name).dtype, tensor.dtype);
    EXPECT_EQ(after.at(name).shape, tensor.shape);
    EXPECT_EQ(after.at(name).data, tensor.data);
  }
}

TEST(Safetensors, BytesDoNotDependOnTheOrderOfAdding) {
  const TensorFile before = sample();
  TensorFile reversed;
  reversed.metadata = before.metadata;
  for (auto entry = before.tensors().rbegin(); entry != before.tensors().rend(); ++entry) reversed.add(entry->second);
  EXPECT_EQ(write_safetensors(reversed), write_safetensors(before));
}

TEST(Safetensors, EveryTensorIsAlignedToItsElement) {
  const std::string bytes = write_safetensors(sample());
  std::uint64_t header;
  std::memcpy(&header, bytes.data(), 8);
  EXPECT_EQ(header % 8, 0U);
  EXPECT_LT(bytes.find("\"running\""), bytes.find("\"blocks.1.attn.q\""));
  EXPECT_LT(bytes.find("\"blocks.1.attn.q\""), bytes.find("\"mask\""));
}

TEST(Safetensors, AnEmptyFileOfTensorsIsAllowed) {
  EXPECT_TRUE(parse_safetensors(write_safetensors({}), "memory").tensors().empty());
}

TEST(Safetensors, TruncatedAtEveryByteIsAnError) {
  const std::string bytes = write_safetensors(sample());
  for (std::size_t length = 0; length < bytes.size(); ++length)
    ASSERT_NE(error_of(bytes.substr(0, length)), "accepted") << length << " of " << bytes.size();
}

TEST(Safetensors, TruncationNamesTheTensorAndTheBytes) {
  TensorFile file;
  file.add({"blocks.1.attn.q", DType::f32, {32, 32}, std::string(4096, 'x')});
  const std::string bytes = write_safetensors(file);
  EXPECT_EQ(error_of(bytes.substr(0, bytes.size() - 4096 + 1712)),
            "tensor 'blocks.1.attn.q' needs 4096 bytes, file ends after 1712");
}

TEST(Safetensors, AnyFlippedByteIsReadOrRefusedButNeverCrashes) {
  const std::string bytes = write_safetensors(sample());
  for (std::size_t at = 0; at < bytes.size(); ++at)
    for (const int mask : {0x01, 0x20, 0x80, 0xFF}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ mask);
      error_of(damaged);
    }
}

TEST(Safetensors, RandomHeadersAreRefused) {
  std::mt19937 random(7);
  const std::string alphabet = "{}[]\",:0123456789-eE.abF32I64dtypeshapedata_offsets \\u\n\xFF"s;
  for (int round = 0; round < 3000; ++round) {
    std::string header;
    const std::size_t length = random() % 80;
    while (header.size() < length) header.push_back(alphabet[random() % alphabet.size()]);
    error_of(with_length(header, std::string(random() % 16, 'd')));
  }
}

struct BadHeader {
  const char* header;
  const char* message;
};

TEST(Safetensors, SaysWhatIsWrongWithAHostileHeader) {
  const BadHeader cases[] = {
      {R"([])", "the header is not a JSON object"},
      {R"({"a":1})", "tensor 'a' has no description in the header"},
      {R"({"a":{"shape":[],"data_offsets":[0,4]}})", "tensor 'a' has no 'dtype' in the header"},
      {R"({"a":{"dtype":"F33","shape":[],"data_offsets":[0,4]}})", "tensor 'a' has the unknown type 'F33'"},
      {R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})",
       "tensor 'a' has a 'shape' that does not hold whole numbers"},
      {R"({"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}})",
       "tensor 'a' has a 'shape' that does not hold whole numbers"},
      {R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4]}})",
       "tensor 'a' has a shape too large to be real"},
      {R"({"a":{"dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,4]}})",
       "tensor 'a' has a 'shape' that does not hold whole numbers"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", "tensor 'a' has 'data_offsets' that are no range"},
      {R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})",
       "tensor 'a' of shape [3] needs 12 bytes, the header gives it 8"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", "tensor 'a' leaves a gap before it"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "4 bytes after the last tensor belong to none"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
       "tensor 'b' overlaps the one before it"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
       "tensor 'a' is named twice in the header"},
      {R"({"__metadata__":{"a":1}})", "metadata 'a' is not a string"},
      {R"({"a":[[[[]]]]})", "the header is nested too deeply"},
      {R"({"a")", "the header is not valid JSON"},
      {R"({"a":1e999})", "the header holds a number too large to be real"},
  };
  for (const BadHeader& bad : cases) EXPECT_EQ(error_of(with_length(bad.header, std::string(8, 'd'))), bad.message);
}

TEST(Safetensors, AHugeHeaderLengthAllocatesNothing) {
  EXPECT_EQ(error_of("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F{}"s),
            "no safetensors file: its header would be 9223372036854775807 bytes long");
  EXPECT_EQ(error_of("\x00\x00\x10\x00\x00\x00\x00\x00{}"s), "the header needs 1048576 bytes, file ends after 2");
}

TEST(Safetensors, UnknownNameIsAnsweredWithTheNearest) {
  const TensorFile file = parse_safetensors(write_safetensors(sample()), "model.safetensors");
  try {
    file.at("blocks.1.attn.k");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), "model.safetensors");
    EXPECT_EQ(error.hint(), "did you mean 'blocks.1.attn.q'?");
  }
}

TEST(Safetensors, WrongTypeIsAnError) { EXPECT_THROW(tensor_values<double>(sample().at("mask")), Error); }

}  // namespace
}  // namespace eureka
