#include "report/diagnosis_advice.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/printable.h"

namespace eureka {
namespace {

constexpr double kStep = 4;  // what sharper and softer were measured with

struct Change {
  std::string name, setting;  // of the arm; section.key=value
  std::string cure, arm;      // what eureka.cure takes, and eureka.rescue
};

Change by_scale(const RunDiagnosis& run, double factor) {
  const double multiple = run.scale.value_or(1) * factor;
  return {fmt::format("scale-{:g}", multiple), fmt::format("attention.scale.multiple={:g}", multiple),
          fmt::format("\"scale\", multiple={:g}", factor),
          fmt::format("{{\"rule\": \"scale\", \"multiple\": {:g}}}", factor)};
}

// None where a schedule sets the scale of attention that is narrow. NormSoftmax was not measured there.
std::vector<Change> changes_for(const RunDiagnosis& run) {
  std::vector<Change> changes;
  const bool is_narrow = run.reading() == SoftmaxReading::narrow;
  if (run.scale || !run.program.empty()) changes.push_back(by_scale(run, is_narrow ? 1 / kStep : kStep));
  if (!is_narrow && run.rule.find("norm_softmax") == std::string::npos)
    changes.push_back(
        {"norm_softmax", "attention.rule=norm_softmax", "\"norm_softmax\"", "{\"rule\": \"norm_softmax\"}"});
  return changes;
}

// The file of a study of this very run with and without each change.
void add_study(const RunDiagnosis& run, const std::vector<Change>& changes, std::vector<std::string>& commands) {
  commands.emplace_back("cat > paired.toml <<'END'");
  commands.emplace_back("[study]");
  commands.push_back(fmt::format("base = {}", Json(printable((run.directory / "config.toml").string())).dump()));
  commands.emplace_back("seeds = 10");
  commands.emplace_back("set.train.until = 'moment'");
  commands.emplace_back("[[arm]]");
  commands.emplace_back("name = 'as-it-is'");
  for (const Change& change : changes) {
    commands.emplace_back("[[arm]]");
    commands.push_back(fmt::format("name = '{}'", change.name));
    const std::size_t equals = change.setting.find('=');
    const std::string value = change.setting.substr(equals + 1);
    commands.push_back(fmt::format("set.{} = {}", change.setting.substr(0, equals),
                                   change.setting.starts_with("attention.rule") ? "'" + value + "'" : value));
  }
  commands.emplace_back("END");
  commands.emplace_back("eureka study paired.toml --out studies/paired");
}

void add_trials(const RunDiagnosis& run, std::optional<std::int64_t> branch_at, Advice& advice) {
  const std::vector<Change> changes = changes_for(run);
  if (changes.empty()) return;
  const std::string place = shell_word(run.directory.string());
  if (!run.program.empty()) {
    for (const Change& change : changes)
      advice.commands.push_back(fmt::format("with eureka.cure(model, {}): train(model)", change.cure));
    std::string arms;
    for (const Change& change : changes)
      arms += fmt::format("{}\"{}\": {}", arms.empty() ? "" : ", ", change.name, change.arm);
    advice.commands.push_back(fmt::format("print(eureka.rescue(make_run, {{{}}}, seeds=range(10)))", arms));
    return;
  }
  for (const Change& change : changes)
    advice.commands.push_back(fmt::format("eureka train {} --set {}", place, change.setting));
  if (branch_at && run.curve.state == CurveState::on_plateau)
    for (const Change& change : changes)
      advice.commands.push_back(fmt::format("eureka branch {}@{} --set {}", place, *branch_at, change.setting));
  add_study(run, changes, advice.commands);
}

// What is missing, and the command that records it.
void add_looks(const RunDiagnosis& run, Advice& advice) {
  const std::string place = shell_word(run.directory.string());
  if (!run.program.empty()) {
    advice.commands.emplace_back(
        "with eureka.watch(model, every=25, out=\"runs/again\") as w:   # from the first step on");
    advice.commands.emplace_back(
        "    ...                                                     # w.step(loss=loss) after each update");
    return;
  }
  advice.commands.push_back(fmt::format(
      "eureka train {} --set diagnose.names=gradients,attention,attenuation --set diagnose.every=0", place));
  advice.commands.push_back(
      fmt::format("eureka look {}@0 --diagnostic gradients,attention,attenuation --training", place));
}

// Counted on runs that had no part in choosing the thresholds: docs/diagnose.md.
constexpr const char* kStarvedThen =
    "What to try: a sharper scale, or a rule that keeps attention sharp. Of 68 runs of ours that were read so, "
    "four times the scale brought the moment sooner in 56, later in 3. The reading tells softmax from its cures, not a "
    "run that will leave its plateau from one that will not.";
constexpr const char* kNarrowThen =
    "What to try: a softer scale. Of 75 runs of ours that were read so, a quarter of the scale brought the "
    "moment sooner in 50, later in 3; the others had no moment either way.";
constexpr const char* kNotStarvedThen =
    "No sign that the softmax is the obstacle. Of 185 runs of ours that were read so, four times the scale brought the "
    "moment sooner in 48, later in 104; of 186, a quarter of it sooner in 69, later in 82.";
constexpr const char* kElsewhere =
    "Whether the answer can be read off already, a probe tells; what causes the plateau, an intervention "
    "(docs/interventions.md).";
constexpr const char* kCount =
    "One run proves nothing: count over paired seeds, with and without. How often a reading was right: "
    "docs/diagnose.md.";

}  // namespace

std::string shell_word(const std::string& text) {
  const bool is_plain = !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("/._-=,+@").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (is_plain) return text;
  std::string word = "'";
  for (const char c : printable(text)) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

Advice advice_for(const RunDiagnosis& run, std::optional<std::int64_t> branch_at) {
  Advice advice;
  switch (run.reading()) {
    case SoftmaxReading::starved_even:
    case SoftmaxReading::starved:
      advice.sentences = {kStarvedThen, kCount};
      add_trials(run, branch_at, advice);
      break;
    case SoftmaxReading::narrow:
      advice.sentences = {kNarrowThen, kCount};
      add_trials(run, branch_at, advice);
      break;
    case SoftmaxReading::not_starved:
      advice.sentences = {kNotStarvedThen, kElsewhere};
      if (run.program.empty())
        advice.commands.push_back(fmt::format("eureka look {}@{} --diagnostic probes --samples 1000",
                                              shell_word(run.directory.string()), branch_at.value_or(0)));
      break;
    case SoftmaxReading::not_known:
      advice.sentences = {run.layers.empty()
                              ? "Not known: nobody looked at the attention of this run. A run that is looked at:"
                              : "A run that has what is missing:"};
      add_looks(run, advice);
      break;
  }
  if (!run.has_config) {
    advice.sentences.emplace_back("Without its config.toml this run cannot be trained again.");
    advice.commands.clear();
  }
  return advice;
}

}  // namespace eureka
