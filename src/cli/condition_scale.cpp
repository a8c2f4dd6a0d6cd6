// eureka condition scale: how the curvature of the query-key and value blocks grows with the scale of the data.
#include "cli/condition.h"

namespace eureka::cli {
namespace {

using theory::AttentionKind;

struct ScaleArguments {
  theory::TeacherSize size{4, 6, 4, 3};
  std::string scales = "0.05,0.1,3,6", kinds;
  std::uint64_t seed = 1;
  int threads = 0;
  ConditionOutput output;
};

int scale(const ScaleArguments& arguments) {
  const std::vector<double> scales = parse_numbers(arguments.scales, "--scales");
  if (scales.size() < 2)
    throw Error(ErrorKind::usage, "an exponent needs two scales", "--scales", "for example: 0.05,0.1");
  std::vector<AttentionKind> kinds = parse_kinds(arguments.kinds);
  if (kinds.empty()) kinds.assign(theory::kAttentionKinds.begin(), theory::kAttentionKinds.end());
  emit(scale_report(arguments.size, scales, kinds, arguments.seed, threads_or_all(arguments.threads)),
       arguments.output);
  return kOk;
}

}  // namespace

void add_condition_scale(Command& condition) {
  Command verb = condition.add_command("scale", "data-scale exponents of the query-key and value blocks");
  auto arguments = std::make_shared<ScaleArguments>();
  verb.option("--scales", arguments->scales, "an exponent between each two neighbours").shows_default();
  verb.option("--kinds", arguments->kinds, "attention kinds: softmax,linear; all when left out");
  verb.option("--seed", arguments->seed, "of data and weights");
  add_size_options(verb, arguments->size);
  add_threads_option(verb, arguments->threads);
  add_output_options(verb, arguments->output);
  verb.runs([=] { return scale(*arguments); });
}

}  // namespace eureka::cli
