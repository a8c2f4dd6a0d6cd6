// The whole of a curve of any length in bounded memory: neighbors are averaged two by two whenever the window is full.
//
//   CurveWindow window(512);
//   for (auto [step, value] : curve) window.add(step, value);
//   window.points();   // between 256 and 512 points that span the curve from its first evaluation to its last
//
// Requires: capacity even and at least 2.
// Ensures:  at most `capacity` points kept; add() is O(1) amortized; the points depend on what was added, not on when
// asked.
#pragma once

#include <cstddef>
#include <vector>

namespace eureka {

struct CurvePoint {
  double step = 0;
  double value = 0;
};

class CurveWindow {
 public:
  explicit CurveWindow(std::size_t capacity);

  void add(double step, double value);

  // Means over `stride` evaluations each; a last one that is not yet full counts from half of its evaluations on.
  std::vector<CurvePoint> points() const;
  std::size_t stride() const { return stride_; }

 private:
  void halve();

  std::size_t capacity_;
  std::size_t stride_ = 1;
  std::vector<CurvePoint> full_;
  CurvePoint open_;
  std::size_t open_count_ = 0;
};

}  // namespace eureka
