#include "io/column_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace eureka {
namespace {

template <std::size_t N>
bool has_word(const std::vector<std::string>& words, const std::array<std::string_view, N>& wanted) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return std::find(wanted.begin(), wanted.end(), word) != wanted.end();
  });
}

bool has_part(const std::vector<std::string>& words, std::string_view part) {
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return word.find(part) != std::string::npos; });
}

}  // namespace

std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  bool after_lower = false;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    const bool upper = std::isupper(byte) != 0;
    if ((std::isalnum(byte) == 0 || (upper && after_lower)) && !words.back().empty()) words.emplace_back();
    if (std::isalnum(byte) != 0) words.back().push_back(static_cast<char>(std::tolower(byte)));
    after_lower = std::islower(byte) != 0;
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

bool is_clock(const std::vector<std::string>& words) {
  static constexpr std::array<std::string_view, 9> kClock = {"time",    "timestamp", "walltime", "runtime", "date",
                                                             "elapsed", "seconds",   "duration", "hours"};
  return has_word(words, kClock);
}

int step_likeness(std::string_view name) {
  static constexpr std::array<std::string_view, 17> kUsual = {
      "step",  "global step", "iteration",           "iter",         "steps",   "iterations",
      "iters", "train step",  "trainer global step", "update",       "updates", "num steps",
      "it",    "batch",       "tokens seen",         "samples seen", "epoch"};
  const std::string normal = fmt::format("{}", fmt::join(words_of(name), " "));
  const auto found = std::find(kUsual.begin(), kUsual.end(), normal);
  if (found != kUsual.end()) return static_cast<int>(2 * (kUsual.end() - found));
  static constexpr std::array<std::string_view, 4> kGrouped = {"/step", ".step", "/_step", "global_step"};
  return std::any_of(kGrouped.begin(), kGrouped.end(), [&](auto ending) { return name.ends_with(ending); }) ? 1 : 0;
}

int curve_likeness(const std::vector<std::string>& words) {
  static constexpr std::array<std::string_view, 8> kHeldOut = {"val",        "valid", "validation", "eval",
                                                               "evaluation", "test",  "dev",        "heldout"};
  static constexpr std::array<std::string_view, 4> kAccuracy = {"acc", "acc1", "top1", "accuracies"};
  // W&B adds __MIN and __MAX; a best-so-far curve hides the plateau it came from.
  static constexpr std::array<std::string_view, 6> kDerived = {"min", "max", "std", "best", "count", "weight"};
  if (has_word(words, kDerived) || is_clock(words)) return 0;
  const bool held_out = has_word(words, kHeldOut);
  if (has_word(words, kAccuracy) || has_part(words, "accuracy")) return held_out ? 4 : 3;
  static constexpr std::array<std::string_view, 2> kLoss = {"nll", "perplexity"};
  if (has_word(words, kLoss) || has_part(words, "loss")) return held_out ? 2 : 1;
  return 0;
}

}  // namespace eureka
