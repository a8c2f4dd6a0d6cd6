// The small vocabulary of the tile tasks: classes, colors, latents.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "tasks/tile_task.h"

namespace eureka {
namespace {

struct NamedColor {
  const char* name;
  Color color;
};

constexpr Color from_hex(unsigned rgb) {
  return {static_cast<float>(rgb >> 16) / 255, static_cast<float>(rgb >> 8 & 255) / 255,
          static_cast<float>(rgb & 255) / 255};
}

// CSS names and values, in the order that numbers them as labels.
constexpr NamedColor kTenColors[] = {{"brown", from_hex(0xA52A2A)},  {"blue", from_hex(0x0000FF)},
                                     {"yellow", from_hex(0xFFFF00)}, {"orange", from_hex(0xFFA500)},
                                     {"red", from_hex(0xFF0000)},    {"green", from_hex(0x008000)},
                                     {"purple", from_hex(0x800080)}, {"grey", from_hex(0x808080)},
                                     {"pink", from_hex(0xFFC0CB)},   {"turquoise", from_hex(0x40E0D0)}};

Latent latent(std::string name, std::vector<std::string> value_names) {
  Latent result;
  result.name = std::move(name);
  result.classes = static_cast<int>(value_names.size());
  result.value_names = std::move(value_names);
  return result;
}

}  // namespace

int draw_class(RandomStream& random, int count) {
  return static_cast<int>(random.below(static_cast<std::uint32_t>(count)));
}

std::vector<int> parse_classes(const std::string& text, const std::string& option, std::size_t at_least) {
  std::vector<int> classes;
  bool good = text.size() >= at_least;
  for (const char letter : text) {
    const int digit = letter - '0';
    good = good && digit >= 0 && digit <= 9 && std::find(classes.begin(), classes.end(), digit) == classes.end();
    classes.push_back(digit);
  }
  if (!good)
    throw Error(ErrorKind::config,
                fmt::format("'task.{}' must be {} or more different digits, not \"{}\"", option, at_least, text), {},
                fmt::format("for example: --set task.{}=\"0189\"", option));
  return classes;
}

std::pair<int, int> draw_pair(RandomStream& random, bool same, int count) {
  const int first = draw_class(random, count);
  return {first, same ? first : (first + 1 + draw_class(random, count - 1)) % count};
}

std::span<const Color> ten_colors() {
  static const auto colors = [] {
    std::vector<Color> all;
    for (const NamedColor& named : kTenColors) all.push_back(named.color);
    return all;
  }();
  return colors;
}

std::vector<std::string> ten_color_names() {
  std::vector<std::string> names;
  for (const NamedColor& named : kTenColors) names.emplace_back(named.name);
  return names;
}

int nearest_color(const Color& color, std::span<const Color> palette) {
  const auto distance = [&](const Color& other) {
    float sum = 0;
    for (std::size_t c = 0; c < 3; ++c) sum += (color[c] - other[c]) * (color[c] - other[c]);
    return sum;
  };
  const auto nearest = std::min_element(palette.begin(), palette.end(),
                                        [&](const Color& a, const Color& b) { return distance(a) < distance(b); });
  return static_cast<int>(nearest - palette.begin());
}

Latent intermediate_latent(std::string name, std::vector<std::string> value_names) {
  Latent result = latent(std::move(name), std::move(value_names));
  result.intermediate = true;
  return result;
}

Latent target_latent(std::string name, std::vector<std::string> value_names) {
  return latent(std::move(name), std::move(value_names));
}

Latent irrelevant_latent(std::string name, std::vector<std::string> value_names) {
  Latent result = latent(std::move(name), std::move(value_names));
  result.irrelevant = true;
  return result;
}

std::vector<std::string> place_names() { return {"top left", "top right", "bottom left", "bottom right"}; }

std::vector<std::string> class_names(TileFamily family, const std::vector<int>& classes) {
  const char* data_set = family == TileFamily::digits    ? "mnist"
                         : family == TileFamily::clothes ? "fashion-mnist"
                                                         : "cifar-10";
  const std::vector<std::string>& all = find_data_set(data_set).class_names;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const std::string& name = all[static_cast<std::size_t>(classes[i])];
    names.push_back(family == TileFamily::clothes ? fmt::format("{} {}", i, name) : name);
  }
  return names;
}

void refuse_gray(const TileOptions& options, const std::string& task) {
  if (options.gray)
    throw Error(ErrorKind::config, fmt::format("'task.grey' takes away the colours that {} is about", task), {},
                "leave task.grey out");
}

std::vector<Latent> pair_latents(std::string hidden, const std::vector<int>& indicators,
                                 const std::vector<int>& targets, std::vector<Latent> irrelevant) {
  std::vector<Latent> latents = {intermediate_latent(std::move(hidden), kNoYes)};
  for (const char* name : {"indicator_1", "indicator_2"})
    latents.push_back(intermediate_latent(name, class_names(TileFamily::digits, indicators)));
  for (const char* name : {"target_1", "target_2"})
    latents.push_back(target_latent(name, class_names(TileFamily::clothes, targets)));
  for (Latent& latent : irrelevant) latents.push_back(std::move(latent));
  return latents;
}

}  // namespace eureka
