// Recall: pairs of key and value, then the keys again in another order, each with its value after it; asked for are
// these values. The task of induction heads (Olsson et al. 2022).
//
// Tokens for two pairs: k1 v1 k2 v2 k2 v2 k1. Answers: - - - - v2 - v1. The hidden step is to find the key among the
// pairs; without it one knows which values there are and says the commonest.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>

#include "base/random.h"
#include "tasks/commonest_share.h"
#include "tasks/task.h"

namespace eureka {
namespace {

struct Options {
  int pairs = 8;
  int keys = 16;
  int values = 16;

  template <class V>
  void visit(V& v) {
    v("pairs", pairs, Range{2, 256}, "pairs in a sequence; each is asked for once");
    v("keys", keys, Range{2, 65536}, "different keys, as many as pairs or more");
    v("values", values, Range{2, 65536}, "different values");
  }
};

enum class RecallRole : std::uint8_t { key, value, query, answer };

class Recall final : public Task {
 public:
  explicit Recall(const Options& options) : pairs_(options.pairs), keys_(options.keys), values_(options.values) {
    if (keys_ < pairs_)
      throw Error(ErrorKind::config, fmt::format("{} pairs need as many keys, not {}", pairs_, keys_), {},
                  fmt::format("for example --set task.keys={}", 2 * pairs_));
  }

  // Keys are the ids below `keys`, values those above. Answers are ids too, as a language model gives them: that it is
  // values which are asked for has to be learned.
  TaskShape shape() const override {
    const std::int64_t ids = keys_ + values_;
    return {.tokens = tokens(), .classes = ids, .vocabulary = ids, .every_position = true};
  }

  // The commonest value of the context, whatever the key.
  Metric metric() const override { return Metric::accuracy(commonest_share(pairs_, values_)); }

  // In the order of RecallRole.
  std::vector<Role> roles() const override {
    return {{"key", "names the value after it", false},
            {"value", "what may be asked for", true},
            {"query", "a key whose value is asked for", false},
            {"answer", "a value that has been told again", false}};
  }

  std::vector<Latent> latents() const override {
    return {{"pair", static_cast<int>(pairs_), true}, {"commonest", static_cast<int>(values_)}};
  }

  bool balanced() const override { return false; }

  void sample(const SampleRequest& request, Batch& batch) const override {
    batch.resize(request.samples, shape(), 2);
    batch.asked.assign(batch.labels.size(), 0);
    RandomStream random(request.seed, "recall " + request.stream, request.step);
    std::vector<std::int32_t> keys(static_cast<std::size_t>(keys_)), order(static_cast<std::size_t>(pairs_));
    for (std::int64_t sample = 0; sample < request.samples; ++sample) {
      std::iota(keys.begin(), keys.end(), 0);
      std::iota(order.begin(), order.end(), 0);
      random.shuffle(std::span<std::int32_t>(keys));
      random.shuffle(std::span<std::int32_t>(order));
      sample_one(random, sample, keys, order, batch);
    }
  }

  std::vector<std::int64_t> oracle(const Batch& batch) const override {
    std::vector<std::int64_t> labels(batch.ids.size(), -1);
    for (std::int64_t answer = 0; answer < static_cast<std::int64_t>(labels.size()); ++answer)
      for (const std::int64_t key : keys_of_answer(batch, answer))
        labels[static_cast<std::size_t>(answer)] =
            batch.ids[static_cast<std::size_t>(answer - answer % tokens() + key)];
    return labels;
  }

  // The value after the key that is asked for.
  std::vector<std::int64_t> keys_of_answer(const Batch& batch, std::int64_t answer) const override {
    const std::int64_t place = answer % tokens();
    if (place < 2 * pairs_ || place % 2 != 0) return {};
    const auto first = static_cast<std::size_t>(answer - place);
    for (std::int64_t pair = 0; pair < pairs_; ++pair)
      if (batch.ids[first + static_cast<std::size_t>(2 * pair)] == batch.ids[static_cast<std::size_t>(answer)])
        return {2 * pair + 1};
    return {};
  }

 private:
  // The last query has no value after it: that one is asked for.
  std::int64_t tokens() const { return 4 * pairs_ - 1; }

  void sample_one(RandomStream& random, std::int64_t sample, std::span<const std::int32_t> keys,
                  std::span<const std::int32_t> order, Batch& batch) const {
    const auto count = static_cast<std::size_t>(pairs_), first = static_cast<std::size_t>(sample * tokens());
    const auto ids = std::span(batch.ids).subspan(first, static_cast<std::size_t>(tokens()));
    const auto roles = std::span(batch.roles).subspan(first, ids.size());
    std::vector<int> counts(static_cast<std::size_t>(values_));
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t value = random.below(static_cast<std::uint32_t>(values_));
      ids[2 * i] = keys[i];
      ids[2 * i + 1] = static_cast<std::int32_t>(keys_ + value);
      ++counts[value];
    }
    const auto commonest = static_cast<int>(std::max_element(counts.begin(), counts.end()) - counts.begin());
    for (std::size_t i = 0; i < count; ++i) {
      const auto pair = static_cast<std::size_t>(order[i]);
      const std::size_t place = 2 * count + 2 * i, answer = first + place;
      ids[place] = ids[2 * pair];
      if (i + 1 < count) ids[place + 1] = ids[2 * pair + 1];
      batch.asked[answer] = 1;
      batch.labels[answer] = ids[2 * pair + 1];
      batch.latents[2 * answer] = order[i];
      batch.latents[2 * answer + 1] = commonest;
    }
    for (std::size_t i = 0; i < roles.size(); ++i) {
      const auto role = i < 2 * count ? (i % 2 == 0 ? RecallRole::key : RecallRole::value)
                                      : (i % 2 == 0 ? RecallRole::query : RecallRole::answer);
      roles[i] = static_cast<std::uint8_t>(role);
    }
  }

  std::int64_t pairs_;
  std::int64_t keys_;
  std::int64_t values_;
};

EUREKA_TASK("recall", Recall, Options, "sequence: pairs of key and value, then the keys asked again");

}  // namespace
}  // namespace eureka
