// A curve of any length in bounded memory: what is seen of it stays. Of every stretch the first, lowest, highest and
// last points are kept, and of the stretches that are named every point.
//
//   ThinnedCurve curve(400, {{950, 1100}});
//   for (...) curve.add(step, value);
//   curve.points()
#pragma once

#include <cstddef>
#include <vector>

#include "figure/drawing.h"

namespace eureka::figure {

struct Stretch {
  double from = 0, to = 0;
};

class ThinnedCurve {
 public:
  // About `most` points, and up to as many again in each of the `exact` stretches.
  explicit ThinnedCurve(std::size_t most, std::vector<Stretch> exact = {});

  // x ascending. A value that is not finite leaves a gap.
  void add(double x, double y);

  // In order.
  std::vector<Point> points() const;
  std::size_t seen() const { return seen_; }

 private:
  struct Numbered {
    std::size_t number = 0;
    Point point;
  };
  struct Bin {
    Numbered first, low, high, last;
    std::size_t count = 0;
    bool has_gap = false;
    void add(const Numbered& one);
    void add(const Bin& later);
  };
  void halve();

  std::size_t most_bins_, per_bin_ = 1, seen_ = 0;
  std::vector<Stretch> exact_stretches_;
  std::vector<std::size_t> exact_counts_;
  std::vector<Numbered> exact_;
  std::vector<Bin> bins_;
};

// The whole at once.
std::vector<Point> thinned(const std::vector<Point>& points, std::size_t most);

}  // namespace eureka::figure
