#include "cli/data_show.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "base/suggest.h"
#include "cli/cli.h"
#include "data/data_sets.h"
#include "report/contact_sheet.h"
#include "tasks/image_layout.h"
#include "train/config.h"

namespace eureka::cli {
namespace {

constexpr Rgb kIndicatorFrame = {90, 200, 235}, kTargetFrame = {240, 150, 60};

std::uint8_t to_byte(float value, float low, float high) {
  return static_cast<std::uint8_t>(std::lround(255 * std::clamp((value - low) / (high - low), 0.0F, 1.0F)));
}

// Planes of floats to a picture; `low` is black and `high` is white.
RgbImage picture_of(const std::vector<float>& planes, const ImageShape& shape, float low, float high) {
  RgbImage picture{static_cast<int>(shape.width), static_cast<int>(shape.height), {}};
  const auto pixels = static_cast<std::size_t>(shape.width * shape.height);
  for (std::size_t i = 0; i < pixels; ++i)
    for (std::size_t c = 0; c < 3; ++c)
      picture.rgb.push_back(to_byte(planes[(shape.channels == 3 ? c * pixels : 0) + i], low, high));
  return picture;
}

// A frame around each quarter of the image, by the role of its tokens.
std::vector<SheetFrame> frames_of(const ImageShape& shape, const TokenRole* roles) {
  std::vector<SheetFrame> frames;
  const std::int64_t across = shape.width / shape.patch, half = across / 2;
  const int side = static_cast<int>(shape.width / 2);
  for (const std::int64_t row : {0, 1})
    for (const std::int64_t column : {0, 1}) {
      const TokenRole role = roles[row * half * across + column * half];
      if (role == TokenRole::distractor) continue;
      frames.push_back({static_cast<int>(column) * side, static_cast<int>(row) * side, side, side,
                        role == TokenRole::indicator ? kIndicatorFrame : kTargetFrame});
    }
  return frames;
}

std::string line_of(const Latent& latent, int value) {
  std::string name = latent.name;
  std::replace(name.begin(), name.end(), '_', ' ');
  return fmt::format(
      "{}: {}", name,
      latent.value_names.empty() ? fmt::format("{}", value) : latent.value_names[static_cast<std::size_t>(value)]);
}

OptionValues task_options(const ShowRequest& request) {
  ConfigEntries entries;
  entries["task.name"] = {request.name, "eureka data show"};
  entries = merge_entries(std::move(entries), parse_overrides(request.overrides));
  return resolve_config(entries, catalog()).task.options;
}

RgbImage sheet_of_task(const ShowRequest& request) {
  const PluginInfo& info = catalog().find("task", request.name, {});
  const auto task = Registry<Task>::instance().make(request.name, task_options(request));
  const TaskShape shape = task->shape();
  if (!shape.image)
    throw Error(ErrorKind::usage, fmt::format("the task {} has no images to show", request.name), {},
                "eureka list tasks; the image tasks say so");
  Batch batch;
  task->sample({.seed = request.seed, .stream = request.stream, .step = 0, .samples = request.samples}, batch);
  const auto [least, most] = std::minmax_element(batch.inputs.begin(), batch.inputs.end());
  // Colour noise goes a little below black; means that were taken off go far below.
  const bool centred = *least < -0.5F;
  const float low = centred ? *least : 0, high = centred ? *most : 1;
  const std::vector<Latent> latents = task->latents();
  std::vector<float> planes(static_cast<std::size_t>(shape.image.channels * shape.image.height * shape.image.width));
  std::vector<SheetCell> cells;
  for (std::size_t i = 0; i < static_cast<std::size_t>(request.samples); ++i) {
    patches_to_planes(shape.image, batch.inputs.data() + i * planes.size(), planes.data());
    SheetCell cell{picture_of(planes, shape.image, low, high),
                   frames_of(shape.image, batch.roles.data() + i * static_cast<std::size_t>(shape.tokens)),
                   {fmt::format("label {}", batch.labels[i])}};
    for (std::size_t l = 0; l < latents.size(); ++l)
      if (!latents[l].irrelevant) cell.lines.push_back(line_of(latents[l], batch.latents[i * latents.size() + l]));
    cells.push_back(std::move(cell));
  }
  const int zoom = static_cast<int>(std::max<std::int64_t>(1, 168 / shape.image.width));
  return draw_contact_sheet(cells, {.title = {fmt::format("{} - {}", request.name, info.description),
                                              "blue frame: indicator, orange frame: target, no frame: means nothing"},
                                    .zoom = zoom});
}

// Some images of every class that has any.
RgbImage sheet_of_data_set(const ShowRequest& request) {
  const DataSetInfo& info = find_data_set(request.name);
  const auto images = open_data_set(request.name);
  const ImageSetFacts& facts = images->facts();
  const Split split = request.stream == "train" ? Split::train : Split::test;
  std::vector<int> classes;
  for (int label = 0; label < facts.classes(); ++label)
    if (facts.count(split, label) > 0) classes.push_back(label);
  const std::int64_t each = std::max<std::int64_t>(1, request.samples / static_cast<std::int64_t>(classes.size()));
  const ImageShape shape{facts.channels, facts.height, facts.width, 1};
  RandomStream random(request.seed, "show");
  std::vector<SheetCell> cells;
  for (const int label : classes)
    for (std::int64_t i = 0; i < each; ++i) {
      const std::uint8_t* bytes = images->image(split, label, random.below(facts.count(split, label)));
      const std::vector<float> planes(bytes, bytes + facts.image_bytes());
      cells.push_back({picture_of(planes, shape, 0, 255), {}, {info.class_names[static_cast<std::size_t>(label)]}});
    }
  return draw_contact_sheet(cells, {.title = {fmt::format("{} - {}", info.name, info.description)},
                                    .columns = static_cast<int>(std::min<std::int64_t>(each, 10))});
}

bool is_data_set(const std::string& name) {
  const auto known = known_data_sets();
  return std::any_of(known.begin(), known.end(), [&](const DataSetInfo& info) { return info.name == name; });
}

// Both kinds of names, so that a suggestion can be of either.
void expect_known(const std::string& name) {
  std::vector<std::string> names = Registry<Task>::instance().names();
  for (const DataSetInfo& info : known_data_sets()) names.push_back(info.name);
  if (std::find(names.begin(), names.end(), name) == names.end())
    throw Error(ErrorKind::usage, fmt::format("there is no task or data set '{}'", name), {},
                did_you_mean(name, names));
}

}  // namespace

int show(const ShowRequest& request) {
  expect_known(request.name);
  const std::string out = request.out.empty() ? request.name + ".png" : request.out;
  write_png(out, is_data_set(request.name) ? sheet_of_data_set(request) : sheet_of_task(request));
  fmt::print("{}\n", out);
  return kOk;
}

}  // namespace eureka::cli
