// eureka condition race: optimisers to a fraction eps of the loss, and whether they stay there.
#include <cmath>

#include "cli/condition.h"
#include "theory/cases.h"

namespace eureka::cli {
namespace {

using theory::Index;
using theory::RaceTrack;
using theory::Start;

struct RaceArguments {
  std::string problem = "planted", start = "both";
  theory::TeacherSize size{24, 8, 8, 2};
  theory::Planted planted{4, .002};
  double temperature = .12;
  std::uint64_t seed = 5;
  int threads = 0;
  theory::RaceOptions options;
  ConditionOutput output;
};

// One method on one track from one start: the unit of parallel work.
struct Heat {
  std::size_t track = 0;
  Start start = Start::near;
  theory::RaceEntry entry;
};

RaceTrack track_of(const RaceArguments& arguments) {
  if (arguments.problem == "logits")
    return theory::logits_track(arguments.size.tokens, arguments.size.outputs, arguments.seed);
  if (arguments.problem == "gaussian")
    return theory::gaussian_track(arguments.size, arguments.temperature, arguments.seed);
  return theory::planted_track(arguments.size, arguments.planted, arguments.seed);
}

ResultCell cell(const std::optional<Index>& value, const char* otherwise) {
  return value ? ResultCell(static_cast<double>(*value)) : ResultCell(std::string(otherwise));
}

int race(const RaceArguments& arguments) {
  const std::vector<RaceTrack> tracks = {track_of(arguments)};
  std::vector<Start> starts;
  if (arguments.start != "far") starts.push_back(Start::near);
  if (arguments.start != "near") starts.push_back(Start::far);
  const ResultTable table = race_table(tracks, starts, arguments.options, threads_or_all(arguments.threads));
  const ConditionReport report{
      fmt::format(
          "Steps to {:g} of the loss on {}: kappa -> kappa(M^-1 GN) (T2, T3), near |e0| = 0.1 |w*|, far from zero",
          arguments.options.eps, tracks[0].name),
      {table, race_kappas(tracks)},
      "",
      fmt::format("last above: last step with the loss above eps, up to {} steps ({} for GD); 'leaves' when it was "
                  "above at the end.",
                  arguments.options.horizon, arguments.options.descent_limit)};
  emit(report, arguments.output);
  return kOk;
}

}  // namespace

ResultTable race_table(const std::vector<RaceTrack>& tracks, const std::vector<Start>& starts,
                       const theory::RaceOptions& options, std::size_t threads) {
  std::vector<Heat> heats;
  for (std::size_t track = 0; track < tracks.size(); ++track)
    for (const theory::RaceEntry& entry : theory::race_entries(tracks[track], options.eps))
      for (const Start start : starts) heats.push_back({track, start, entry});
  const auto results = theory::for_cases(threads, heats, [&](const Heat& heat) {
    return theory::run_entry(tracks[heat.track], heat.start, heat.entry, options);
  });
  ResultTable table({{"problem", "problem", "", Align::left},
                     {"method", "method", "", Align::left},
                     {"start", "start", "", Align::left},
                     {"setting", "best setting", "", Align::left},
                     {"first_hit", "first hit", "{:.0f}"},
                     {"last_above", "last above", "{:.0f}"},
                     {"worst_after_hit", "worst after hit", "{:.0e}"},
                     {"theory", "theory", "{:.0f}"},
                     {"ratio", "hit/theory", "{:.2f}"}});
  for (std::size_t i = 0; i < heats.size(); ++i) {
    const theory::RaceResult& r = results[i];
    table.add_row({tracks[heats[i].track].name, r.name, std::string(heats[i].start == Start::near ? "near" : "far"),
                   r.label, cell(r.first_hit, "never"), r.first_hit ? cell(r.last_above, "leaves") : ResultCell(),
                   r.first_hit ? ResultCell(r.worst_after_hit) : ResultCell(),
                   r.theory ? ResultCell(*r.theory) : ResultCell(),
                   r.theory && r.first_hit ? ResultCell(static_cast<double>(*r.first_hit) / *r.theory) : ResultCell()});
  }
  return table;
}

ResultTable race_kappas(const std::vector<RaceTrack>& tracks) {
  ResultTable table({{"problem", "problem", "", Align::left},
                     {"kappa", "kappa(GN)", "{:.4g}"},
                     {"kappa_diagonal", "kappa_D (diagonal)", "{:.4g}"},
                     {"kappa_fisher", "kappa(F^-1 GN)", "{:.4g}"},
                     {"kappa_gram", "kappa(G2^-1 GN)", "{:.4g}"}});
  for (const RaceTrack& track : tracks)
    table.add_row({track.name, track.plain.kappa(), track.diagonal.kappa(), track.fisher.kappa(), track.gram.kappa()});
  return table;
}

void add_condition_race(CLI::App& condition, Action& chosen) {
  CLI::App* verb = condition.add_subcommand("race", "optimisers to a fraction of the loss: first hit and last above");
  auto arguments = std::make_shared<RaceArguments>();
  verb->add_option("--problem", arguments->problem, "planted, gaussian (model A) or logits (model C)")
      ->check(CLI::IsMember({"planted", "gaussian", "logits"}));
  verb->add_option("--start", arguments->start, "near, far or both")->check(CLI::IsMember({"near", "far", "both"}));
  verb->add_option("--q", arguments->planted.extra_active, "planted: active tokens beyond one per example");
  verb->add_option("--delta", arguments->planted.delta, "planted: relative weight of the other tokens");
  verb->add_option("--temperature", arguments->temperature, "gaussian: logits have deviation 1/tau");
  verb->add_option("--eps", arguments->options.eps, "the finish, as a fraction of the initial loss")
      ->check(CLI::Range(1e-20, 0.9));
  verb->add_option("--horizon", arguments->options.horizon, "steps of every run")->check(CLI::Range(1, 100000000));
  verb->add_option("--seed", arguments->seed, "of data and start");
  add_size_options(*verb, arguments->size);
  add_threads_option(*verb, arguments->threads);
  add_output_options(*verb, arguments->output);
  verb->callback([=, &chosen] { chosen = [=] { return race(*arguments); }; });
}

}  // namespace eureka::cli
