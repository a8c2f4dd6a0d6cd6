// What the algorithmic sequence tasks share (after Gopalani & Hu 2025): source ids, a separator, then the outputs of an
// algorithm, each given to the next (teacher forcing); asked for are the outputs. A task of this family says:
//
//   class PrefixSum final : public AlgorithmTask {
//     void draw(RandomStream& random, const std::string& stream, std::span<std::int32_t> source) const override;
//     void solve(Ids source, std::span<std::int32_t> outputs) const override;               the algorithm
//     std::vector<std::int64_t> keys(Ids source, std::int64_t output) const override;       what an output looks at
//     void explain(Ids source, Ids outputs, std::int64_t output, std::span<int> latents) const override;
//   };
//
// Tokens for three of each: x1 x2 x3 | y1 y2. Answers: - - - y1 y2 y3.
#pragma once

#include <span>

#include "base/random.h"
#include "tasks/task.h"

namespace eureka {

struct AlgorithmSizes {
  std::int64_t source = 0;     // ids before the separator
  std::int64_t outputs = 0;    // ids that are asked for
  std::int64_t classes = 0;    // outputs lie below it
  std::int64_t separator = 0;  // its id, above all others
};

class AlgorithmTask : public Task {
 public:
  TaskShape shape() const final;
  std::vector<Role> roles() const final;
  void sample(const SampleRequest& request, Batch& batch) const final;
  std::vector<std::int64_t> oracle(const Batch& batch) const final;
  std::vector<std::int64_t> keys_of_answer(const Batch& batch, std::int64_t answer) const final;

 protected:
  using Ids = std::span<const std::int32_t>;

  // `name` tells the random numbers of one task from those of another.
  AlgorithmTask(std::string name, AlgorithmSizes sizes) : name_(std::move(name)), sizes_(sizes) {}

  virtual void draw(RandomStream& random, const std::string& stream, std::span<std::int32_t> source) const = 0;
  virtual void solve(Ids source, std::span<std::int32_t> outputs) const = 0;
  // Places in the source. The output before, which may count too, stands where the answer is given: no need to look.
  virtual std::vector<std::int64_t> keys(Ids source, std::int64_t output) const = 0;
  virtual void explain(Ids source, Ids outputs, std::int64_t output, std::span<int> latents) const = 0;

  const AlgorithmSizes& sizes() const { return sizes_; }
  // Ids uniform in `low` to `high`.
  static void draw_uniform(RandomStream& random, std::int64_t low, std::int64_t high, std::span<std::int32_t> ids);

 private:
  enum class AlgorithmRole : std::uint8_t { source, separator, output };

  void sample_one(RandomStream& random, const std::string& stream, std::size_t sample, std::size_t latent_count,
                  std::vector<std::int32_t>& outputs, Batch& batch) const;
  std::size_t tokens() const { return static_cast<std::size_t>(sizes_.source + sizes_.outputs); }

  std::string name_;
  AlgorithmSizes sizes_;
};

}  // namespace eureka
