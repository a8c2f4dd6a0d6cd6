// Masked language (BERT, Devlin et al. 2019): a window of text of which 15 in 100 tokens are to be found; of those, 80
// in 100 are hidden behind a mask, 10 are swapped for any token, 10 are left as they are.
//
// The answer is what stood there. Nobody knows it, so there is no oracle.
#include <algorithm>
#include <numeric>

#include "base/random.h"
#include "tasks/text_windows.h"

namespace eureka {
namespace {

enum class MaskRole : std::uint8_t { seen, masked, swapped, kept };

class MaskedLanguage final : public Task {
 public:
  explicit MaskedLanguage(const TextOptions& options)
      : context_(options.context),
        windows_(options, options.context),
        asked_(std::max<std::int64_t>(1, (context_ * 15 + 50) / 100)) {}

  // The mask is an id that is never an answer.
  TaskShape shape() const override {
    return {.tokens = context_,
            .classes = windows_.vocabulary(),
            .vocabulary = windows_.vocabulary() + 1,
            .every_position = true,
            .looks_ahead = true};
  }

  Metric metric() const override { return windows_.metric(); }

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
};

EUREKA_TASK("masked-language", MaskedLanguage, TextOptions,
            "text: hidden characters, words or byte pairs, told by all around them");

}  // namespace
}  // namespace eureka
