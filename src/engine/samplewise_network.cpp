#include "engine/samplewise_network.h"

#include <algorithm>

#include "base/error.h"

namespace eureka {

std::size_t microbatch_of(std::size_t rows) {
  constexpr std::size_t kRowsAtOnce = 102;
  return std::max<std::size_t>(1, (kRowsAtOnce + rows / 2) / rows);
}

SamplewiseNetwork::SamplewiseNetwork(FlatLayout layout, const TaskShape& shape, std::size_t rows)
    : FusedNetwork(std::move(layout), shape), rows_(rows), microbatch_(microbatch_of(rows)) {}

void SamplewiseNetwork::pass(const BatchPass& pass, ThreadPool& pool, AnswerSink& sink) {
  EUREKA_CHECK(pool.threads() <= passes_.size(), "a pass for every thread");
  const auto samples = static_cast<std::size_t>(pass.batch.samples);
  const std::size_t count = groups(samples);
  pool.run(count, [&](std::size_t group, std::size_t thread) {
    SamplePass& own = *passes_[thread];
    const std::size_t begin = samples * group / count, end = samples * (group + 1) / count;
    const std::size_t parts = (end - begin + microbatch_ - 1) / microbatch_;
    for (std::size_t part = 0; part < parts; ++part) {
      const std::size_t first = begin + (end - begin) * part / parts;
      const SampleRange range{first, begin + (end - begin) * (part + 1) / parts - first};
      own.forward(pass.batch, range, pass.step, pass.wanted);
      sink.take(range, own.predictions(), own.d_predictions());
      if (!pass.gradients.empty()) own.backward(pass.gradients[group].data());
    }
  });
}

void SamplewiseNetwork::look(const Look& look, ThreadPool&, AnswerSink& sink) {
  if (look.gradient == nullptr) return;
  const auto samples = static_cast<std::size_t>(look.batch.samples);
  for (std::size_t first = 0; first < samples; first += microbatch_) {
    const SampleRange range{first, std::min(microbatch_, samples - first)};
    passes_[0]->forward(look.batch, range, look.step, Wanted::asked);
    sink.take(range, passes_[0]->predictions(), passes_[0]->d_predictions());
    passes_[0]->backward(look.gradient);
  }
}

}  // namespace eureka
