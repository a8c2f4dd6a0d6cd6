// Which part of a training step a thread is in, for a profile that interrupts it (measure/step_profile.h). Marking a
// part is one store of a byte, so the marks stay in.
//
//   InPart part(WorkPart::layer_norm);
//   layer_norm(...);
//   part.next(WorkPart::products);
//   multiply(...);                          at the end of the scope the part from before it is back
#pragma once

#include <atomic>
#include <cstdint>

namespace eureka {

enum class WorkPart : std::uint8_t {
  rest,  // what nobody has marked
  embedding,
  layer_norm,
  products,
  weight_gradients,
  attention,
  loss,
  optimizer,  // and what prepares the weights for the products
};
inline constexpr std::size_t kWorkParts = 8;

// Of this thread. Atomic because a signal handler of the same thread reads it.
inline constinit thread_local std::atomic<WorkPart> current_work_part{WorkPart::rest};
static_assert(std::atomic<WorkPart>::is_always_lock_free, "read from a signal handler");

class InPart {
 public:
  explicit InPart(WorkPart part) : before_(current_work_part.load(std::memory_order_relaxed)) { next(part); }
  InPart(const InPart&) = delete;
  InPart& operator=(const InPart&) = delete;
  ~InPart() { next(before_); }

  // The work from here to the end of the scope, or to another call.
  void next(WorkPart part) { current_work_part.store(part, std::memory_order_relaxed); }

 private:
  const WorkPart before_;
};

}  // namespace eureka
