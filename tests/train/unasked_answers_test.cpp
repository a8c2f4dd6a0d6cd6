// Labels and targets that nobody asks for never touch a gradient: garbage there leaves its bits as they are.
#include <gtest/gtest.h>

#include <limits>

#include "engine/fused_engine.h"
#include "tasks/task.h"

namespace eureka {
namespace {

TEST(UnaskedAnswers, LeaveEveryGradientAsItIs) {
  int tried = 0;
  for (const std::string& name : Registry<Task>::instance().names()) {
    const auto task = Registry<Task>::instance().make(name);
    const TaskShape shape = task->shape();
    if (!shape.every_position || shape.looks_ahead) continue;
    SCOPED_TRACE(name);
    Batch batch;
    task->sample({.seed = 5, .stream = "train", .step = 0, .samples = 6}, batch);
    if (batch.asked.empty()) continue;
    EngineConfig config;
    config.shape = shape;
    config.model = "decoder";
    config.total_steps = 10;
    FusedEngine engine(config);
    const auto gradient = [&] {
      const StepResult result = engine.gradient(batch, 0);
      const auto floats = engine.flat_gradient().floats();
      return std::tuple(result.loss, result.accuracy, std::vector<float>(floats.begin(), floats.end()));
    };
    const auto before = gradient();
    const auto numbers = static_cast<std::size_t>(shape.classes);
    for (std::size_t i = 0; i < batch.asked.size(); ++i) {
      if (batch.asks(i)) continue;
      if (!batch.labels.empty()) batch.labels[i] = i % 2 == 0 ? -7 : std::numeric_limits<std::int64_t>::max();
      for (std::size_t k = 0; k < numbers && !batch.targets.empty(); ++k)
        batch.targets[i * numbers + k] = std::numeric_limits<float>::quiet_NaN();
    }
    EXPECT_TRUE(before == gradient());
    ++tried;
  }
  EXPECT_GE(tried, 10);
}

}  // namespace
}  // namespace eureka
