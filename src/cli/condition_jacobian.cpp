// eureka condition jacobian: spectrum, bounds and statistics of the softmax Jacobian of one attention row.
#include "cli/condition.h"
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

int jacobian(const JacobianArguments& arguments, bool has_coefficients, bool has_logits) {
  if (has_coefficients == has_logits)
    throw Error(ErrorKind::usage, "eureka condition jacobian needs either --coefficients or --logits", {},
                "for example: eureka condition jacobian --coefficients 0.7,0.2,0.1");
  emit(jacobian_report(log_weights_of(arguments, has_logits)), arguments.output);
  return kOk;
}

}  // namespace

void add_condition_jacobian(Command& condition) {
  Command verb = condition.add_command("jacobian", "spectrum, bounds and statistics of the Jacobian of one row");
  auto arguments = std::make_shared<JacobianArguments>();
  const Argument coefficients =
      verb.option("--coefficients", arguments->coefficients, "attention weights, summing to one: 0.7,0.2,0.1");
  const Argument logits = verb.option("--logits", arguments->logits, "or logits: 1,2,4");
  verb.option("--temperature", arguments->temperature, "of the softmax over the logits");
  add_output_options(verb, arguments->output);
  verb.runs([=] { return jacobian(*arguments, coefficients.given(), logits.given()); });
}

}  // namespace eureka::cli
