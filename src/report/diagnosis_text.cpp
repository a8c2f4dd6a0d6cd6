#include "report/diagnosis_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/printable.h"
#include "diagnostics/diagnostic.h"
#include "report/curve_figures.h"
#include "report/diagnosis_advice.h"
#include "report/table.h"

namespace eureka {
namespace {

constexpr int kMostOfName = 24;

std::string number_text(const std::optional<double>& value) { return value ? fmt::format("{:#.4g}", *value) : "-"; }

// Lines that are no wider than the terminal.
std::string fitted(const std::string& lines, int width) {
  std::string text;
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t end = lines.find('\n', begin);
    text += clipped(lines.substr(begin, end - begin), width) + "\n";
    begin = end + 1;
  }
  return text;
}

// Closer together where the terminal is narrow.
std::string table_text(const TextTable& table, const DiagnosisTextOptions& options) {
  TableStyle style{.bold_header = options.color, .most_of_first = kMostOfName};
  while (style.gap > 1 && table.width(style) > options.width) --style.gap;
  return fitted(table.str(style), options.width);
}

std::string metric_text(const RunDiagnosis& run) {
  const std::string label = metric_label(run.metric);
  return label.substr(0, label.find(" ("));
}

std::string standing_text(const RunDiagnosis& run) {
  const CurveStanding& curve = run.curve;
  const std::string metric = metric_text(run);
  const std::string now = curve.last_value
                              ? fmt::format("step {:.0f}, {} {:.3f}", curve.last_step, metric, *curve.last_value)
                              : "no row yet";
  switch (curve.state) {
    case CurveState::moment:
      return fmt::format("It had its moment at step {:.0f}, after a plateau at {:.3f} since step {:.0f}; {}.",
                         *curve.step, curve.plateau->level, curve.plateau->start, now);
    case CurveState::on_plateau:
      return fmt::format("On a plateau since step {:.0f}, at {:.3f}, and still there: {}.", curve.plateau->start,
                         curve.plateau->level, now);
    case CurveState::at_rest:
      return fmt::format(
          "At rest since step {:.0f}, at {:.3f}: {}. Whether that is a plateau or all there is to learn, nobody has "
          "said.",
          curve.plateau->start, curve.plateau->level, now);
    case CurveState::under_way:
      return fmt::format("In a rise off its plateau at {:.3f} since step {:.0f}: {}.", curve.plateau->level,
                         *curve.step, now);
    case CurveState::grokking:
      return fmt::format("Grokking at step {:.0f}, long after training was solved: no moment; {}.", *curve.step, now);
    case CurveState::no_plateau:
      return fmt::format("No moment, and no plateau to leave: {}.", now);
    case CurveState::too_short:
      return fmt::format("Too short to say whether this is a plateau: {}.", now);
  }
  return "";
}

std::string looks_text(const RunDiagnosis& run, AttentionLook LayerDiagnosis::*phase,
                       const DiagnosisTextOptions& options) {
  TextTable table({{"layer", Align::left}, {"entropy"}, {"qk_to_v"}, {"through_softmax"}});
  for (const LayerDiagnosis& layer : run.layers) {
    const AttentionLook& look = layer.*phase;
    table.add_row(
        {layer.layer, number_text(look.entropy), number_text(look.qk_to_v), number_text(look.through_softmax)});
  }
  return table_text(table, options);
}

std::string meanings(const std::vector<LayerDiagnosis>& layers, const DiagnosisTextOptions& options) {
  const bool of_activations =
      std::any_of(layers.begin(), layers.end(), [](const LayerDiagnosis& layer) { return !layer.of_parameters; });
  const auto line = [&](const char* number, const std::string& meaning, const std::string& unit) {
    return wrapped(fmt::format("{} [{}]", meaning, unit), options.width, fmt::format(" {:<16} ", number),
                   std::string(18, ' '));
  };
  return line("entropy", "how even the weights of a row are: 0 one key, 1 all alike",
              unit_of_number("attention", "entropy")) +
         line("qk_to_v",
              of_activations ? "gradient of W_Q and W_K, or of queries and keys where parameters could not be told "
                               "apart, by that of W_V or the values"
                             : "gradient of W_Q and W_K by that of W_V",
              unit_of_number("gradients", "qk_to_v")) +
         line("through_softmax", "what is left of the gradient of the weights behind the softmax",
              unit_of_number("attenuation", "through_softmax"));
}

std::string shares_text(const LayerDiagnosis& layer) {
  return fmt::format("{} {} of {} gradient", layer.of_parameters ? "W_Q and W_K get" : "queries and keys get",
                     number_text(layer.first.qk_to_v), layer.of_parameters ? "W_V's" : "the values'");
}

std::string reading_text(const RunDiagnosis& run, const LayerDiagnosis& layer) {
  const std::string even = fmt::format("the weights are as even as {} of 1", number_text(layer.first.entropy));
  switch (layer.reading) {
    case SoftmaxReading::starved_even:
      return fmt::format("starved at the start, because attention is spread evenly: {}, {}.", shares_text(layer), even);
    case SoftmaxReading::starved:
      return fmt::format("starved at the start, and not because attention is even: {}, {}.", shares_text(layer), even);
    case SoftmaxReading::narrow: {
      const bool at_start = layer.first.entropy && *layer.first.entropy < kNarrowAttention;
      const AttentionLook& look = at_start ? layer.first : layer.plateau;
      return fmt::format(
          "narrow {}: the weights are as even as {} of 1, next to one key alone, and the softmax lets {} through.",
          at_start ? "from the start" : "on the plateau", number_text(look.entropy), number_text(look.through_softmax));
    }
    case SoftmaxReading::not_starved:
      return fmt::format("not starved at the start: {}, {}.", shares_text(layer), even);
    case SoftmaxReading::not_known:
      break;
  }
  if (layer.missing.empty())
    return fmt::format(
        "not known: the first look is at step {:.0f}, and whether W_Q and W_K starve shows at the start.",
        *run.first_look);
  return fmt::format("not known: nobody looked with {}.", fmt::join(layer.missing, ", "));
}

std::string title_of(const RunDiagnosis& run) {
  std::string title = printable(run.directory.string());
  if (!run.rule.empty()) title += " · " + printable(run.rule);
  if (run.seed && run.program.empty()) title += fmt::format(" · seed {}", *run.seed);
  if (!run.program.empty()) title += " · watched in " + printable(run.program);
  return title;
}

}  // namespace

