// Spectrum, bounds and statistics of the softmax Jacobian of one attention row.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/condition_report.h"
#include "theory/row_spectrum.h"
#include "theory/softmax_jacobian.h"

namespace eureka {
namespace {

using theory::Index;
using theory::Vector;

constexpr double kLn10 = 2.302585092994046;

// A quantity between two bounds, all as natural logarithms: they may be too small for a double.
class BoundedRows {
 public:
  ResultTable table{{{"quantity", "quantity", "", Align::left},
                     {"law", "law", "", Align::left},
                     {"low", "theory, low", "{:.6g}"},
                     {"value", "value", "{:.10g}"},
                     {"high", "theory, high", "{:.6g}"},
                     {"value_over_low", "value/low", "{:.4f}"},
                     {"value_over_high", "value/high", "{:.4f}"},
                     {"log10_value", "log10 value", "{:.4f}"}}};

  void bounded(const std::string& name, const std::string& law, double low, double value, double high) {
    table.add_row({name, law, std::exp(low), std::exp(value), std::exp(high), std::exp(value - low),
                   std::exp(value - high), value / kLn10});
  }
  // A closed form beside the same number from the eigenvalues.
  void equal(const std::string& name, const std::string& law, double closed, double value) {
    table.add_row({name, law, closed, value, closed, value / closed, value / closed,
                   value > 0 ? ResultCell(std::log10(value)) : ResultCell()});
  }
};

}  // namespace

ConditionReport jacobian_report(const Vector& log_a) {
  const theory::RowSpectrum spectrum(log_a);
  const theory::RowStatistics s = theory::row_statistics(log_a);
  const Index tokens = log_a.size();
  Vector sorted = log_a;
  std::sort(sorted.begin(), sorted.end());

  BoundedRows rows;
  std::vector<double> index, log10_values;
  for (Index k = 1; k < tokens; ++k) {
    rows.bounded(fmt::format("lambda_{}", k + 1), "J4 interlacing", sorted[k - 1], spectrum.log_eigenvalue(k),
                 sorted[k]);
    index.push_back(static_cast<double>(k + 1));
    log10_values.push_back(spectrum.log_eigenvalue(k) / kLn10);
  }
  if (tokens > 1) {
    rows.bounded("smallest", "J6", s.log_smallest.low, spectrum.log_eigenvalue(1), s.log_smallest.high);
    rows.bounded("largest", "J7", s.log_largest.low, spectrum.log_eigenvalue(tokens - 1), s.log_largest.high);
    rows.bounded("kappa", "J8", s.log_kappa.low, spectrum.log_kappa(), s.log_kappa.high);
    const Vector values = spectrum.eigenvalues();
    rows.equal("trace", "J9", s.trace, values.sum());
    rows.equal("Frobenius norm", "J9", s.frobenius, values.stableNorm());
    rows.equal("trace of the cube", "J9", s.cube_trace, values.array().cube().sum());
  }
  ConditionReport report{
      "Spectrum of J = diag(a) - a a^T against laws J4 to J9 (interlacing, bounds, moments)", {rows.table}, {}, ""};
  ResultTable statistics({{"tokens", "T", "{:.0f}"},
                          {"largest_coefficient", "a_max", "{:.6g}"},
                          {"effective_rank", "effective rank", "{:.6g}"},
                          {"entropy", "entropy (nats)", "{:.6g}"},
                          {"participation", "1/sum a^2", "{:.6g}"},
                          {"log_pseudo_determinant", "ln pseudo-determinant", "{:.9g}"}});
  statistics.add_row(
      {static_cast<double>(tokens), s.largest, s.effective_rank, s.entropy, s.participation, s.log_pseudo_determinant});
  report.tables.push_back(statistics);
  if (tokens >= 8) report.curve = {"log10 of the eigenvalues, by index", index, log10_values};
  if (tokens == 1) report.note = "One token gets all attention: J = 0, there is nothing to condition.";
  if (log_a.minCoeff() == -std::numeric_limits<double>::infinity())
    report.note =
        "Coefficients of exactly 0 bring eigenvalues 0 and an infinite kappa; give --logits to see below underflow.";
  return report;
}

}  // namespace eureka
