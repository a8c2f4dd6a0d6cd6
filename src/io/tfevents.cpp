#include "io/tfevents.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <chrono>
#include <cstring>
#include <optional>
#include <unordered_map>

#include "base/error.h"
#include "io/crc32c.h"

namespace eureka {
namespace {

static_assert(std::endian::native == std::endian::little, "event files are little-endian and are copied as they are");

constexpr std::string_view kNamePrefix = "events.out.tfevents.";
constexpr std::string_view kNameSuffix = ".eureka";  // tells our own file from another program's on resume
constexpr std::size_t kHeaderBytes = 12;             // length and its checksum
constexpr std::size_t kFooterBytes = 4;              // checksum of the payload

// Protobuf: a field is a key (number * 8 + wire type) and its value.
enum WireType : std::uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

template <class T>
T load(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

template <class T>
void append_raw(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

void append_key(std::string& out, std::uint32_t field, WireType type) { append_varint(out, field * 8 + type); }

void append_bytes(std::string& out, std::uint32_t field, std::string_view bytes) {
  append_key(out, field, kBytes);
  append_varint(out, bytes.size());
  out.append(bytes);
}

std::string begin_event(double wall_time) {
  std::string event;
  append_key(event, 1, kFixed64);
  append_raw(event, wall_time);
  return event;
}

// Walks the fields of one message; every length is checked against what is left. After a bad field ok() is false.
class FieldReader {
 public:
  explicit FieldReader(std::string_view message) : rest_(message) {}

  bool next() {
    if (rest_.empty() || !ok_) return false;
    const std::uint64_t key = read_varint();
    field_ = key >> 3;
    type_ = static_cast<std::uint32_t>(key & 7);
    bytes_ = {};
    if (field_ == 0) ok_ = false;
    switch (type_) {
      case kVarint:
        number_ = read_varint();
        break;
      case kFixed64:
        take(8);
        break;
      case kFixed32:
        take(4);
        break;
      case kBytes:
        take(read_varint());
        break;
      default:
        ok_ = false;  // groups are not used in events
    }
    return ok_;
  }

  bool is(std::uint64_t field, WireType type) const { return field_ == field && type_ == type; }
  std::uint64_t number() const { return number_; }
  std::string_view bytes() const { return bytes_; }
  bool ok() const { return ok_; }

 private:
  std::uint64_t read_varint() {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < rest_.size() && i < 10; ++i) {
      const auto byte = static_cast<unsigned char>(rest_[i]);
      value |= std::uint64_t{byte & 0x7FU} << (7 * i);
      if (byte < 0x80) {
        rest_.remove_prefix(i + 1);
        return value;
      }
    }
    ok_ = false;
    return 0;
  }

  void take(std::uint64_t count) {
    if (!ok_ || count > rest_.size()) {
      ok_ = false;
      return;
    }
    bytes_ = rest_.substr(0, count);
    rest_.remove_prefix(count);
  }

  std::string_view rest_, bytes_;
  std::uint64_t field_ = 0, number_ = 0;
  std::uint32_t type_ = 0;
  bool ok_ = true;
};

// TensorShapeProto: true for rank 0 and for shapes made of ones.
bool has_one_element(std::string_view shape, bool& well_formed) {
  bool one = true;
  FieldReader fields(shape);
  while (fields.next()) {
    if (!fields.is(2, kBytes)) continue;
    std::uint64_t size = 0;
    FieldReader dimension(fields.bytes());
    while (dimension.next())
      if (dimension.is(1, kVarint)) size = dimension.number();
    well_formed &= dimension.ok();
    one &= size == 1;
  }
  well_formed &= fields.ok();
  return one;
}

// TensorProto: the number in a one-element tensor of numbers, from tensor_content or from the typed list.
std::optional<double> tensor_scalar(std::string_view tensor, bool& well_formed) {
  constexpr std::uint64_t kFloat = 1, kDouble = 2, kInt32 = 3, kInt64 = 9;
  std::uint64_t dtype = 0;
  bool one = true;
  std::string_view content, packed;
  std::optional<std::uint64_t> varint;
  FieldReader fields(tensor);
  while (fields.next()) {
    if (fields.is(1, kVarint)) dtype = fields.number();
    if (fields.is(2, kBytes)) one = has_one_element(fields.bytes(), well_formed);
    if (fields.is(4, kBytes)) content = fields.bytes();
    if (fields.is(5, kBytes) || fields.is(5, kFixed32) || fields.is(6, kBytes) || fields.is(6, kFixed64))
      packed = fields.bytes();
    if (fields.is(7, kVarint) || fields.is(10, kVarint)) varint = fields.number();
    if (fields.is(7, kBytes) || fields.is(10, kBytes)) {
      // A packed list of one varint reads like a message of one bare number.
      std::string as_field(1, '\x08');
      as_field.append(fields.bytes().substr(0, 10));
      FieldReader element(as_field);
      if (element.next()) varint = element.number();
    }
  }
  well_formed &= fields.ok();
  if (!one || !well_formed) return std::nullopt;
  const std::string_view floating = content.empty() ? packed : content;
  if (dtype == kFloat && floating.size() == 4) return load<float>(floating.data());
  if (dtype == kDouble && floating.size() == 8) return load<double>(floating.data());
  if (dtype == kInt32 && content.size() == 4) return load<std::int32_t>(content.data());
  if (dtype == kInt64 && content.size() == 8) return static_cast<double>(load<std::int64_t>(content.data()));
  if ((dtype == kInt32 || dtype == kInt64) && varint) return static_cast<double>(static_cast<std::int64_t>(*varint));
  return std::nullopt;
}

// Gathers the scalars of many events by tag.
class SeriesBuilder {
 public:
  // False when the payload is no Event.
  bool add_event(std::string_view event) {
    bool well_formed = true;
    ScalarPoint point;
    std::string_view summary;
    FieldReader fields(event);
    while (fields.next()) {
      if (fields.is(1, kFixed64)) point.wall_time = load<double>(fields.bytes().data());
      if (fields.is(2, kVarint)) point.step = static_cast<std::int64_t>(fields.number());
      if (fields.is(5, kBytes)) summary = fields.bytes();
    }
    well_formed &= fields.ok();
    FieldReader values(summary);
    while (values.next())
      if (values.is(1, kBytes)) add_value(values.bytes(), point, well_formed);
    return well_formed && values.ok();
  }

  std::vector<ScalarSeries> take() { return std::move(series_); }

 private:
  void add_value(std::string_view value, ScalarPoint point, bool& well_formed) {
    std::string_view tag;
    std::optional<double> number;
    FieldReader fields(value);
    while (fields.next()) {
      if (fields.is(1, kBytes)) tag = fields.bytes();
      if (fields.is(2, kFixed32)) number = load<float>(fields.bytes().data());
      if (fields.is(8, kBytes)) number = tensor_scalar(fields.bytes(), well_formed);
    }
    well_formed &= fields.ok();
    if (!number || !well_formed) return;
    point.value = *number;
    const auto [entry, is_new] = index_.try_emplace(std::string(tag), series_.size());
    if (is_new) series_.push_back({std::string(tag), {}});
    series_[entry->second].points.push_back(point);
  }

  std::vector<ScalarSeries> series_;
  std::unordered_map<std::string, std::size_t> index_;
};

struct Record {
  enum class State { whole, torn, bad_length, bad_payload } state;
  std::string_view payload;
  std::size_t end;  // offset after the record, when whole
};

bool length_checks(std::string_view bytes) {
  return bytes.size() >= kHeaderBytes && load<std::uint32_t>(bytes.data() + 8) == masked_crc32c(bytes.substr(0, 8));
}

Record read_record(std::string_view bytes, std::size_t offset) {
  const std::string_view rest = bytes.substr(offset);
  if (rest.size() < kHeaderBytes) return {Record::State::torn, {}, offset};
  if (!length_checks(rest)) {
    // A crashed machine can leave a tail of zeros where data was not yet on disk.
    const bool zeros = rest.find_first_not_of('\0') == std::string_view::npos;
    return {zeros ? Record::State::torn : Record::State::bad_length, {}, offset};
  }
  const auto length = load<std::uint64_t>(rest.data());
  const std::size_t room = rest.size() - kHeaderBytes;
  if (room < kFooterBytes || length > room - kFooterBytes) return {Record::State::torn, {}, offset};
  const std::string_view payload = rest.substr(kHeaderBytes, length);
  const std::size_t end = offset + kHeaderBytes + length + kFooterBytes;
  if (load<std::uint32_t>(payload.data() + length) != masked_crc32c(payload))
    return {end == bytes.size() ? Record::State::torn : Record::State::bad_payload, {}, offset};
  return {Record::State::whole, payload, end};
}

// End of the last whole record at or before `limit`; what follows a damaged record is not counted.
std::size_t whole_records_end(std::string_view bytes, std::uint64_t limit) {
  std::size_t offset = 0;
  while (offset < bytes.size()) {
    const Record record = read_record(bytes, offset);
    if (record.state != Record::State::whole || record.end > limit) break;
    offset = record.end;
  }
  return offset;
}

std::string host_name() {
  char buffer[256] = {};
  if (::gethostname(buffer, sizeof buffer - 1) != 0) return "localhost";
  std::string name(buffer);
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-') c = '_';
  return name.empty() ? "localhost" : name;
}

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void add_file(SeriesBuilder& builder, std::string_view bytes, const std::string& where) {
  const auto damaged = [&](const char* what, std::size_t offset) {
    return Error(ErrorKind::input, what, fmt::format("{}: byte {}", where, offset),
                 "the event file is damaged from there on; export the curve again, or use the part before that byte");
  };
  for (std::size_t offset = 0; offset < bytes.size();) {
    const Record record = read_record(bytes, offset);
    if (record.state == Record::State::torn) return;
    if (record.state == Record::State::bad_length) {
      if (offset == 0)
        throw Error(ErrorKind::input, "is not a TensorBoard event file", fmt::format("{}: byte 0", where));
      throw damaged("the length of a record fails its checksum", offset);
    }
    if (record.state == Record::State::bad_payload) throw damaged("a record fails its checksum", offset);
    if (!builder.add_event(record.payload)) throw damaged("a record is not a TensorBoard event", offset);
    offset = record.end;
  }
}

}  // namespace

void append_tfrecord(std::string& out, std::string_view payload) {
  std::string length;
  append_raw(length, std::uint64_t{payload.size()});
  out.append(length);
  append_raw(out, masked_crc32c(length));
  out.append(payload);
  append_raw(out, masked_crc32c(payload));
}

EventWriter::EventWriter(const fs::path& file) : path_(file), file_(file) { truncate(file_.size()); }

EventWriter EventWriter::find_or_create(const fs::path& directory) {
  make_own_directory(directory);
  for (const fs::path& file : list_event_files(directory))
    if (file.filename().string().ends_with(kNameSuffix)) return EventWriter(file);
  const auto seconds = static_cast<std::int64_t>(now_seconds());
  return EventWriter(directory / fmt::format("{}{:010}.{}{}", kNamePrefix, seconds, host_name(), kNameSuffix));
}

void EventWriter::add_scalars(std::int64_t step, const std::vector<TaggedValue>& scalars, double wall_time) {
  std::string summary;
  for (const auto& [tag, number] : scalars) {
    std::string value;
    append_bytes(value, 1, tag);
    append_key(value, 2, kFixed32);
    append_raw(value, static_cast<float>(number));
    append_bytes(summary, 1, value);
  }
  std::string event = begin_event(wall_time);
  append_key(event, 2, kVarint);
  append_varint(event, static_cast<std::uint64_t>(step));
  append_bytes(event, 5, summary);
  std::string record;
  append_tfrecord(record, event);
  file_.append(record);
}

void EventWriter::truncate(std::uint64_t bytes) {
  const std::size_t keep = whole_records_end(read_file(path_), bytes);
  if (keep != file_.size()) file_.truncate(keep);
  if (keep > 0) return;
  std::string event = begin_event(now_seconds());
  append_bytes(event, 3, "brain.Event:2");
  std::string record;
  append_tfrecord(record, event);
  file_.append(record);
}

bool looks_like_tfevents(std::string_view bytes) { return length_checks(bytes); }

std::vector<fs::path> list_event_files(const fs::path& directory) {
  std::vector<fs::path> files;
  std::error_code failure;
  for (fs::directory_iterator entry(directory, failure), end; !failure && entry != end; entry.increment(failure)) {
    std::error_code ignored;
    if (entry->path().filename().string().find("tfevents") != std::string::npos && entry->is_regular_file(ignored))
      files.push_back(entry->path());
  }
  if (failure)
    throw Error(ErrorKind::input, fmt::format("cannot list the directory: {}", failure.message()), directory.string());
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<ScalarSeries> parse_tfevents(std::string_view bytes, const std::string& where) {
  SeriesBuilder builder;
  add_file(builder, bytes, where);
  return builder.take();
}

std::vector<ScalarSeries> read_tfevents(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return parse_tfevents(read_file(path), path.string());
  const std::vector<fs::path> files = list_event_files(path);
  if (files.empty())
    throw Error(ErrorKind::input, "holds no TensorBoard event files", path.string(),
                "give the directory whose files are named events.out.tfevents.*");
  SeriesBuilder builder;
  for (const fs::path& file : files) add_file(builder, read_file(file), file.string());
  return builder.take();
}

}  // namespace eureka
