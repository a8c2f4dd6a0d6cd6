// Optimizers raced to a fraction eps of the initial loss, from near the solution and from zero.
//
//   const RaceTrack track = planted_track({24, 8, 8, 2}, {4, 0.002}, seed);
//   for (const RaceEntry& entry : race_entries(track, 1e-8)) run_entry(track, Start::near, entry, options);
//
// A tuned entry is the best of a grid of steps by its first hit; that one is then run to the horizon, because a method
// may hit and not stay.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "theory/optimizer.h"
#include "theory/spectrum.h"
#include "theory/teacher.h"

namespace eureka::theory {

struct RaceTrack {
  std::string name;
  std::shared_ptr<const Problem> problem;
  Vector solution;
  // The same with data changed by a relative 1e-7: a number that they do not share is one of chaos.
  std::vector<std::shared_ptr<const Problem>> twins;
  std::uint64_t seed = 1;

  // Of the Gauss-Newton matrix at the solution, plain and preconditioned.
  Conditioning plain, diagonal, fisher, gram;
  Vector gauss_newton_diagonal;
};

RaceTrack planted_track(const TeacherSize& size, const Planted& planted, std::uint64_t seed);
RaceTrack gaussian_track(const TeacherSize& size, double temperature, std::uint64_t seed);
// Model C: logits of deviation 1.3, values N(0, 1/p).
RaceTrack logits_track(Index tokens, Index outputs, std::uint64_t seed);

enum class Start { near, far };  // |e_0| = 0.1 |w*|; zero, uniform attention

struct RaceCandidate {
  std::string label;
  std::function<OptimizerPtr()> make;
};

struct RaceEntry {
  std::string name;
  std::vector<RaceCandidate> candidates;
  std::optional<double> theory;  // steps
  std::string theory_name;
};

std::vector<RaceEntry> race_entries(const RaceTrack& track, double eps);

struct RaceOptions {
  double eps = 1e-8;
  Index horizon = 20000;        // steps, for every method
  Index descent_limit = 60000;  // steps, for gradient descent, which is slow but sure
};

// The first hits of a run and of its twins, which take the same steps on data changed by 1e-7.
struct TwinHits {
  Index earliest = 0;           // of those that hit
  std::optional<Index> latest;  // nothing: one of them never hit
};

struct RaceResult {
  std::string name;
  std::string label;  // of the best candidate
  std::optional<Index> first_hit;
  std::optional<TwinHits> chaos;    // there when the first hit is not shared by the twins: it says nothing then
  std::optional<Index> last_above;  // there when the best candidate stayed below eps to the end
  double worst_after_hit = 0;       // largest loss / initial loss after the first hit
  std::optional<double> theory;
  std::string theory_name;
};

RaceResult run_entry(const RaceTrack& track, Start start, const RaceEntry& entry, const RaceOptions& options);

}  // namespace eureka::theory
