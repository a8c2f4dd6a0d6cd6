// Optimizers to a fraction eps of the loss, and whether they stay there.
#include <fmt/format.h>

#include "report/condition_report.h"
#include "theory/cases.h"

namespace eureka {
namespace {

using theory::Index;
using theory::RaceTrack;
using theory::Start;

// One method on one track from one start: the unit of parallel work.
struct Heat {
  std::size_t track = 0;
  Start start = Start::near;
  theory::RaceEntry entry;
};

ResultCell cell(const std::optional<Index>& value, const char* otherwise) {
  return value ? ResultCell(static_cast<double>(*value)) : ResultCell(std::string(otherwise));
}

// "287 to never" where a change of the data by 1e-7 decides when it comes.
std::string twins_text(const std::optional<theory::TwinHits>& chaos) {
  if (!chaos) return "same";
  return fmt::format("chaotic: {} to {}", chaos->earliest,
                     chaos->latest ? fmt::format("{}", *chaos->latest) : std::string("never"));
}

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
                     {"twins", "twins", "", Align::left},
                     {"last_above", "last above", "{:.0f}"},
                     {"worst_after_hit", "worst after hit", "{:.0e}"},
                     {"theory", "theory", "{:.0f}"},
                     {"ratio", "hit/theory", "{:.2f}"}});
  for (std::size_t i = 0; i < heats.size(); ++i) {
    const theory::RaceResult& r = results[i];
    table.add_row({tracks[heats[i].track].name, r.name, std::string(heats[i].start == Start::near ? "near" : "far"),
                   r.label, cell(r.first_hit, "never"), twins_text(r.chaos),
                   r.first_hit && !r.chaos ? cell(r.last_above, "leaves") : ResultCell(),
                   r.first_hit && !r.chaos ? ResultCell(r.worst_after_hit) : ResultCell(),
                   r.theory ? ResultCell(*r.theory) : ResultCell(),
                   r.theory && r.first_hit && !r.chaos ? ResultCell(static_cast<double>(*r.first_hit) / *r.theory)
                                                       : ResultCell()});
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

std::string names_of(const std::vector<RaceTrack>& tracks) {
  std::string names;
  for (const RaceTrack& track : tracks) names += (names.empty() ? "" : ", ") + track.name;
  return names;
}

}  // namespace

ConditionReport race_report(const std::vector<RaceTrack>& tracks, const std::vector<Start>& starts,
                            const theory::RaceOptions& options, std::size_t threads) {
  return {
      fmt::format(
          "Steps to {:g} of the loss on {}: kappa -> kappa(M^-1 GN) (T2, T3), near |e0| = 0.1 |w*|, far from zero",
          options.eps, names_of(tracks)),
      {race_table(tracks, starts, options, threads), race_kappas(tracks)},
      {},
      fmt::format("twins: the same steps on data changed by 1e-7, four times; \"chaotic\" where they do not hit within "
                  "2% of the first hit, which then says nothing of the method. last above: last step with the "
                  "loss above eps, up to {} steps ({} for GD); 'leaves' when it was "
                  "above at the end.",
                  options.horizon, options.descent_limit)};
}

}  // namespace eureka