std::string diagnosis_text(const RunDiagnosis& run, std::optional<std::int64_t> branch_at,
                           const DiagnosisTextOptions& options) {
  const int width = std::clamp(options.width, 20, 110);
  const DiagnosisTextOptions inner{width, options.color};
  std::string text = wrapped(title_of(run), width) + wrapped(standing_text(run), width);
  if (!run.layers.empty()) {
    text += fmt::format("\nat the first look, step {:.0f}\n{}", *run.first_look,
                        looks_text(run, &LayerDiagnosis::first, inner));
    if (run.plateau_looks > 0)
      text += wrapped(fmt::format("on the plateau, median of {} look{}", run.plateau_looks,
                                  run.plateau_looks == 1 ? "" : "s"),
                      width) +
              looks_text(run, &LayerDiagnosis::plateau, inner);
    text += meanings(run.layers, inner) + "\n";
  }
  for (const LayerDiagnosis& layer : run.layers)
    text += wrapped(
        fmt::format("{}: {}", layer.module.empty() ? layer.layer : fmt::format("{} ({})", layer.layer, layer.module),
                    reading_text(run, layer)),
        width, "· ", "  ");
  const Advice advice = advice_for(run, branch_at);
  text += "\n";
  for (const std::string& sentence : advice.sentences) text += wrapped(sentence, width);
  for (const std::string& command : advice.commands) text += command + "\n";
  return text;
}

std::string diagnosis_text(const StudyDiagnosis& study, const DiagnosisTextOptions& options) {
  const int width = std::clamp(options.width, 20, 200);
  const DiagnosisTextOptions inner{width, options.color};
  std::string text = wrapped(study.directory.string(), width);
  std::vector<LayerDiagnosis> all;
  for (const auto& [name, arms] : study.points) {
    if (!name.empty()) text += fmt::format("\n{}\n", printable(name));
    TextTable readings({{"arm", Align::left}, {"moments"}, {"starved"}, {"narrow"}, {"not starved"}, {"not known"}});
    TextTable first({{"arm", Align::left}, {"layer", Align::left}, {"entropy"}, {"qk_to_v"}, {"through_softmax"}});
    TextTable plateau = first;
    for (const ArmDiagnosis& arm : arms) {
      const auto count = [&](SoftmaxReading reading) { return arm.read_as(reading); };
      readings.add_row({arm.name, fmt::format("{}/{}", arm.moments(), arm.runs.size()),
                        fmt::format("{}", count(SoftmaxReading::starved_even) + count(SoftmaxReading::starved)),
                        fmt::format("{}", count(SoftmaxReading::narrow)),
                        fmt::format("{}", count(SoftmaxReading::not_starved)),
                        fmt::format("{}", count(SoftmaxReading::not_known))});
      for (const LayerDiagnosis& layer : arm.layers()) {
        for (const auto& [table, look] : {std::pair{&first, &layer.first}, std::pair{&plateau, &layer.plateau}})
          table->add_row({arm.name, layer.layer, number_text(look->entropy), number_text(look->qk_to_v),
                          number_text(look->through_softmax)});
        all.push_back(layer);
      }
      for (const RunDiagnosis& run : arm.runs) all.insert(all.end(), run.layers.begin(), run.layers.end());
    }
    text += table_text(readings, inner);
    if (all.empty()) continue;
    text += "\n" + wrapped("at the first look, medians over the runs", width) + table_text(first, inner) +
            wrapped("on the plateau, medians over the runs", width) + table_text(plateau, inner);
  }
  if (!all.empty()) return text + meanings(all, inner);
  const std::string place = study.directory.string();
  return text + "\n" +
         wrapped("Not known: nobody looked at the attention of these runs. A study that is looked at:", width) +
         fmt::format("eureka study {} --out {} --set diagnose.names=gradients,attention,attenuation\n",
                     shell_word(place + "/study.toml"), shell_word(place + "-looked-at"));
}

}  // namespace eureka
