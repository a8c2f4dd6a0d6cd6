// Copy: a row of random ids, a separator, then the same ids again; asked for is the next id, from the separator on.
//
// Tokens for length 3: a b c | a b. Answers: - - - a b c. Every answer is an id of the source, at the same distance
// from its beginning as the answer's place from the separator. Who does not look back can do no better than chance, the
// plateau; who looks back anywhere gets somewhat more, and the way from there to the right place is short.
#include <algorithm>
#include <span>

#include "base/random.h"
#include "tasks/task.h"

namespace eureka {
namespace {

struct Options {
  int length = 8;
  int vocabulary = 16;

  template <class V>
  void visit(V& v) {
    v("length", length, Range{1, 4096}, "ids to copy; a sample has twice as many tokens");
    v("vocabulary", vocabulary, Range{2, 65536}, "different ids, not counting the separator");
  }
};

enum class CopyRole : std::uint8_t { source, separator, copy };

class Copy final : public Task {
 public:
  explicit Copy(const Options& options) : length_(options.length), vocabulary_(options.vocabulary) {}

  TaskShape shape() const override {
    return {.tokens = 2 * length_, .classes = vocabulary_, .vocabulary = vocabulary_ + 1, .every_position = true};
  }

  Metric metric() const override { return Metric::accuracy(1.0 / static_cast<double>(vocabulary_)); }

  // In the order of CopyRole.
  std::vector<Role> roles() const override {
    return {{"source", "an id to be copied", true},
            {"separator", "the copy begins after it", false},
            {"copy", "an id that has been copied", false}};
  }

  std::vector<Latent> latents() const override {
    return {{"look_at", static_cast<int>(length_), true}, {"current", static_cast<int>(vocabulary_) + 1}};
  }

  void sample(const SampleRequest& request, Batch& batch) const override {
    batch.resize(request.samples, shape(), 2);
    batch.asked.assign(batch.labels.size(), 0);
    RandomStream random(request.seed, "copy " + request.stream, request.step);
    for (std::int64_t sample = 0; sample < request.samples; ++sample) sample_one(random, sample, batch);
  }

  std::vector<std::int64_t> oracle(const Batch& batch) const override {
    const auto tokens = static_cast<std::size_t>(2 * length_);
    std::vector<std::int64_t> labels(batch.ids.size(), -1);
    for (std::size_t first = 0; first < labels.size(); first += tokens) {
      const auto row = std::span(batch.ids).subspan(first, tokens);
      const auto separator = static_cast<std::size_t>(std::find(row.begin(), row.end(), vocabulary_) - row.begin());
      for (std::size_t i = separator; i < tokens; ++i) labels[first + i] = row[i - separator];
    }
    return labels;
  }

  std::vector<std::int64_t> keys_of_answer(const Batch&, std::int64_t answer) const override {
    const std::int64_t position = answer % (2 * length_);
    return position < length_ ? std::vector<std::int64_t>{} : std::vector{position - length_};
  }

 private:
  void sample_one(RandomStream& random, std::int64_t sample, Batch& batch) const {
    const auto length = static_cast<std::size_t>(length_), first = static_cast<std::size_t>(sample) * 2 * length;
    std::int32_t* ids = batch.ids.data() + first;
    for (std::size_t i = 0; i < length; ++i)
      ids[i] = static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(vocabulary_)));
    ids[length] = static_cast<std::int32_t>(vocabulary_);
    for (std::size_t i = 0; i + 1 < length; ++i) ids[length + 1 + i] = ids[i];
    for (std::size_t i = 0; i < 2 * length; ++i) {
      const auto role = i < length ? CopyRole::source : i == length ? CopyRole::separator : CopyRole::copy;
      batch.roles[first + i] = static_cast<std::uint8_t>(role);
    }
    for (std::size_t i = 0; i < length; ++i) {
      const std::size_t answer = first + length + i;
      batch.asked[answer] = 1;
      batch.labels[answer] = ids[i];
      batch.latents[2 * answer] = static_cast<int>(i);
      batch.latents[2 * answer + 1] = ids[length + i];
    }
  }

  std::int64_t length_;
  std::int64_t vocabulary_;
};

EUREKA_TASK("copy", Copy, Options,
            "sequence: random ids, a separator, and the same ids again, to be predicted one by one");

}  // namespace
}  // namespace eureka
