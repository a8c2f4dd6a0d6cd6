// TensorBoard event files: written for every run, read from anybody's.
//
//   EventWriter events = EventWriter::find_or_create(run / "tb");
//   events.add_scalars(step, {{"val/accuracy", 0.97}, {"val/loss", 0.08}}, wall_time);
//   checkpoint.event_bytes = events.size();                       kept in the checkpoint
//   ...
//   events.truncate(checkpoint.event_bytes);                      a resumed run cuts what came after it, and goes on
//
//   for (const ScalarSeries& series : read_tfevents("tb")) ...
//
// A file is a sequence of TFRecords (length, checksum, protobuf Event, checksum). Invariant of the writer: whatever it
// finds, the file it leaves holds whole records only, the first of them the version record TensorBoard looks for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.h"

namespace eureka {

using TaggedValue = std::pair<std::string_view, double>;  // tag, value

class EventWriter {
 public:
  // Opens or begins `file`; a torn last record, left by a crash, is cut off.
  explicit EventWriter(const fs::path& file);

  // The event file of ours in `directory`, or a new one there. The directory is made when missing.
  static EventWriter find_or_create(const fs::path& directory);

  // One event, one write(2). Values are stored as float, as TensorBoard does. `wall_time` is in seconds since 1970.
  void add_scalars(std::int64_t step, const std::vector<TaggedValue>& scalars, double wall_time);

  // Cuts the file to the records that end at or before `bytes`. An offset past the end cuts nothing.
  void truncate(std::uint64_t bytes);

  void sync() { file_.sync(); }
  std::uint64_t size() const { return file_.size(); }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  AppendFile file_;
};

struct ScalarPoint {
  std::int64_t step = 0;
  double wall_time = 0;
  double value = 0;
};

// The values of one tag, in the order of the file.
struct ScalarSeries {
  std::string tag;
  std::vector<ScalarPoint> points;
};

// All scalars of an event file, or of every event file directly in a directory (in the order of their names, which is
// the order of their creation). Tags come in order of first appearance. Understands simple_value (PyTorch, TensorFlow
// 1) and one-element tensors (TensorFlow 2); everything else in the file is passed over. A torn last record is dropped,
// since the file may be growing. Throws Error(input) naming the byte of a damaged record.
std::vector<ScalarSeries> read_tfevents(const fs::path& path);

// The same for bytes already read; `where` names them in errors.
std::vector<ScalarSeries> parse_tfevents(std::string_view bytes, const std::string& where);

// True when the bytes begin with a TFRecord header whose checksum is right.
bool looks_like_tfevents(std::string_view bytes);

// Event files directly in `directory`, sorted by name; empty when there are none.
std::vector<fs::path> list_event_files(const fs::path& directory);

// Appends the framing of one TFRecord around `payload`.
void append_tfrecord(std::string& out, std::string_view payload);

}  // namespace eureka
