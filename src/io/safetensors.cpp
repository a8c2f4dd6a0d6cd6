#include "io/safetensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/suggest.h"

namespace eureka {
namespace {

static_assert(std::endian::native == std::endian::little, "tensor data are little-endian and are copied as they are");

using nlohmann::json;

constexpr std::string_view kMetadataKey = "__metadata__";
constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;  // the official reader's limit
constexpr const char* kDamaged = "the file is damaged or not finished; take an earlier checkpoint or copy it again";

struct DTypeInfo {
  DType dtype;
  std::string_view name;
  std::uint64_t bytes;
};

// In the order of the enum.
constexpr std::array<DTypeInfo, 13> kDTypes = {{{DType::f64, "F64", 8},
                                                {DType::i64, "I64", 8},
                                                {DType::u64, "U64", 8},
                                                {DType::f32, "F32", 4},
                                                {DType::i32, "I32", 4},
                                                {DType::u32, "U32", 4},
                                                {DType::f16, "F16", 2},
                                                {DType::bf16, "BF16", 2},
                                                {DType::i16, "I16", 2},
                                                {DType::u16, "U16", 2},
                                                {DType::i8, "I8", 1},
                                                {DType::u8, "U8", 1},
                                                {DType::boolean, "BOOL", 1}}};

const DTypeInfo& info_of(DType dtype) { return kDTypes[static_cast<std::size_t>(dtype)]; }

// Bytes of a tensor of this shape, or nothing when a size is negative or the product overflows.
std::optional<std::uint64_t> byte_count(DType dtype, const std::vector<std::int64_t>& shape) {
  std::uint64_t count = info_of(dtype).bytes;
  for (const std::int64_t size : shape)
    if (size < 0 || __builtin_mul_overflow(count, static_cast<std::uint64_t>(size), &count)) return std::nullopt;
  return count;
}

std::string json_string(std::string_view text) {
  try {
    return json(text).dump();
  } catch (const json::exception&) {
    EUREKA_CHECK(false, "tensor names and metadata must be UTF-8");
  }
  return {};
}

// A header entry: what the file claims, before it is believed.
struct Entry {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0, end = 0;  // in the data after the header
};

class HeaderReader {
 public:
  HeaderReader(std::string_view bytes, const std::string& where) : bytes_(bytes), where_(where) {}

  TensorFile read() {
    const std::string_view header = header_text();
    const json root = parse_header(header);
    TensorFile file;
    std::vector<Entry> entries;
    for (const auto& [name, value] : root.items()) {
      if (name == kMetadataKey)
        read_metadata(value, file);
      else
        entries.push_back(read_entry(name, value));
    }
    add_tensors(entries, bytes_.substr(kLengthBytes + header.size()), file);
    return file;
  }

 private:
  [[noreturn]] void fail(const std::string& what, std::uint64_t byte, const char* hint = kDamaged) const {
    throw Error(ErrorKind::input, what, fmt::format("{}: byte {}", where_, byte), hint);
  }

  std::string_view header_text() const {
    if (bytes_.size() < kLengthBytes)
      fail(fmt::format("no safetensors header: the file has only {} bytes", bytes_.size()), 0);
    std::uint64_t length;
    std::memcpy(&length, bytes_.data(), sizeof length);
    if (length > kMaxHeaderBytes)
      fail(fmt::format("no safetensors file: its header would be {} bytes long", length), 0,
           "check that the file is in the safetensors format");
    const std::uint64_t there = bytes_.size() - kLengthBytes;
    if (length > there) fail(fmt::format("the header needs {} bytes, file ends after {}", length, there), kLengthBytes);
    return bytes_.substr(kLengthBytes, length);
  }

