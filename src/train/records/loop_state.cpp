#include "train/records/loop_state.h"

#include <limits>
#include <optional>

#include "io/json.h"
#include "train/records/record.h"

namespace eureka {
namespace {

constexpr RecordKind kKind{"the state of a checkpoint", 1, "resume from an earlier checkpoint"};

// A sum that has become infinite was written as null; what is made of it is null again.
double sum(const RecordReader& fields, const char* key) {
  return fields.get<std::optional<double>>(key).value_or(std::numeric_limits<double>::quiet_NaN());
}

}  // namespace

std::string to_text(const LoopState& loop) {
  Json json = {{"step", loop.step},
               {"metrics_bytes", loop.metrics_bytes},
               {"events_bytes", loop.events_bytes},
               {"tensorboard_bytes", loop.tensorboard_bytes},
               {"loss_sum", loop.loss_sum},
               {"accuracy_sum", loop.accuracy_sum},
               {"gradient_norm_sum", loop.gradient_norm_sum},
               {"sum_steps", loop.sum_steps}};
  if (loop.temporary) json["temporary"] = true;
  if (loop.around_moment) json["around_moment"] = true;
  return json.dump(1) + "\n";
}

LoopState parse_loop_state(std::string_view text, const std::string& where) {
  const RecordReader fields(text, kKind, where);
  return {.step = fields.get<std::int64_t>("step"),
          .temporary = fields.get_or<bool>("temporary", false),
          .around_moment = fields.get_or<bool>("around_moment", false),
          .metrics_bytes = fields.get<std::uint64_t>("metrics_bytes"),
          .events_bytes = fields.get<std::uint64_t>("events_bytes"),
          .tensorboard_bytes = fields.get<std::uint64_t>("tensorboard_bytes"),
          .loss_sum = sum(fields, "loss_sum"),
          .accuracy_sum = sum(fields, "accuracy_sum"),
          .gradient_norm_sum = sum(fields, "gradient_norm_sum"),
          .sum_steps = fields.get<std::int64_t>("sum_steps")};
}

}  // namespace eureka
