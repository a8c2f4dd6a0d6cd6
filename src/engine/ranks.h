// One run over several processes, the ranks: each has the whole model and takes its share of every batch, their
// gradients are added up, and rank 0 alone reads and writes the run.
//
//   std::optional<RankPlace> place = place_in_environment();        torchrun's variables
//   std::unique_ptr<Ranks> ranks = join_ranks(*place);              waits for the others
//   config.ranks = ranks.get();                                     of an EngineConfig: gradient() and evaluate() are
//                                                                   then called by all, with the same whole batch
//
// Ensures: whatever is added up or shared has the same bits on every rank. A rank that dies, or says nothing for half a
// minute, ends the others with an Error(failed).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "tasks/task.h"

namespace eureka {

// Who a process is among those of its run, and where they meet.
struct RankPlace {
  int rank = 0;
  int size = 1;
  int local_rank = 0;   // among those of its machine
  std::string address;  // of the machine of rank 0
  int port = 0;         // where rank 0 listens

  bool leads() const { return rank == 0; }
};

using Environment = std::function<const char*(const char*)>;

// As torchrun says it: WORLD_SIZE, RANK, LOCAL_RANK, MASTER_ADDR, MASTER_PORT. Where torchrun listens at that port
// itself, the next one. Nothing where it is one process. Throws Error(usage) when a part is missing or makes no sense.
std::optional<RankPlace> place_in_environment(const Environment& variable);

// As srun says it. Nothing for one task. Throws Error(usage) outside of srun.
std::optional<RankPlace> place_in_slurm(const Environment& variable);

// One of `size` processes on this machine.
RankPlace place_on_this_machine(int rank, int size, int port);

// A port of this machine that nobody listens at now.
int free_port();

class Ranks {
 public:
  virtual ~Ranks() = default;

  virtual const RankPlace& place() const = 0;

  // All of these are called by every rank, in the same order. In place.
  virtual void add_up(std::span<double> numbers) = 0;
  // What rank 0 has.
  virtual void share(std::span<float> numbers) = 0;
  virtual void share(std::string& text) = 0;

  // The run has ended for all. Whoever goes without it alarms the others.
  virtual void leave() = 0;
};

// Throws Error(config) when this program cannot, Error(failed) when the others do not come.
std::unique_ptr<Ranks> join_ranks(const RankPlace& place);

// The samples of a batch that are a rank's: `count` from `first` on. As even as it goes; none where there are too few.
struct BatchShare {
  std::int64_t first = 0;
  std::int64_t count = 0;
};
BatchShare share_of(std::int64_t samples, int rank, int size);

// What an engine looks at of them: roles and latents are left out.
void take_share(const Batch& batch, const BatchShare& share, Batch& out);

}  // namespace eureka
