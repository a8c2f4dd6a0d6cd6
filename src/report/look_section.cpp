#include "report/look_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "base/error.h"
#include "figure/heading.h"
#include "io/safetensors.h"

namespace eureka {
namespace {

constexpr const char* kFile = "maps/attention.safetensors";
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;
constexpr std::size_t kMostSteps = 8, kMostSamples = 4;
constexpr std::int64_t kMostCells = 96;  // along a side; larger maps show the largest weight of each patch

// The weights of one layer at one step: samples x heads x queries x keys.
struct LayerMaps {
  std::vector<std::int64_t> sizes;
  std::vector<float> weights;

  float at(std::int64_t sample, std::int64_t head, std::int64_t query, std::int64_t key) const {
    return weights[static_cast<std::size_t>(((sample * sizes[1] + head) * sizes[2] + query) * sizes[3] + key)];
  }
};
using Layers = std::map<std::string, LayerMaps>;

struct LookedSteps {
  std::map<std::int64_t, Layers> steps;
  std::vector<std::string> problems;
};

std::map<std::int64_t, fs::path> map_files(const fs::path& directory) {
  std::map<std::int64_t, fs::path> files;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, ignored)) {
    const std::string name = entry.path().filename().string();
    std::int64_t step = 0;
    if (!name.starts_with("step-") || !fs::exists(entry.path() / kFile, ignored)) continue;
    if (std::from_chars(name.data() + 5, name.data() + name.size(), step).ec == std::errc())
      files[step] = entry.path() / kFile;
  }
  return files;
}

Layers read_layers(const fs::path& file) {
  Layers layers;
  const TensorFile tensors = parse_safetensors(read_file(file, kMostBytes), file.string());
  for (const auto& [name, tensor] : tensors.tensors())
    if (tensor.shape.size() == 4 && !tensor.data.empty()) layers[name] = {tensor.shape, tensor_values<float>(tensor)};
  return layers;
}

LookedSteps read_looks(const fs::path& directory) {
  LookedSteps looks;
  for (const auto& [step, file] : map_files(directory)) try {
      looks.steps[step] = read_layers(file);
    } catch (const Error& error) {
      looks.problems.push_back(fmt::format("step {} cannot be read: {}", step, error.what()));
    }
  // Evenly, with the first and the last.
  while (looks.steps.size() > kMostSteps)
    looks.steps.erase(std::next(looks.steps.begin(), static_cast<std::ptrdiff_t>(looks.steps.size() / 2)));
  return looks;
}

RgbImage picture_of(const LayerMaps& maps, std::int64_t sample, std::int64_t head) {
  const std::int64_t rows = std::min(kMostCells, maps.sizes[2]), columns = std::min(kMostCells, maps.sizes[3]);
  RgbImage image{.width = static_cast<int>(columns), .height = static_cast<int>(rows), .rgb = {}};
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) {
      float largest = 0;
      for (std::int64_t q = r * maps.sizes[2] / rows; q < (r + 1) * maps.sizes[2] / rows; ++q)
        for (std::int64_t k = c * maps.sizes[3] / columns; k < (c + 1) * maps.sizes[3] / columns; ++k)
          largest = std::max(largest, maps.at(sample, head, q, k));
      const figure::Rgb rgb = figure::heat_color(static_cast<double>(largest)).rgb;
      image.rgb.insert(image.rgb.end(), rgb.begin(), rgb.end());
    }
  return image;
}

// Heads below one another, steps beside one another.
struct MapGrid {
  std::string title;
  LookedSteps looks;
  std::int64_t sample = 0;
};

