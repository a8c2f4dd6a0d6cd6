// eureka data: get, list, verify and show what the image and language tasks are made of.
#include "base/output.h"
#include "data/data_sets.h"

#include <fmt/format.h>

#include "cli/cli.h"
#include "cli/data_show.h"
#include "data/texts.h"
#include "io/json.h"
#include "report/table.h"

namespace eureka::cli {
namespace {

void get_one_text(const TextInfo& text) {
  const bool fresh = get_text(text.name, [](const std::string& line) { tell("{}\n", line); });
  print("{}: {} ({})\n", text.name, fresh ? fmt::format("{} characters", text.characters) : "there already",
        text.source);
}

int get(const std::vector<std::string>& names, const std::string& from) {
  // A wrong name is told before anything is fetched.
  for (const std::string& name : names) {
    const bool text = find_text(name) != nullptr;
    if (!text) find_data_set(name);
    if (text && !from.empty())
      throw Error(ErrorKind::usage, fmt::format("{} is not made from files", name), "--from",
                  "name a text of your own where it is used: --set task.text=FILE");
  }
  for (const std::string& name : names) {
    if (const TextInfo* text = find_text(name)) {
      get_one_text(*text);
      continue;
    }
    GetRequest request{.name = name, .from = from};
    request.progress = [](const std::string& line) { tell("{}\n", line); };
    const bool fresh = get_data_set(request);
    const auto images = open_data_set(name);
    const ImageSetFacts& facts = images->facts();
    if (!fresh) {
      print("{}: there already ({})\n", name, facts.source);
      continue;
    }
    print("{}: {} training and {} test images{}\n", name, facts.total(Split::train), facts.total(Split::test),
          facts.skipped > 0 ? fmt::format(", {} malformed rows skipped", facts.skipped) : "");
  }
  return kOk;
}

struct Standing {
  const DataSetInfo* info;
  std::string state;  // "drawn", "here", "not here" or "damaged"
  std::shared_ptr<const ImageSet> images;
  std::string trouble;
};

Standing standing_of(const DataSetInfo& info) {
  if (!info.drawn && !fs::exists(data_set_path(info.name))) return {&info, "not here", nullptr, ""};
  try {
    return {&info, info.drawn ? "drawn" : "here", open_data_set(info.name), ""};
  } catch (const Error& error) {
    return {&info, "damaged", nullptr, error.message()};
  }
}

int list(bool json) {
  Json all = Json::array();
  TextTable table({{"name", Align::left},
                   {"state", Align::left},
                   {"train"},
                   {"test"},
                   {"what", Align::left},
                   {"from", Align::left}});
  for (const DataSetInfo& info : known_data_sets()) {
    const Standing standing = standing_of(info);
    const ImageSetFacts* facts = standing.images ? &standing.images->facts() : nullptr;
    Json one = {{"name", info.name}, {"state", standing.state}, {"description", info.description}};
    if (!info.drawn) one["path"] = data_set_path(info.name).string();
    if (facts != nullptr) {
      one["train"] = facts->total(Split::train);
      one["test"] = facts->total(Split::test);
      one["source"] = facts->source;
      one["skipped"] = facts->skipped;
    }
    all.push_back(std::move(one));
    table.add_row({info.name, standing.state, facts ? fmt::format("{}", facts->total(Split::train)) : "-",
                   facts ? fmt::format("{}", facts->total(Split::test)) : "-", info.description,
                   facts ? facts->source
                   : standing.state == "damaged"
                       ? "eureka data verify tells more"
                       : fmt::format("eureka data get {}{}", info.name, info.package ? "" : " --from DIR")});
  }
  Json texts = Json::array();
  for (const TextInfo& text : known_texts()) {
    const auto path = text_path(text.name);
    const std::string state = !path ? "compiled in" : fs::exists(*path) ? "here" : "not here";
    texts.push_back(
        {{"name", text.name}, {"state", state}, {"description", text.description}, {"characters", text.characters}});
    if (path) texts.back()["path"] = path->string();
    const std::uint64_t validation = text.characters / 10;
    table.add_row({text.name, state, fmt::format("{}", text.characters - validation), fmt::format("{}", validation),
                   text.description + ", in characters",
                   state == "not here" ? fmt::format("eureka data get {}", text.name) : text.source});
  }
  if (json)
    print("{}\n", Lines{Json{{"directory", data_directory().string()}, {"data_sets", all}, {"texts", texts}}.dump(
                      2, Json::BadText::replace)});
  else
    print("{}data directory: {}\n", Layout{table.str()}, data_directory().string());
  return kOk;
}

int verify(std::vector<std::string> names) {
  const bool asked = !names.empty();
  if (!asked)
    for (const DataSetInfo& info : known_data_sets())
      if (!info.drawn && fs::exists(data_set_path(info.name))) names.push_back(info.name);
  if (!asked)
    for (const TextInfo& text : known_texts())
      if (const auto path = text_path(text.name); path && fs::exists(*path)) names.push_back(text.name);
  if (names.empty()) print("nothing to verify in {}\n", data_directory().string());
  bool good = true;
  for (const std::string& name : names) {
    try {
      if (find_text(name) != nullptr)
        verify_text(name);
      else
        open_data_set(name)->verify();
      print("{}: good\n", name);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::usage) throw;
      good = false;
      print("{}: {}\n", name, Lines{error.message()});
    }
  }
  return good ? kOk : kFailed;
}

}  // namespace

void add_data(Command& program) {
  Command verb = program.add_command("data", "the images and texts behind the tasks: get, list, verify, show");

  Command get_verb = verb.add_command("get", "fetch data sets, or convert your own files");
  auto names = std::make_shared<std::vector<std::string>>();
  auto from = std::make_shared<std::string>();
  get_verb.option("names", *names, "mnist, fashion-mnist, cifar-10 or kjv").required();
  get_verb.option("--from", *from, "a directory with your own IDX, IDX.gz or CIFAR-10 binary files");
  get_verb.runs([=] { return get(*names, *from); });

  Command list_verb = verb.add_command("list", "which data sets there are, and which are here");
  auto json = std::make_shared<bool>(false);
  list_verb.flag("--json", *json, "machine-readable");
  list_verb.runs([=] { return list(*json); });

  Command verify_verb = verb.add_command("verify", "read data sets whole and compare checksums");
  auto verified = std::make_shared<std::vector<std::string>>();
  verify_verb.option("names", *verified, "all that are here when left out");
  verify_verb.runs([=] { return verify(*verified); });

  Command show_verb = verb.add_command(
      "show", "samples of a task or a data set with their labels: a picture, or a table where there are no images");
  auto request = std::make_shared<ShowRequest>();
  show_verb.option("name", request->name, "a task or a data set").required();
  show_verb.option("--n", request->samples, "number of samples").between(1, 400);
  show_verb.option("--out", request->out, "the PNG file to write");
  show_verb.option("--seed", request->seed, "seed of the samples");
  show_verb.option("--stream", request->stream, "train: training images; anything else: test images");
  show_verb.option("--set", request->overrides, "task.key=value, repeatable");
  show_verb.runs([=] { return show(*request); });
}

}  // namespace eureka::cli
