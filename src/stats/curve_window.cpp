#include "stats/curve_window.h"

#include "base/error.h"

namespace eureka {

CurveWindow::CurveWindow(std::size_t capacity) : capacity_(capacity) {
  EUREKA_CHECK(capacity >= 2 && capacity % 2 == 0, "a curve window halves itself: its capacity must be even");
  full_.reserve(capacity);
}

void CurveWindow::add(double step, double value) {
  ++open_count_;
  const double weight = 1.0 / static_cast<double>(open_count_);
  open_.step += (step - open_.step) * weight;
  open_.value += (value - open_.value) * weight;
  if (open_count_ < stride_) return;
  full_.push_back(open_);
  open_ = {};
  open_count_ = 0;
  if (full_.size() == capacity_) halve();
}

std::vector<CurvePoint> CurveWindow::points() const {
  std::vector<CurvePoint> points = full_;
  if (open_count_ > 0 && 2 * open_count_ >= stride_) points.push_back(open_);
  return points;
}

void CurveWindow::halve() {
  for (std::size_t i = 0; i < capacity_ / 2; ++i) {
    const CurvePoint& a = full_[2 * i];
    const CurvePoint& b = full_[2 * i + 1];
    full_[i] = {0.5 * (a.step + b.step), 0.5 * (a.value + b.value)};
  }
  full_.resize(capacity_ / 2);
  stride_ *= 2;
}

}  // namespace eureka
