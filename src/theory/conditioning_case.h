// One point of a sweep: all condition numbers of model A at its teacher, for every attention kind on the same data.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "theory/teacher.h"

namespace eureka::theory {

struct ConditioningCase {
  TeacherSize size;
  std::optional<Planted> planted;  // else Gaussian logits of deviation 1/temperature
  double temperature = 1;
  std::uint64_t seed = 1;
};

inline constexpr std::size_t kKinds = kAttentionKinds.size();

// Condition numbers and eigenvalues are those of the Gauss-Newton matrix at w*.
struct ConditioningResult {
  std::array<double, kKinds> kappa{};  // by AttentionKind
  double largest = 0, smallest = 0;    // eigenvalues for softmax
  double kappa_fisher = 0;             // of F^-1 GN
  double kappa_gram = 0;               // of G2^-1 GN
  double kappa_across = 0;             // on the vectors orthogonal to w*
  double alignment = 0;                // |cos| of the slowest eigenvector and w*
  double gap = 0;                      // lambda_{d-q+1} / lambda_{d-q}; NaN unless planted and 0 < q < d
  double starvation_bound = 0;         // on the smallest eigenvalue (theorem T1); NaN unless planted and q < d
  double mean_largest_weight = 0;      // mean over examples of a_max
  double median_log_kappa_row = 0;     // median over examples of ln kappa_perp(J)
  double small_per_row = 0;            // tokens per example that are not active; NaN unless planted
};

ConditioningResult measure_conditioning(const ConditioningCase& c);

// Geometric means over cases, of everything that is a ratio or a scale; arithmetic ones of the last three and of the
// alignment.
ConditioningResult mean_of(const std::vector<ConditioningResult>& results);

// The joint problem in (w, V) at a fixed target function of logit deviation `logit_deviation`, seen at a temperature.
struct JointConditioning {
  double query = 0;   // kappa of the w block: the same at every temperature (theorem T5)
  double values = 0;  // of the V block
  double joint = 0;   // of both: at least the larger of the two
};
JointConditioning measure_joint_conditioning(const TeacherSize& size, double logit_deviation, double temperature,
                                             std::uint64_t seed);

// Frobenius norms of the Gauss-Newton blocks of one attention layer (model B) on data scaled by sigma.
struct LayerBlocks {
  double query_key = 0;
  double value = 0;
};
LayerBlocks layer_blocks(AttentionKind kind, const TeacherSize& size, double sigma, std::uint64_t seed);

// Exponents of the blocks in sigma, between two scales.
LayerBlocks scale_exponents(AttentionKind kind, const TeacherSize& size, double from, double to, std::uint64_t seed);

}  // namespace eureka::theory
