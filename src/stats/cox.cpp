#include "stats/cox.h"

#include <algorithm>
#include <cmath>

#include "stats/distributions.h"
#include "stats/event_table.h"

namespace eureka {
namespace {

constexpr double kFarAway = 40;  // e^40: a log ratio beyond which the likelihood has reached its limit

// The partial likelihood of one binary covariate, as a function of its coefficient b. It is concave.
class PartialLikelihood {
 public:
  PartialLikelihood(std::vector<EventRow> rows, Ties ties) : rows_(std::move(rows)), ties_(ties) {}

  double log_value(double b) const {
    double sum = 0;
    visit_terms([&](double first, double second) {
      const double shift = second > 0 ? std::max(0.0, b) : 0.0;  // keeps exp() in range
      sum -= shift + std::log(first * std::exp(-shift) + second * std::exp(b - shift));
    });
    for (const EventRow& row : rows_) sum += b * row.events_second;
    return sum;
  }

  struct Slope {
    double score = 0, information = 0;
  };
  Slope slope(double b) const {
    Slope result;
    for (const EventRow& row : rows_) result.score += row.events_second;
    visit_terms([&](double first, double second) {
      const double share = second > 0 ? 1 / (1 + first / second * std::exp(-b)) : 0.0;
      result.score -= share;
      result.information += share * (1 - share);
    });
    return result;
  }

 private:
  // One term per event: the weight at risk in each group when it happened. Efron lets tied events leave one after the
  // other, each taking an equal share of all of them.
  template <class Visitor>
  void visit_terms(const Visitor& visitor) const {
    for (const EventRow& row : rows_) {
      const double events = row.events_first + row.events_second;
      for (double gone = 0; gone < events; ++gone) {
        const double share = ties_ == Ties::efron ? gone / events : 0;
        visitor(row.at_risk_first - share * row.events_first, row.at_risk_second - share * row.events_second);
      }
    }
  }

  std::vector<EventRow> rows_;
  Ties ties_;
};

// Where a function that is positive at `inside` and changes sign once towards `outside` is 0; nothing if it does not.
template <class Function>
std::optional<double> sign_change(const Function& function, double inside, double outside) {
  if (function(outside) >= 0) return {};
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (inside + outside);
    (function(middle) >= 0 ? inside : outside) = middle;
  }
  return 0.5 * (inside + outside);
}

HazardLimit find_limit(const std::vector<EventRow>& rows) {
  bool first_while_second_waits = false, second_while_first_waits = false;
  for (const EventRow& row : rows) {
    first_while_second_waits |= row.events_first > 0 && row.at_risk_second > 0;
    second_while_first_waits |= row.events_second > 0 && row.at_risk_first > 0;
  }
  if (!first_while_second_waits) return HazardLimit::infinite;
  return second_while_first_waits ? HazardLimit::none : HazardLimit::zero;
}

}  // namespace

std::optional<HazardRatio> hazard_ratio(std::span<const SurvivalTime> first, std::span<const SurvivalTime> second,
                                        double level, Ties ties) {
  std::vector<EventRow> rows = event_table(first, second);
  if (std::none_of(rows.begin(), rows.end(),
                   [](const EventRow& row) { return row.at_risk_first > 0 && row.at_risk_second > 0; }))
    return {};
  HazardRatio result{.limit = find_limit(rows)};
  const PartialLikelihood likelihood(std::move(rows), ties);

  double best = result.limit == HazardLimit::infinite ? kFarAway : -kFarAway;
  if (result.limit == HazardLimit::none) {
    best = sign_change([&](double b) { return likelihood.slope(b).score; }, -kFarAway, kFarAway).value_or(kFarAway);
    result.log_ratio = best;
    result.ratio = std::exp(best);
    result.standard_error = 1 / std::sqrt(likelihood.slope(best).information);
  }
  const double threshold = likelihood.log_value(best) - chi_square_quantile(level) / 2;
  const auto supported = [&](double b) { return likelihood.log_value(b) - threshold; };
  if (result.limit != HazardLimit::zero) {
    if (const auto low = sign_change(supported, best, -kFarAway)) result.interval.low = std::exp(*low);
  }
  if (result.limit != HazardLimit::infinite) {
    if (const auto high = sign_change(supported, best, kFarAway)) result.interval.high = std::exp(*high);
  }
  return result;
}

}  // namespace eureka
