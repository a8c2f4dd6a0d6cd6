// No tensor is made on a device that the code chose by itself.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "engine/fused_cases.h"
#include "nn/reference_engine.h"

namespace eureka {
namespace {

// On torch's "meta" device tensors have shapes but no values, and an operation between it and the CPU is an error.
TEST(Device, RulesTakeItFromTheirInputs) {
  const at::TensorOptions meta = at::TensorOptions().device(at::kMeta).requires_grad(true);
  for (const std::string& name : Registry<AttentionRule>::instance().names()) {
    SCOPED_TRACE(name);
    const auto rule = Registry<AttentionRule>::instance().make(name, {});
    AttentionContext context;
    for (const ParameterSpec& spec : rule->parameters({.heads = 3, .width = 4}))
      context.parameters.push_back(at::ones(spec.shape, meta));
    context.mask = at::ones({7, 7}, meta.requires_grad(false).dtype(at::kBool)).tril();
    for (const bool masked : {true, false}) {
      if (!masked) context.mask = at::Tensor();
      const at::Tensor weights = rule->weights(at::ones({2, 3, 7, 7}, meta), context);
      EXPECT_TRUE(weights.is_meta());
      if (weights.requires_grad()) weights.sum().backward();
    }
  }
}

TEST(Device, AModelTakesItFromItsParameters) {
  EngineConfig config = base_config();
  config.model = "mlp";
  config.device = "meta";
  ReferenceEngine engine(config);
  const at::Tensor predictions = engine.forward(random_batch(config.shape, 3), {.training = true});
  EXPECT_TRUE(predictions.is_meta());
  predictions.sum().backward();
}

// What the meta device cannot run (LayerNorm, convolutions): the source itself. Wherever a tensor is made, its options
// come from another tensor, or it is sent to where the others are.
TEST(Device, NoSourceNamesOne) {
  const std::regex factory(R"(at::(zeros|ones|empty|full|arange|eye|rand\w*|tensor|scalar_tensor)\([^;]*;)");
  const std::regex follows(R"(options|\.to\()");
  const std::regex named(R"(at::kC(PU|UDA))");
  int files = 0, made = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(EUREKA_SOURCES "/nn")) {
    if (entry.path().extension() != ".cpp") continue;
    ++files;
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    const std::string source = text.str();
    for (std::sregex_iterator match(source.begin(), source.end(), factory), end; match != end; ++match, ++made)
      EXPECT_TRUE(std::regex_search(match->str(), follows)) << entry.path() << ": " << match->str();
    // Checkpoints are written from the CPU: the one place that names it.
    const auto names = std::distance(std::sregex_iterator(source.begin(), source.end(), named), std::sregex_iterator());
    EXPECT_EQ(names, entry.path().filename() == "reference_engine.cpp" ? 1 : 0) << entry.path();
  }
  EXPECT_GT(files, 10);
  EXPECT_GT(made, 5);
}

}  // namespace
}  // namespace eureka
