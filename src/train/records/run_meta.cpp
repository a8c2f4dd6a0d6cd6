#include "train/records/run_meta.h"

#include <fmt/format.h>

#include "io/json.h"
#include "train/records/record.h"

namespace eureka {
namespace {

constexpr RecordKind kKind{"the meta.json of a run", 1, "a resumed run writes it again"};

RunStatus status_of(const RecordReader& fields) {
  const auto name = fields.get<std::string>("status");
  const auto names = enum_names(RunStatus());
  for (std::size_t i = 0; i < names.size(); ++i)
    if (name == names[i]) return static_cast<RunStatus>(i);
  fields.refuse(fmt::format("there is no status '{}'", name));
}

}  // namespace

std::string to_text(const RunMeta& meta) {
  Json json = {{"version", meta.version},
               {"commit", meta.commit},
               {"command", meta.command},
               {"started", meta.started},
               {"status", status_name(meta.status)},
               {"seed", meta.seed},
               {"host", meta.host},
               {"processor", meta.processor},
               {"cores", meta.cores},
               {"engine", meta.engine},
               {"instructions", meta.instructions},
               {"threads", meta.threads},
               {"device", meta.device},
               {"updates_done", meta.updates_done},
               {"seconds_of_last_session", meta.seconds_of_last_session}};
  if (meta.processes > 1) json["processes"] = meta.processes;
  if (!meta.ended.empty()) json["ended"] = meta.ended;
  if (meta.memory_bytes > 0) json["memory_bytes"] = meta.memory_bytes;
  if (meta.disk_bytes > 0) json["disk_bytes"] = meta.disk_bytes;
  if (!meta.why_not_fused.empty()) json["why_not_fused"] = meta.why_not_fused;
  return json.dump(2, Json::BadText::replace) + "\n";
}

RunMeta parse_meta(std::string_view text, const std::string& where) {
  const RecordReader fields(text, kKind, where);
  RunMeta meta;
  meta.version = fields.get<std::string>("version");
  meta.commit = fields.get_or<std::string>("commit", "");
  meta.command = fields.get_or<std::string>("command", "");
  meta.started = fields.get_or<std::string>("started", "");
  meta.ended = fields.get_or<std::string>("ended", "");
  meta.processor = fields.get_or<std::string>("processor", "");
  meta.disk_bytes = fields.get_or<std::int64_t>("disk_bytes", 0);
  meta.status = status_of(fields);
  meta.seed = fields.get<std::int64_t>("seed");
  meta.host = fields.get<std::string>("host");
  meta.cores = fields.get<std::int64_t>("cores");
  meta.engine = fields.get<std::string>("engine");
  meta.instructions = fields.get_or<std::string>("instructions", "unknown");
  meta.threads = fields.get<std::int64_t>("threads");
  meta.processes = fields.get_or<std::int64_t>("processes", 1);
  meta.device = fields.get<std::string>("device");
  meta.updates_done = fields.get<std::int64_t>("updates_done");
  meta.seconds_of_last_session = fields.get<double>("seconds_of_last_session");
  meta.memory_bytes = fields.get_or<std::int64_t>("memory_bytes", 0);
  meta.why_not_fused = fields.get_or<std::string>("why_not_fused", "");
  return meta;
}

RunMeta read_meta(const fs::path& run_directory) {
  const fs::path path = run_directory / "meta.json";
  return parse_meta(read_file(path, 16 << 20), path.string());
}

std::string writer_of(const fs::path& run_directory) {
  try {
    return fmt::format("eureka {}", read_meta(run_directory).version);
  } catch (const Error&) {
    return "an unknown eureka";
  }
}

}  // namespace eureka
