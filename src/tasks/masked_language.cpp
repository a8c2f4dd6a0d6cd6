// Masked language (BERT, Devlin et al. 2019): a window of text of which 15 in 100 tokens are to be found; of those, 80
// in 100 are hidden behind a mask, 10 are swapped for any token, 10 are left as they are.
//
// The answer is what stood there. Nobody knows it, so there is no oracle. The plateau is the level of whoever looks at
// nothing but the place itself: how common tokens are, and what is shown there if it is not the mask.
#include <algorithm>
#include <numbers>
#include <numeric>

#include "base/exact_math.h"
#include "base/random.h"
#include "tasks/text_windows.h"

namespace eureka {
namespace {

double log2_of(double x) { return exact::log(x) / std::numbers::ln2; }

enum class MaskRole : std::uint8_t { seen, masked, swapped, kept };

class MaskedLanguage final : public Task {
 public:
  explicit MaskedLanguage(const TextOptions& options)
      : context_(options.context),
        windows_(options, options.context),
        asked_(std::max<std::int64_t>(1, (context_ * 15 + 50) / 100)),
        metric_(windows_.metric()) {
    metric_.plateau = bits_of_the_place_alone() * metric_.answers_per_unit;
  }

  // The mask is an id that is never an answer.
  TaskShape shape() const override {
    return {.tokens = context_,
            .classes = windows_.vocabulary(),
            .vocabulary = windows_.vocabulary() + 1,
            .every_position = true,
            .looks_ahead = true};
  }

  Metric metric() const override { return metric_; }

  // In the order of MaskRole.
  std::vector<Role> roles() const override {
    return {{"seen", "a piece of the text", true},
            {"masked", "hidden behind the mask, to be found", false},
            {"swapped", "another token in its place, to be found", false},
            {"kept", "left as it is, to be found all the same", false}};
  }

  std::vector<Latent> latents() const override { return {}; }

  bool balanced() const override { return false; }

  void sample(const SampleRequest& request, Batch& batch) const override {
    batch.resize(request.samples, shape(), 0);
    batch.asked.assign(batch.labels.size(), 0);
    std::fill(batch.roles.begin(), batch.roles.end(), static_cast<std::uint8_t>(MaskRole::seen));
    RandomStream random(request.seed, "masked-language " + request.stream, request.step);
    const auto tokens = static_cast<std::size_t>(context_);
    std::vector<std::size_t> places(tokens);
    for (std::size_t first = 0; first < batch.ids.size(); first += tokens) {
      windows_.draw(random, request.stream, std::span(batch.ids).subspan(first, tokens));
      std::copy_n(batch.ids.begin() + static_cast<std::ptrdiff_t>(first), tokens,
                  batch.labels.begin() + static_cast<std::ptrdiff_t>(first));
      std::iota(places.begin(), places.end(), first);
      random.shuffle(std::span(places));
      for (std::size_t i = 0; i < static_cast<std::size_t>(asked_); ++i) hide(random, places[i], batch);
    }
  }

 private:
  // Of an answer, by the frequencies of the training part on the validation part.
  double bits_of_the_place_alone() const {
    // Nothing is impossible to who has seen a part only.
    const std::vector<double> known = windows_.frequencies(Split::train, 1),
                              true_ones = windows_.frequencies(Split::test, 0);
    const auto classes = static_cast<double>(known.size());
    // A token that is shown is the answer if it was kept; a swapped one may be any.
    const auto kept = [&](double frequency) { return frequency / (frequency + 1 / classes); };
    double swapped_bits = 0;  // of "it was swapped", over all tokens that may be shown
    for (const double frequency : known) swapped_bits -= log2_of(1 - kept(frequency));
    double bits = 0;
    for (std::size_t id = 0; id < known.size(); ++id) {
      const double own = -log2_of(known[id]), stays = kept(known[id]);
      const double if_shown = -log2_of(stays + (1 - stays) * known[id]);
      const double if_another = ((classes - 1) * own + swapped_bits + log2_of(1 - stays)) / classes;
      bits += true_ones[id] * (0.8 * own + 0.1 * if_shown + 0.1 * (if_shown / classes + if_another));
    }
    return bits;
  }

  void hide(RandomStream& random, std::size_t place, Batch& batch) const {
    const std::uint32_t chance = random.below(10);
    const MaskRole role = chance < 8 ? MaskRole::masked : chance == 8 ? MaskRole::swapped : MaskRole::kept;
    const auto classes = static_cast<std::uint32_t>(windows_.vocabulary());
    batch.asked[place] = 1;
    batch.roles[place] = static_cast<std::uint8_t>(role);
    if (role == MaskRole::masked) batch.ids[place] = static_cast<std::int32_t>(classes);
    if (role == MaskRole::swapped) batch.ids[place] = static_cast<std::int32_t>(random.below(classes));
  }

  std::int64_t context_;
  TextWindows windows_;
  std::int64_t asked_;  // tokens of a sample
  Metric metric_;
};

EUREKA_TASK("masked-language", MaskedLanguage, TextOptions,
            "text: hidden characters, words or byte pairs, told by all around them");

}  // namespace
}  // namespace eureka