figure::Drawing lay_out(const MapGrid& grid, figure::Titled titled) {
  constexpr double kSide = 104, kGap = 8, kLeft = 130;
  figure::Drawing drawing{
      .width = std::max(460.0, kLeft + 20 + (kSide + kGap) * static_cast<double>(grid.looks.steps.size())),
      .title = grid.title};
  const double top = add_title(drawing, titled) + 20;
  double x = kLeft, bottom = top;
  for (const auto& [step, layers] : grid.looks.steps) {
    drawing.add(figure::Text{.at = {x + kSide / 2, top - 6},
                             .text = fmt::format("step {}", step),
                             .size = figure::kTickSize,
                             .color = figure::Color::muted(),
                             .anchor = figure::Anchor::middle});
    double y = top;
    for (const auto& [name, maps] : layers)
      for (std::int64_t head = 0; head < maps.sizes[1] && grid.sample < maps.sizes[0]; ++head, y += kSide + kGap) {
        const std::string place = fmt::format("step {} / {}, head{}", step, name, head);
        drawing.add(figure::GroupBegin{place, place});
        drawing.add(figure::Picture{x, y, kSide, kSide, picture_of(maps, grid.sample, head)});
        drawing.add(figure::GroupEnd{});
        if (x == kLeft)
          drawing.add(figure::Text{.at = {kLeft - 10, y + kSide / 2},
                                   .text = fmt::format("{}, head{}", name, head),
                                   .size = figure::kLabelSize,
                                   .anchor = figure::Anchor::end});
      }
    bottom = std::max(bottom, y);
    x += kSide + kGap;
  }
  drawing.add(figure::Text{.at = {kLeft, bottom + 12},
                           .text = "across: keys; down: queries; dark: weight 0, bright: weight 1",
                           .size = figure::kTickSize,
                           .color = figure::Color::muted()});
  drawing.height = bottom + 22;
  return drawing;
}

std::string maps_csv(const MapGrid& grid) {
  std::string csv = "step,layer,head,query,key,weight\n";
  constexpr std::size_t kMostLines = 20'000;
  std::size_t lines = 0;
  for (const auto& [step, layers] : grid.looks.steps)
    for (const auto& [name, maps] : layers)
      for (std::int64_t head = 0; head < maps.sizes[1] && grid.sample < maps.sizes[0]; ++head)
        for (std::int64_t q = 0; q < maps.sizes[2]; ++q)
          for (std::int64_t k = 0; k < maps.sizes[3] && lines < kMostLines; ++k, ++lines)
            csv += fmt::format("{},{},{},{},{},{}\n", step, csv_cell(name), head, q, k,
                               csv_number(static_cast<double>(maps.at(grid.sample, head, q, k))));
  return csv;
}

std::int64_t samples_of(const LookedSteps& looks) {
  std::int64_t samples = 0;
  for (const auto& [step, layers] : looks.steps)
    for (const auto& [name, maps] : layers) samples = std::max(samples, maps.sizes[0]);
  return std::min<std::int64_t>(samples, kMostSamples);
}

}  // namespace

bool is_look_directory(const fs::path& directory) {
  return fs::is_directory(directory) && !map_files(directory).empty();
}

PageSection look_section(const fs::path& directory) {
  const LookedSteps looks = read_looks(directory);
  const std::string name = fs::absolute(directory / "").lexically_normal().parent_path().filename().string();
  PageSection section{.name = name, .title = fmt::format("Attention in {}", name), .blocks = {}};
  section.add_html(paragraph(fmt::format("{} steps were looked at with eureka look.", looks.steps.size())) +
                   problem_list(looks.problems));
  for (std::int64_t sample = 0; sample < samples_of(looks); ++sample) {
    MapGrid grid{.title = fmt::format("Where does each head look, step by step? (sample {})", sample + 1),
                 .looks = looks,
                 .sample = sample};
    std::string csv = maps_csv(grid);
    std::string title = grid.title;
    section.add_figure(
        {.name = fmt::format("attention-{}", sample + 1),
         .title = title,
         .caption =
             "One map for each head and step: the weight of each key for each query. The tensors have every digit.",
         .draw = drawn(std::move(grid)),
         .csv = std::move(csv),
         .is_folded = sample > 0});
  }
  return section;
}

}  // namespace eureka
