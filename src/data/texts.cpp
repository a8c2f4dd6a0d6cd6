#include "data/texts.h"

#include <fmt/format.h>

#include "base/directory_lock.h"
#include "base/embedded.h"
#include "base/error.h"
#include "base/run_program.h"
#include "data/data_sets.h"
#include "io/sha512.h"

namespace eureka {
namespace {

constexpr const char* kKingJames = "kjv";
// Of the text of bible-kjv-text 4.38, one verse a line, without the references.
constexpr std::string_view kKingJamesSha512 =
    "f5767f4bd0665b1b93c6228ea81debc66346c0a07bdee8731d8ad525be5558d8"
    "9f07e7cde9de16de69574c9b951c1f14fb2631f8204f906e40a896197cf6cd48";
constexpr std::uint64_t kMaxTextBytes = std::uint64_t{64} << 20;

bool is_king_james(const std::string& text) { return sha512_hex(text) == kKingJamesSha512; }

// "Ge1:1 In the beginning ...": the reference goes.
std::string without_references(std::string_view verses) {
  std::string text;
  while (!verses.empty()) {
    const std::size_t end = std::min(verses.find('\n'), verses.size() - 1) + 1;
    const std::string_view line = verses.substr(0, end);
    const std::size_t space = line.find(' ');
    text += space == std::string_view::npos ? line : line.substr(space + 1);
    verses.remove_prefix(end);
  }
  return text;
}

// What Debian's program `bible` prints, or nothing.
std::optional<std::string> run_bible(std::vector<std::string> words, const fs::path& directory, const fs::path& log) {
  for (const char* word : {"-f", "ge1:1-rev22:21"}) words.emplace_back(word);
  if (run_program(std::move(words), directory, log) != 0) return {};
  std::string text = without_references(read_file(log, kMaxTextBytes));
  return is_king_james(text) ? std::optional(std::move(text)) : std::nullopt;
}

// From the packages themselves, unpacked beside the data: nothing is installed.
std::string from_packages(const fs::path& directory) {
  const char* otherwise = "apt-get install bible-kjv on another machine, or name a file of your own: task.text=PATH";
  const auto run = [&](std::vector<std::string> words, const char* log) {
    const std::string program = words.front();
    const int code = run_program(std::move(words), directory, directory / log);
    if (code == kProgramNotFound)
      throw Error(ErrorKind::failed, fmt::format("{}, which fetches Debian's package, is not here", program),
                  "bible-kjv-text", otherwise);
    if (code != 0) {
      const std::string said = read_file(directory / log, kMaxTextBytes);
      throw Error(ErrorKind::failed, fmt::format("{} failed: {}", program, said.substr(0, said.find('\n'))),
                  "bible-kjv-text", "check the network and apt's settings (apt-get update), or task.text=PATH");
    }
  };
  run({"apt-get", "download", "bible-kjv", "bible-kjv-text"}, "apt.log");
  std::vector<std::string> archives;
  for (const auto& entry : fs::directory_iterator(directory))
    if (entry.path().extension() == ".deb") archives.push_back(entry.path().filename().string());
  for (const std::string& archive : archives) run({"dpkg-deb", "-x", archive, "unpacked"}, (archive + ".log").c_str());
  const auto text = run_bible({"./unpacked/usr/bin/bible", "-p", "unpacked/usr/lib"}, directory, directory / "verses");
  if (text) return *text;
  throw Error(ErrorKind::failed, "the packages do not hold the text Eureka knows (SHA-512 differs)", "bible-kjv-text",
              "name a file of your own: task.text=PATH");
}

std::string fetch_king_james(const fs::path& directory, const std::function<void(const std::string&)>& progress) {
  fs::remove_all(directory);
  make_directories(directory);
  if (auto installed = run_bible({"bible"}, directory, directory / "installed")) return *installed;
  if (progress) progress("kjv: fetching Debian's packages bible-kjv and bible-kjv-text");
  return from_packages(directory);
}

}  // namespace

std::span<const TextInfo> known_texts() {
  static const std::vector<TextInfo> table = {
      {"sample", "the Book of Genesis, King James version", "bible-kjv-text 4.38", true, 196818},
      {kKingJames, "the King James Bible", "Debian package bible-kjv-text", false, 4137850},
  };
  return table;
}

const TextInfo* find_text(const std::string& name) {
  for (const TextInfo& info : known_texts())
    if (info.name == name) return &info;
  return nullptr;
}

std::optional<fs::path> text_path(const std::string& text) {
  const TextInfo* info = find_text(text);
  if (info == nullptr) return text;
  if (info->embedded) return {};
  return data_directory() / (info->name + ".txt");
}

TextStream open_text(const std::string& text) {
  const std::optional<fs::path> path = text_path(text);
  if (!path) return TextStream::of_memory(sample_texts::files().front().text, text);
  if (find_text(text) != nullptr && !fs::exists(*path))
    throw Error(ErrorKind::input, fmt::format("the text {} is not here", text), path->string(),
                fmt::format("eureka data get {}", text));
  return TextStream::of_file(*path);
}

bool get_text(const std::string& name, const std::function<void(const std::string&)>& progress) {
  const std::optional<fs::path> path = text_path(name);
  if (!path) return false;
  if (fs::exists(*path)) {
    verify_text(name);
    return false;
  }
  make_directories(data_directory());
  const DirectoryLock lock(data_directory());
  remove_leftovers(data_directory());
  const fs::path partial = data_directory() / "downloads" / "partial-text";
  atomic_write(*path, fetch_king_james(partial, progress));
  fs::remove_all(partial);
  return true;
}

void verify_text(const std::string& name) {
  const std::optional<fs::path> path = text_path(name);
  if (path && !is_king_james(read_file(*path, kMaxTextBytes)))
    throw Error(ErrorKind::input, "is damaged (SHA-512)", path->string(),
                fmt::format("remove it and run: eureka data get {}", name));
}

}  // namespace eureka
