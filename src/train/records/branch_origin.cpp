#include "train/records/branch_origin.h"

#include "io/json.h"
#include "train/records/record.h"

namespace eureka {
namespace {

constexpr RecordKind kKind{"the origin of a branch", 1, "make the branch again with another --out DIR"};

}  // namespace

std::string to_text(const BranchOrigin& origin) {
  Json change = Json::object();
  for (const auto& [key, value] : origin.change) change[key] = value;
  Json json{{"run", origin.run}, {"step", origin.step}, {"change", change}};
  if (!origin.parameters_by.empty()) json["parameters_by"] = origin.parameters_by;
  // A path may be any bytes.
  return json.dump(2, Json::BadText::replace) + "\n";
}

BranchOrigin parse_origin(std::string_view text, const std::string& where) {
  const RecordReader fields(text, kKind, where);
  BranchOrigin origin{fields.get<std::string>("run"), fields.get<std::int64_t>("step"), {}, {}};
  const RecordReader change = fields.inside("change");
  for (const std::string& key : change.keys()) origin.change.emplace_back(key, change.get<std::string>(key));
  origin.parameters_by = fields.get_or<std::string>("parameters_by", {});
  return origin;
}

std::optional<BranchOrigin> read_origin(const fs::path& run_directory) {
  const fs::path path = run_directory / "origin.json";
  if (!fs::exists(path)) return std::nullopt;
  return parse_origin(read_file(path, 16 << 20), path.string());
}

}  // namespace eureka
