// What a run leaves behind, as text and back. Each record is a struct in a file of this folder, with one function that
// reads it and one that writes it; nobody else knows its keys.
//
//   const RecordReader fields(text, {"a summary of a run", 1, "remove it and resume"}, "runs/a/summary.json");
//   summary.steps = fields.get<std::int64_t>("steps");
//   summary.note = fields.get_or<std::string>("note", "");       added later: older files have none
//
// Records grow. A new field needs no new format: its reader gives the default. A change that older programs would
// misread takes the next format number, written as "format"; the first format is not written, so its absence means 1.
// Fields the reader does not ask for are passed over.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "io/json.h"

namespace eureka {

struct RecordKind {
  const char* title;  // "a summary of a run"
  int format;         // the newest this program reads
  const char* hint;   // what to do about one that cannot be read
};

// A record from a later program. Not damage: nothing is to be repaired, removed or written anew.
class NewerFormat : public Error {
 public:
  using Error::Error;
};

class RecordReader {
 public:
  // Throws Error(input) at `where` when the text is no JSON object, NewerFormat when its format is not known yet.
  RecordReader(std::string_view text, const RecordKind& kind, std::string where);

  // T: bool, std::int64_t, std::uint64_t, double, std::string, or std::optional<double>, where null is nothing.
  // Throws Error(input) that names the key when it is missing or of another type.
  template <class T>
  T get(const std::string& key) const;

  template <class T>
  T get_or(const std::string& key, T otherwise) const {
    return has(key) ? get<T>(key) : std::move(otherwise);
  }
  bool has(const std::string& key) const { return fields_.contains(key); }

  // The object behind `key`.
  RecordReader inside(const std::string& key) const;

  // In the order of the file, without "format".
  std::vector<std::string> keys() const;

  // Throws Error(input): a value is there but cannot be.
  [[noreturn]] void refuse(const std::string& what) const;

 private:
  RecordReader(const RecordReader& whole, const Json& part) : fields_(part), kind_(whole.kind_), where_(whole.where_) {}
  const Json& field(const std::string& key) const;

  Json fields_;
  RecordKind kind_;
  std::string where_;
};

// Calls `take(line, "file:number")` for every whole line; a torn last one, left by a crash, is dropped.
void for_each_line(const fs::path& file, const std::function<void(std::string_view, const std::string&)>& take);

}  // namespace eureka
