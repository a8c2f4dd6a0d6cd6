#include "lab/presets.h"

#include <fmt/format.h>

#include "base/embedded.h"
#include "base/files.h"
#include "base/suggest.h"

namespace eureka {
namespace {

constexpr std::string_view kExtension = ".toml";

std::string preset_name(const EmbeddedFile& file) {
  return std::string(file.name.substr(0, file.name.size() - kExtension.size()));
}

std::string first_comment(std::string_view text) {
  if (!text.starts_with("# ")) return {};
  return std::string(text.substr(2, text.find('\n') - 2));
}

}  // namespace

std::vector<PresetInfo> list_presets() {
  std::vector<PresetInfo> infos;
  for (const EmbeddedFile& file : presets::files())
    infos.push_back(
        {preset_name(file), first_comment(file.text), file.text.find("\n[study]") != std::string_view::npos});
  return infos;
}

ConfigSource find_config(const std::string& preset_or_path) {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : presets::files()) {
    names.push_back(preset_name(file));
    if (names.back() == preset_or_path)
      return {std::string(file.text), fmt::format("preset {}", file.name), names.back()};
  }
  if (fs::is_regular_file(preset_or_path))
    return {read_file(preset_or_path, 16 << 20), preset_or_path, fs::path(preset_or_path).stem().string()};
  if (fs::is_directory(preset_or_path) && fs::exists(fs::path(preset_or_path) / "config.toml")) {
    const fs::path file = fs::path(preset_or_path) / "config.toml";
    return {read_file(file, 16 << 20), file.string(), file.parent_path().filename().string()};
  }
  throw Error(ErrorKind::input, fmt::format("no preset and no file is named '{}'", preset_or_path), {},
              did_you_mean(preset_or_path, names));
}

}  // namespace eureka