  // The JSON tree is bounded in depth, and a name may come once: a second one would silently replace the first.
  json parse_header(std::string_view header) const {
    constexpr int kMaxDepth = 3;  // root, entry, list
    std::set<std::string> names;
    const auto check = [&](int depth, json::parse_event_t event, json& parsed) {
      if (depth > kMaxDepth) fail("the header is nested too deeply", kLengthBytes);
      if (event == json::parse_event_t::key && depth == 1 && !names.insert(parsed.get<std::string>()).second)
        fail(fmt::format("tensor '{}' is named twice in the header", parsed.get<std::string>()), kLengthBytes);
      return true;
    };
    json root;
    try {
      root = json::parse(header, check);
    } catch (const json::parse_error& error) {
      fail("the header is not valid JSON", kLengthBytes + (error.byte > 0 ? error.byte - 1 : 0));
    } catch (const json::out_of_range&) {
      fail("the header holds a number too large to be real", kLengthBytes);
    }
    if (!root.is_object()) fail("the header is not a JSON object", kLengthBytes);
    return root;
  }

  void read_metadata(const json& value, TensorFile& file) const {
    if (!value.is_object()) fail("__metadata__ in the header is not an object", kLengthBytes);
    for (const auto& [key, text] : value.items()) {
      if (!text.is_string()) fail(fmt::format("metadata '{}' is not a string", key), kLengthBytes);
      file.metadata[key] = text.get<std::string>();
    }
  }

  Entry read_entry(const std::string& name, const json& value) const {
    const auto malformed = [&](const std::string& what) {
      fail(fmt::format("tensor '{}' {}", name, what), kLengthBytes);
    };
    if (!value.is_object()) malformed("has no description in the header");
    const auto part = [&](const char* key) -> const json& {
      const auto found = value.find(key);
      if (found == value.end()) malformed(fmt::format("has no '{}' in the header", key));
      return *found;
    };
    const auto natural_numbers = [&](const char* key) {
      std::vector<std::int64_t> numbers;
      const json& list = part(key);
      if (!list.is_array()) malformed(fmt::format("has a '{}' that is not a list", key));
      for (const json& number : list) {
        if (!number.is_number_unsigned() || number.get<std::uint64_t>() > INT64_MAX)
          malformed(fmt::format("has a '{}' that does not hold whole numbers", key));
        numbers.push_back(number.get<std::int64_t>());
      }
      return numbers;
    };

    Entry entry;
    entry.name = name;
    const json& dtype = part("dtype");
    if (!dtype.is_string()) malformed("has a 'dtype' that is not a string");
    const auto known = std::find_if(kDTypes.begin(), kDTypes.end(), [&](const DTypeInfo& info) {
      return info.name == dtype.get_ref<const std::string&>();
    });
    if (known == kDTypes.end())
      fail(fmt::format("tensor '{}' has the unknown type '{}'", name, dtype.get<std::string>()), kLengthBytes,
           "convert it to F32 and try again");
    entry.dtype = known->dtype;
    entry.shape = natural_numbers("shape");
    const std::vector<std::int64_t> offsets = natural_numbers("data_offsets");
    if (offsets.size() != 2 || offsets[0] > offsets[1]) malformed("has 'data_offsets' that are no range");
    entry.begin = static_cast<std::uint64_t>(offsets[0]);
    entry.end = static_cast<std::uint64_t>(offsets[1]);

    const std::optional<std::uint64_t> needed = byte_count(entry.dtype, entry.shape);
    if (!needed) malformed("has a shape too large to be real");
    if (*needed != entry.end - entry.begin)
      malformed(fmt::format("of shape [{}] needs {} bytes, the header gives it {}", fmt::join(entry.shape, ", "),
                            *needed, entry.end - entry.begin));
    return entry;
  }

