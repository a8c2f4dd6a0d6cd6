#include "cli/data_show.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "base/output.h"
#include "base/random.h"
#include "base/suggest.h"
#include "cli/cli.h"
#include "data/data_sets.h"
#include "report/contact_sheet.h"
#include "report/table.h"
#include "train/config.h"

namespace eureka::cli {
namespace {

constexpr std::int64_t kPictureSamples = 16, kTableSamples = 2;

struct FrameColor {
  const char* name;
  Rgb rgb;
};
// Of the roles that matter, in their order.
constexpr std::array<FrameColor, 4> kFrames = {
    {{"orange", {240, 150, 60}}, {"blue", {90, 200, 235}}, {"green", {120, 200, 90}}, {"violet", {180, 120, 220}}}};

// By role; nothing for one that does not matter, or that no color is left for.
std::vector<const FrameColor*> frame_colors(const std::vector<Role>& roles) {
  std::vector<const FrameColor*> colors;
  std::size_t used = 0;
  for (const Role& role : roles) colors.push_back(role.matters && used < kFrames.size() ? &kFrames[used++] : nullptr);
  return colors;
}

std::string legend_of(const std::vector<Role>& roles) {
  const auto colors = frame_colors(roles);
  std::string legend;
  for (std::size_t i = 0; i < roles.size(); ++i)
    if (colors[i] != nullptr) legend += fmt::format("{} frame: {}, ", colors[i]->name, roles[i].name);
  return legend + "no frame: means nothing";
}

std::uint8_t to_byte(float value, float low, float high) {
  return static_cast<std::uint8_t>(std::lround(255 * std::clamp((value - low) / (high - low), 0.0F, 1.0F)));
}

// Floats, channels last, to a picture; `low` is black and `high` is white.
RgbImage picture_of(const float* image, const ImageShape& shape, float low, float high) {
  RgbImage picture{static_cast<int>(shape.width), static_cast<int>(shape.height), {}};
  const auto channels = static_cast<std::size_t>(shape.channels);
  for (std::size_t i = 0; i < static_cast<std::size_t>(shape.width * shape.height); ++i)
    for (std::size_t c = 0; c < 3; ++c)
      picture.rgb.push_back(to_byte(image[i * channels + (channels == 3 ? c : 0)], low, high));
  return picture;
}

// A frame around each of the four tiles, by its role.
std::vector<SheetFrame> frames_of(const ImageShape& shape, const std::vector<Role>& roles, const std::uint8_t* tiles) {
  std::vector<SheetFrame> frames;
  const auto colors = frame_colors(roles);
  const int side = static_cast<int>(shape.width / 2);
  for (const int row : {0, 1})
    for (const int column : {0, 1})
      if (const FrameColor* color = colors[tiles[2 * row + column]])
        frames.push_back({column * side, row * side, side, side, color->rgb});
  return frames;
}

std::string title_of(const Latent& latent) {
  std::string name = latent.name;
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

std::string value_text(const Latent& latent, int value) {
  return latent.value_names.empty() ? fmt::format("{}", value) : latent.value_names[static_cast<std::size_t>(value)];
}

OptionValues task_options(const ShowRequest& request) {
  ConfigEntries entries;
  entries["task.name"] = {request.name, "eureka data show"};
  entries = merge_entries(std::move(entries), parse_overrides(request.overrides));
  return resolve_config(entries, catalog()).task.options;
}

Batch draw(const Task& task, const ShowRequest& request, std::int64_t samples) {
  Batch batch;
  task.sample({.seed = request.seed, .stream = request.stream, .step = 0, .samples = samples}, batch);
  return batch;
}

RgbImage sheet_of_task(const Task& task, const ShowRequest& request) {
  const PluginInfo& info = catalog().find("task", request.name, {});
  const TaskShape shape = task.shape();
  const Batch batch = draw(task, request, request.samples.value_or(kPictureSamples));
  const auto [least, most] = std::minmax_element(batch.inputs.begin(), batch.inputs.end());
  // Color noise goes a little below black; means that were taken off go far below.
  const bool centered = *least < -0.5F;
  const float low = centered ? *least : 0, high = centered ? *most : 1;
  const std::vector<Latent> latents = task.latents();
  const std::vector<Role> roles = task.roles();
  std::vector<SheetCell> cells;
  for (std::size_t i = 0; i < static_cast<std::size_t>(batch.samples); ++i) {
    const float* image = batch.inputs.data() + i * static_cast<std::size_t>(shape.values());
    SheetCell cell{picture_of(image, shape.image, low, high),
                   frames_of(shape.image, roles, batch.roles.data() + 4 * i),
                   {fmt::format("label {}", batch.labels[i])}};
    for (std::size_t l = 0; l < latents.size(); ++l)
      if (!latents[l].irrelevant)
        cell.lines.push_back(
            fmt::format("{}: {}", title_of(latents[l]), value_text(latents[l], batch.latents[i * latents.size() + l])));
    cells.push_back(std::move(cell));
  }
  const int zoom = static_cast<int>(std::max<std::int64_t>(1, 168 / shape.image.width));
  return draw_contact_sheet(
      cells, {.title = {fmt::format("{} - {}", request.name, info.description), legend_of(roles)}, .zoom = zoom});
}

// What is asked for at one answer: a class, or numbers.
std::string answer_text(const Batch& batch, const TaskShape& shape, std::size_t answer) {
  if (shape.loss != LossKind::squared) return fmt::format("{}", batch.labels[answer]);
  const auto count = static_cast<std::size_t>(shape.classes);
  const auto numbers = std::span(batch.targets).subspan(answer * count, count);
  return fmt::format("{:.3f}", fmt::join(numbers, " "));
}

// One row per token; the one answer of a sample stands beside its first token.
std::string table_of_task(const Task& task, const ShowRequest& request) {
  const TaskShape shape = task.shape();
  const std::vector<Role> roles = task.roles();
  const std::vector<Latent> latents = task.latents();
  const Batch batch = draw(task, request, request.samples.value_or(kTableSamples));
  const bool has_ids = shape.input() == InputKind::ids;
  std::vector<TableColumn> columns = {{"sample"}, {"token"}, {"role", Align::left}, {"answer"}};
  if (has_ids) columns.insert(columns.begin() + 2, {"id"});
  for (const Latent& latent : latents) columns.push_back({title_of(latent)});
  TextTable table(columns);
  for (std::size_t i = 0; i < static_cast<std::size_t>(batch.samples * shape.tokens); ++i) {
    const std::size_t sample = i / static_cast<std::size_t>(shape.tokens);
    const std::size_t token = i % static_cast<std::size_t>(shape.tokens);
    const std::size_t answer = shape.every_position ? i : sample;
    std::vector<std::string> cells = {fmt::format("{}", sample), fmt::format("{}", token)};
    if (has_ids) cells.push_back(fmt::format("{}", batch.ids[i]));
    cells.push_back(roles[batch.roles[i]].name);
    if ((shape.every_position || token == 0) && batch.asks(answer)) {
      cells.push_back(answer_text(batch, shape, answer));
      for (std::size_t l = 0; l < latents.size(); ++l)
        cells.push_back(value_text(latents[l], batch.latents[answer * latents.size() + l]));
    }
    table.add_row(std::move(cells));
  }
  std::string text = table.str();
  for (const Role& role : roles) text += fmt::format("{}: {}\n", role.name, role.meaning);
  return text;
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
  const std::int64_t each =
      std::max<std::int64_t>(1, request.samples.value_or(kPictureSamples) / static_cast<std::int64_t>(classes.size()));
  const ImageShape shape{facts.height, facts.width, facts.channels};
  const std::size_t pixels = std::size_t{facts.height} * facts.width;
  RandomStream random(request.seed, "show");
  std::vector<SheetCell> cells;
  for (const int label : classes)
    for (std::int64_t i = 0; i < each; ++i) {
      const std::uint8_t* bytes = images->image(split, label, random.below(facts.count(split, label)));
      std::vector<float> image;
      for (std::size_t pixel = 0; pixel < pixels; ++pixel)
        for (std::size_t c = 0; c < static_cast<std::size_t>(facts.channels); ++c)
          image.push_back(bytes[c * pixels + pixel]);
      cells.push_back(
          {picture_of(image.data(), shape, 0, 255), {}, {info.class_names[static_cast<std::size_t>(label)]}});
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

int show_table(const Task& task, const ShowRequest& request) {
  if (!request.out.empty())
    throw Error(ErrorKind::usage, fmt::format("the task {} has no images to draw", request.name), {},
                "without --out its samples are printed as a table");
  print("{}", Layout{table_of_task(task, request)});
  return kOk;
}

}  // namespace

int show(const ShowRequest& request) {
  expect_known(request.name);
  const std::string out = request.out.empty() ? request.name + ".png" : request.out;
  if (is_data_set(request.name)) {
    write_png(out, sheet_of_data_set(request));
  } else {
    const auto task = Registry<Task>::instance().make(request.name, task_options(request));
    if (task->shape().input() != InputKind::image) return show_table(*task, request);
    write_png(out, sheet_of_task(*task, request));
  }
  print("{}\n", out);
  return kOk;
}

}  // namespace eureka::cli
