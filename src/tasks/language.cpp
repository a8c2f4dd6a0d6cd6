// Language: a window of text; asked for at every token is the next one.
//
// Nobody knows it, so there is no oracle, and no plateau is expected: text is learned smoothly. What may come suddenly
// is looked at by the streams "induction" and "induction first half": random tokens, and then the same again. Who has
// learned to look for what came after the last time is right in the second half, where others can only guess.
#include "base/random.h"
#include "tasks/text_windows.h"

namespace eureka {
namespace {

class Language final : public Task {
 public:
  explicit Language(const TextOptions& options) : context_(options.context), windows_(options, options.context + 1) {}

  TaskShape shape() const override {
    return {.tokens = context_,
            .classes = windows_.vocabulary(),
            .vocabulary = windows_.vocabulary(),
            .every_position = true};
  }

  Metric metric() const override { return windows_.metric(); }

  std::vector<Role> roles() const override { return {{"token", "a piece of the text", true}}; }

  std::vector<Latent> latents() const override { return {}; }

  // Both ask about the same sequences: the second half against the first.
  std::vector<Probe> probes() const override {
    return {{"induction", kInduction}, {"induction_first_half", kFirstHalf}};
  }

  bool balanced() const override { return false; }

  void sample(const SampleRequest& request, Batch& batch) const override {
    batch.resize(request.samples, shape(), 0);
    std::fill(batch.roles.begin(), batch.roles.end(), std::uint8_t{0});
    const bool first_half = request.stream == kFirstHalf, second_half = request.stream == kInduction;
    if (first_half || second_half) batch.asked.assign(batch.labels.size(), 0);
    RandomStream random(request.seed, "language " + (first_half ? std::string(kInduction) : request.stream),
                        request.step);
    const auto tokens = static_cast<std::size_t>(context_);
    std::vector<std::int32_t> window(tokens + 1);
    for (std::size_t first = 0; first < batch.ids.size(); first += tokens) {
      if (first_half || second_half) {
        repeat(random, window);
        const std::size_t half = tokens / 2;
        const std::size_t begin = first_half ? 0 : half, end = first_half ? half - 1 : 2 * half - 1;
        std::fill(batch.asked.begin() + static_cast<std::ptrdiff_t>(first + begin),
                  batch.asked.begin() + static_cast<std::ptrdiff_t>(first + end), std::uint8_t{1});
      } else {
        windows_.draw(random, request.stream, window);
      }
      for (std::size_t i = 0; i < tokens; ++i) {
        batch.ids[first + i] = window[i];
        batch.labels[first + i] = window[i + 1];
      }
    }
  }

 private:
  static constexpr const char* kInduction = "induction";
  static constexpr const char* kFirstHalf = "induction first half";

  // Random known tokens, as many as half the context, again and again.
  void repeat(RandomStream& random, std::vector<std::int32_t>& window) const {
    const auto half = static_cast<std::size_t>(context_ / 2);
    const auto known = static_cast<std::uint32_t>(windows_.vocabulary() - 1);
    for (std::size_t i = 0; i < window.size(); ++i)
      window[i] = i < half ? static_cast<std::int32_t>(1 + random.below(known)) : window[i - half];
  }

  std::int64_t context_;
  TextWindows windows_;
};

EUREKA_TASK("language", Language, TextOptions, "text: the next character, word or byte pair, at every position");

}  // namespace
}  // namespace eureka
