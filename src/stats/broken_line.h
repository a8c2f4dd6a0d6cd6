// Denoising a curve without rounding off its corners: spikes out, then the straight pieces that fit it best.
//
// The fit minimizes  sum of squared residuals + penalty * number of pieces  exactly (dynamic programming), so a plateau
// becomes one nearly level piece, a rise one steep piece or a break between two pieces, and white noise nothing at all.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace eureka {

// Standard deviation of the evaluation noise, from how far each value is off the line through its two neighbors. Rises
// and spikes are few among the values, so a quantile does not see them. 0 for fewer than three points.
// Of a short log the rise may be a third, so a lower quantile is taken.
double noise_level(std::span<const double> x, std::span<const double> values, bool short_log = false);

// The same about each point: from its neighborhood alone, and nowhere less than noise_level(x, values). A plateau at a
// high learning rate is noisier than what follows, and the whole curve says too little of it.
std::vector<double> local_noise(std::span<const double> x, std::span<const double> values, bool short_log = false);

// Excursions of at most three evaluations that come back are replaced by the running median of seven; what is closer to
// it than its tolerance stays as it is, and so do edges. The first and last values keep their place: nothing is known
// of what was before or comes after.
std::vector<double> without_spikes(std::span<const double> values, std::span<const double> tolerances);

struct LinePiece {
  std::size_t first = 0, last = 0;  // indices, both inside; the same for a point on its own
};

struct BrokenLine {
  std::vector<double> fit;        // the value of the broken line at each x
  std::vector<LinePiece> pieces;  // in order; they cover all points
};

// Each squared residual counts by its weight. Requires: x ascending, as long as values and weights. O(n^2) at worst, so
// for windows, not for whole files.
BrokenLine fit_broken_line(std::span<const double> x, std::span<const double> values, std::span<const double> weights,
                           double penalty);

}  // namespace eureka
