#include "train/look.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "train/option_lists.h"
#include "train/records/branch_origin.h"
#include "train/run_data.h"

namespace eureka {
namespace {

constexpr const char* kUsualDiagnostic = "attention";

std::string names_of(const RunLookRequest& request, const RunConfig& run) {
  if (request.diagnostics == "all") return fmt::format("{}", fmt::join(Registry<Diagnostic>::instance().names(), ","));
  if (!request.diagnostics.empty()) return request.diagnostics;
  return run.diagnostics.empty() ? kUsualDiagnostic : run.diagnose.names;
}

// The run's own config, but for what is looked at.
RunConfig look_config(const RunLookRequest& request, const Catalog& catalog) {
  const RunConfig run = read_run_config(request.run, catalog);
  ConfigEntries entries = to_entries(run, request.run.string());
  entries["diagnose.names"] = {names_of(request, run), "--diagnostic"};
  entries["diagnose.every"] = {std::int64_t{0}, request.run.string()};
  entries["diagnose.samples"] = {request.samples, "--samples"};
  const std::vector<std::string> chosen = split_names(std::get<std::string>(entries.at("diagnose.names").value));
  for (const PluginChoice& own : run.diagnostics)
    if (std::find(chosen.begin(), chosen.end(), own.name) == chosen.end())
      std::erase_if(entries, [&](const auto& entry) { return entry.first.starts_with("diagnose." + own.name + "."); });
  for (const auto& [key, entry] : request.options) {
    if (!key.starts_with("diagnose."))
      throw Error(ErrorKind::usage, fmt::format("'{}' is the run's own and stays as it was", key), entry.where,
                  "only options of diagnostics can be set here: diagnose.NAME.option=value");
    entries[key] = entry;
  }
  return resolve_config(entries, catalog);
}

}  // namespace

RunLook::RunLook(const RunLookRequest& request, const Catalog& catalog, const MakeParts& make)
    : request_(request),
      config_(look_config(request, catalog)),
      make_(make),
      parts_(make(config_)),
      wanted_(config_, *parts_.task),
      interventions_(config_, parts_.engine.engine->parameters()),
      diagnosis_(config_, *parts_.task) {
  if (request_.data == LookData::validation)
    batch_ = draw_validation_batch(*parts_.task, config_);
  else
    batch_.samples = config_.train.batch;
}

LookResult RunLook::at(std::int64_t step) {
  restore(step);
  if (request_.data == LookData::training) draw_training_batch(*parts_.task, config_, step, batch_);
  wanted_.fill(batch_, step);
  // As a run does it, to the same bits.
  Engine& engine = *parts_.engine.engine;
  const bool pending = diagnosis_.wants_gradient(step);
  if (pending) engine.gradient(batch_, step);
  return diagnosis_.look(engine, batch_, step, pending, interventions_.frozen_at(step - 1));
}

void RunLook::restore(std::int64_t step) {
  // A branch began elsewhere: its step 0 is not here.
  if (step == 0 && !read_origin(request_.run))
    parts_.engine.engine->import_state(make_(config_).engine.engine->export_state());
  else
    parts_.engine.engine->import_state(read_checkpoint(request_.run, step).engine);
}

}  // namespace eureka
