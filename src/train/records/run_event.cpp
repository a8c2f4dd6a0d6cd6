#include "train/records/run_event.h"

#include <fmt/format.h>

#include "io/json.h"
#include "train/records/record.h"

namespace eureka {
namespace {

constexpr RecordKind kKind{"an event of a run", 1,
                           "the file was changed by hand: start the run again in another directory"};

// The name of each kind of event, its own fields, and back.
const char* name_of(const PlateauConfirmed&) { return "plateau"; }
const char* name_of(const MomentConfirmed&) { return "moment"; }
const char* name_of(const MomentWithdrawn&) { return "moment-withdrawn"; }
const char* name_of(const CheckpointWritten&) { return "checkpoint"; }
const char* name_of(const MomentCheckpoint&) { return "moment-checkpoint"; }
const char* name_of(const Divergence&) { return "divergence"; }
const char* name_of(const InterventionNoted&) { return "intervention"; }
const char* name_of(const TransplantSource&) { return "transplant-source"; }
const char* name_of(const FirstRiseSeen&) { return "first-rise"; }
const char* name_of(const GrokkingConfirmed&) { return "grokking"; }
const char* name_of(const GrokkingWithdrawn&) { return "grokking-withdrawn"; }

void write_fields(const PlateauConfirmed& plateau, Json& json) {
  json.update({{"start", plateau.start}, {"end", plateau.end}, {"level", plateau.level}});
}
void write_fields(const MomentConfirmed& moment, Json& json) {
  json.update({{"at", moment.at}, {"from", moment.from}, {"to", moment.to}, {"score", moment.score}});
}
void write_fields(const MomentWithdrawn&, Json&) {}
void write_fields(const CheckpointWritten&, Json&) {}
void write_fields(const MomentCheckpoint& checkpoint, Json& json) {
  json.update({{"of", checkpoint.of}, {"stage", checkpoint.stage}});
}
void write_fields(const Divergence& divergence, Json& json) {
  json.update({{"quantity", divergence.quantity}, {"value", divergence.value}});
}
void write_fields(const InterventionNoted& intervention, Json& json) {
  json.update({{"kind", intervention.kind}, {"phase", intervention.phase}});
}
void write_fields(const TransplantSource& source, Json& json) {
  json.update({{"run", source.run}, {"checkpoint", source.checkpoint}, {"crc32c", source.crc32c}, {"at", source.at}});
}

void write_fields(const FirstRiseSeen& rise, Json& json) {
  json.update({{"at", rise.at}, {"from", rise.from}, {"to", rise.to}});
}
void write_fields(const GrokkingConfirmed& rise, Json& json) {
  json.update({{"at", rise.at}, {"from", rise.from}, {"to", rise.to}, {"score", rise.score}});
}
void write_fields(const GrokkingWithdrawn&, Json&) {}

void read_fields(const RecordReader& fields, PlateauConfirmed& plateau) {
  plateau = {fields.get<double>("start"), fields.get<double>("end"), fields.get<double>("level")};
}
void read_fields(const RecordReader& fields, MomentConfirmed& moment) {
  moment = {fields.get<double>("at"), fields.get<double>("from"), fields.get<double>("to"),
            fields.get<double>("score")};
}
void read_fields(const RecordReader&, MomentWithdrawn&) {}
void read_fields(const RecordReader&, CheckpointWritten&) {}
void read_fields(const RecordReader& fields, MomentCheckpoint& checkpoint) {
  checkpoint = {fields.get<std::int64_t>("of"), fields.get<std::string>("stage")};
}
void read_fields(const RecordReader& fields, Divergence& divergence) {
  divergence = {fields.get<std::string>("quantity"), fields.get<std::string>("value")};
}
void read_fields(const RecordReader& fields, InterventionNoted& intervention) {
  intervention = {fields.get<std::string>("kind"), fields.get<std::string>("phase")};
}
void read_fields(const RecordReader& fields, TransplantSource& source) {
  source = {fields.get<std::string>("run"), fields.get<std::int64_t>("checkpoint"), fields.get<std::uint64_t>("crc32c"),
            fields.get<std::int64_t>("at")};
}

void read_fields(const RecordReader& fields, FirstRiseSeen& rise) {
  rise = {fields.get<double>("at"), fields.get<double>("from"), fields.get<double>("to")};
}
void read_fields(const RecordReader& fields, GrokkingConfirmed& rise) {
  rise = {fields.get<double>("at"), fields.get<double>("from"), fields.get<double>("to"), fields.get<double>("score")};
}
void read_fields(const RecordReader&, GrokkingWithdrawn&) {}

template <class Kind>
bool read_if_named(const RecordReader& fields, const std::string& name, RunEvent& event) {
  Kind what;
  if (name != name_of(what)) return false;
  read_fields(fields, what);
  event.what = std::move(what);
  return true;
}

template <class... Kinds>
bool read_any(const RecordReader& fields, const std::string& name, RunEvent& event, std::variant<Kinds...>*) {
  return (read_if_named<Kinds>(fields, name, event) || ...);
}

}  // namespace

std::string to_text(const RunEvent& event) {
  Json json{{"step", event.step}};
  std::visit(
      [&](const auto& what) {
        json["event"] = name_of(what);
        write_fields(what, json);
      },
      event.what);
  return json.dump();
}

RunEvent parse_event(std::string_view line, const std::string& where) {
  const RecordReader fields(line, kKind, where);
  RunEvent event{fields.get<std::int64_t>("step"), {}};
  const auto name = fields.get<std::string>("event");
  if (!read_any(fields, name, event, &event.what)) fields.refuse(fmt::format("there is no event '{}'", name));
  return event;
}

std::vector<RunEvent> read_events(const fs::path& run_directory, std::uint64_t bytes) {
  std::vector<RunEvent> events;
  std::uint64_t end = 0;
  for_each_line(run_directory / "events.jsonl", [&](std::string_view line, const std::string& where) {
    end += line.size() + 1;
    if (end <= bytes) events.push_back(parse_event(line, where));
  });
  return events;
}

}  // namespace eureka