  // Ranges must follow one another from 0 to the end of the file, so nothing overlaps and nothing is hidden.
  void add_tensors(std::vector<Entry>& entries, std::string_view data, TensorFile& file) const {
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
    });
    const std::uint64_t data_start = bytes_.size() - data.size();
    std::uint64_t expected = 0;
    for (Entry& entry : entries) {
      if (entry.begin != expected)
        fail(fmt::format("tensor '{}' {}", entry.name,
                         entry.begin < expected ? "overlaps the one before it" : "leaves a gap before it"),
             data_start + expected);
      if (entry.end > data.size())
        fail(fmt::format("tensor '{}' needs {} bytes, file ends after {}", entry.name, entry.end - entry.begin,
                         data.size() - entry.begin),
             data_start + entry.begin);
      expected = entry.end;
    }
    if (expected != data.size())
      fail(fmt::format("{} bytes after the last tensor belong to none", data.size() - expected), data_start + expected);
    for (Entry& entry : entries)
      file.add({std::move(entry.name), entry.dtype, std::move(entry.shape),
                std::string(data.substr(entry.begin, entry.end - entry.begin))});
  }

  std::string_view bytes_;
  const std::string& where_;
};

}  // namespace

std::string_view dtype_name(DType dtype) { return info_of(dtype).name; }

std::size_t dtype_bytes(DType dtype) { return info_of(dtype).bytes; }

void TensorFile::add(NamedTensor tensor) {
  EUREKA_CHECK(tensor.name != kMetadataKey, "a tensor cannot be called __metadata__");
  EUREKA_CHECK(byte_count(tensor.dtype, tensor.shape) == tensor.data.size(),
               fmt::format("tensor '{}' has {} bytes, its shape says otherwise", tensor.name, tensor.data.size()));
  std::string name = tensor.name;
  const bool is_new = tensors_.try_emplace(std::move(name), std::move(tensor)).second;
  EUREKA_CHECK(is_new, "a tensor of that name is already in the file");
}

const NamedTensor& TensorFile::at(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found != tensors_.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& entry : tensors_) names.push_back(entry.first);
  const std::string nearest = nearest_name(name, names);
  throw Error(
      ErrorKind::input, fmt::format("no tensor '{}' among the {} of the file", name, names.size()), where_,
      nearest.empty() ? "the file belongs to another model or version" : fmt::format("did you mean '{}'?", nearest));
}

std::string write_safetensors(const TensorFile& file) {
  std::vector<const NamedTensor*> order;
  for (const auto& entry : file.tensors()) order.push_back(&entry.second);
  std::stable_sort(order.begin(), order.end(), [](const NamedTensor* a, const NamedTensor* b) {
    return dtype_bytes(a->dtype) > dtype_bytes(b->dtype);
  });

  std::string header = "{";
  const auto add_entry = [&](const std::string& text) { header += (header.size() > 1 ? "," : "") + text; };
  if (!file.metadata.empty()) {
    std::vector<std::string> pairs;
    for (const auto& [key, value] : file.metadata) pairs.push_back(json_string(key) + ":" + json_string(value));
    add_entry(fmt::format("\"{}\":{{{}}}", kMetadataKey, fmt::join(pairs, ",")));
  }
  std::uint64_t offset = 0;
  for (const NamedTensor* tensor : order) {
    const std::uint64_t end = offset + tensor->data.size();
    add_entry(fmt::format(R"({}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", json_string(tensor->name),
                          dtype_name(tensor->dtype), fmt::join(tensor->shape, ","), offset, end));
    offset = end;
  }
  header += "}";
  header.append((8 - header.size() % 8) % 8, ' ');

  const std::uint64_t length = header.size();
  std::string bytes;
  bytes.reserve(kLengthBytes + header.size() + offset);
  bytes.append(reinterpret_cast<const char*>(&length), sizeof length);
  bytes.append(header);
  for (const NamedTensor* tensor : order) bytes.append(tensor->data);
  return bytes;
}

TensorFile parse_safetensors(std::string_view bytes, const std::string& where) {
  TensorFile file = HeaderReader(bytes, where).read();
  file.where_ = where;
  return file;
}

}  // namespace eureka
