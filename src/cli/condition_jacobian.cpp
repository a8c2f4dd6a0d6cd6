// eureka condition jacobian: spectrum, bounds and statistics of the softmax Jacobian of one attention row.
#include <cmath>

#include "cli/condition.h"
#include "theory/row_spectrum.h"
#include "theory/softmax_jacobian.h"

namespace eureka::cli {
namespace {

using theory::Index;
using theory::Vector;

struct JacobianArguments {
  std::string coefficients, logits;
  double temperature = 1;
  ConditionOutput output;
};

constexpr double kLn10 = 2.302585092994046;

Vector to_vector(const std::vector<double>& values) {
  return Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size()));
}

Vector log_weights_of(const JacobianArguments& arguments, bool by_logits) {
  if (by_logits) {
    const Vector logits = to_vector(parse_numbers(arguments.logits, "--logits"));
    theory::check_logits(logits, arguments.temperature);
    return theory::log_softmax(logits, arguments.temperature);
  }
  const Vector a = to_vector(parse_numbers(arguments.coefficients, "--coefficients"));
  theory::check_coefficients(a);
  return (a / a.sum()).array().log();
}

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

int jacobian(const JacobianArguments& arguments, bool has_coefficients, bool has_logits) {
  if (has_coefficients == has_logits)
    throw Error(ErrorKind::usage, "eureka condition jacobian needs either --coefficients or --logits", {},
                "for example: eureka condition jacobian --coefficients 0.7,0.2,0.1");
  const Vector log_a = log_weights_of(arguments, has_logits);
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
      "Spectrum of J = diag(a) - a a^T against laws J4 to J9 (interlacing, bounds, moments)", {rows.table}, "", ""};
  ResultTable statistics({{"tokens", "T", "{:.0f}"},
                          {"largest_coefficient", "a_max", "{:.6g}"},
                          {"effective_rank", "effective rank", "{:.6g}"},
                          {"entropy", "entropy (nats)", "{:.6g}"},
                          {"participation", "1/sum a^2", "{:.6g}"},
                          {"log_pseudo_determinant", "ln pseudo-determinant", "{:.9g}"}});
  statistics.add_row(
      {static_cast<double>(tokens), s.largest, s.effective_rank, s.entropy, s.participation, s.log_pseudo_determinant});
  report.tables.push_back(statistics);
  if (tokens >= 8) report.plot = log_plot("log10 of the eigenvalues, by index", index, log10_values);
  if (tokens == 1) report.note = "One token gets all attention: J = 0, there is nothing to condition.";
  if (log_a.minCoeff() == -std::numeric_limits<double>::infinity())
    report.note =
        "Coefficients of exactly 0 bring eigenvalues 0 and an infinite kappa; give --logits to see below underflow.";
  emit(report, arguments.output);
  return kOk;
}

}  // namespace

void add_condition_jacobian(CLI::App& condition, Action& chosen) {
  CLI::App* verb = condition.add_subcommand("jacobian", "spectrum, bounds and statistics of the Jacobian of one row");
  auto arguments = std::make_shared<JacobianArguments>();
  CLI::Option* coefficients =
      verb->add_option("--coefficients", arguments->coefficients, "attention weights, summing to one: 0.7,0.2,0.1");
  CLI::Option* logits = verb->add_option("--logits", arguments->logits, "or logits: 1,2,4");
  verb->add_option("--temperature", arguments->temperature, "of the softmax over the logits");
  add_output_options(*verb, arguments->output);
  verb->callback(
      [=, &chosen] { chosen = [=] { return jacobian(*arguments, coefficients->count() > 0, logits->count() > 0); }; });
}

}  // namespace eureka::cli
