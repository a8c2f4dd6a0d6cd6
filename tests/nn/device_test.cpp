// What must hold on a device other than the CPU, as far as it can be told without one: no tensor is made on a device
// that the code chose by itself, a step waits for the device once, and its failures are explained.
#include <ATen/record_function.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <regex>
#include <sstream>

#include "base/error.h"
#include "engine/fused_cases.h"
#include "nn/device.h"
#include "nn/guarded_engine.h"
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
    const bool may_name = entry.path().filename() == "device.cpp";
    EXPECT_TRUE(may_name || !std::regex_search(source, named)) << entry.path() << " names a device";
  }
  EXPECT_GT(files, 10);
  EXPECT_GT(made, 5);
}

// Operations whose result is a number for the host, or a tensor whose size depends on values: a GPU must finish first.
int waits = 0;

std::unique_ptr<at::ObserverContext> count_waits(const at::RecordFunction& operation) {
  static const std::regex waiting("aten::(_local_scalar_dense|nonzero|masked_select|equal|_unique.*|is_nonzero)");
  if (std::regex_match(operation.name(), waiting)) ++waits;
  return nullptr;
}

int waits_of(const std::function<void()>& work) {
  waits = 0;
  const at::CallbackHandle handle = at::addGlobalCallback(at::RecordFunctionCallback(count_waits));
  work();
  at::removeCallback(handle);
  return waits;
}

std::vector<EngineConfig> configs_of_every_kind() {
  std::vector<EngineConfig> configs = {base_config(), decoder_config(), vit_config(), base_config(), vit_config()};
  configs[3].model = "mlp";
  configs[3].model_options = {};
  configs[4].model = "resnet9";
  configs[4].model_options = {{"width", std::int64_t{4}}};
  for (const RuleVariant& variant : rule_variants()) {
    configs.push_back(base_config());
    configs.back().rule = variant.rule;
    configs.back().rule_options = variant.options;
    configs.back().model_options["dropout"] = 0.1;
  }
  for (const std::size_t i : {0U, 1U}) {
    configs.push_back(configs[i]);
    configs.back().shape.loss = LossKind::squared;
  }
  return configs;
}

TEST(Device, AStepWaitsForItOnce) {
  EXPECT_EQ(waits_of([] { at::ones({1}).item<float>(); }), 1) << "the counter does not count";
  for (EngineConfig& config : configs_of_every_kind()) {
    SCOPED_TRACE(text_of(config));
    config.clip = 1;
    ReferenceEngine engine(config);
    const bool every_position = config.shape.every_position;
    const Batch batch =
        random_batch(config.shape, 6, {.masked = every_position, .asked_share = every_position ? 0.5 : 1});
    // The copy that brings the numbers home is the one that is not counted.
    EXPECT_EQ(waits_of([&] { engine.train_step(batch, {.step = 0, .lr = 1e-3}); }), 0);
    EXPECT_EQ(waits_of([&] { engine.evaluate(batch, 0); }), 0);
  }
}

TEST(Device, BringsNumbersHomeInOneCopyToTheBit) {
  const at::Tensor third = at::ones({}) / 3;
  EXPECT_EQ(brought_home({third, at::full({}, 2, at::kLong), third.to(at::kDouble)}),
            (std::vector<double>{third.item<double>(), 2, third.item<double>()}));
}

TEST(Device, OneThatIsNotThereIsRefused) {
  EXPECT_EQ(device_named("cpu").type(), at::kCPU);
  const int cuda_devices = static_cast<int>(device_names().size()) - 1;
  for (const std::string& name : {std::string("cpu:1"), "cuda:" + std::to_string(cuda_devices), std::string("xpu")}) {
    try {
      device_named(name);
      ADD_FAILURE() << name << " was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::config);
      EXPECT_NE(error.message().find(name), std::string::npos);
    }
  }
}

TEST(Device, RepeatabilityIsAskedOfCudaOnly) {
  at::Context& context = at::globalContext();
  prefer_repeatable(at::kCPU);
  EXPECT_FALSE(context.deterministicAlgorithms());
  prefer_repeatable(at::kCUDA);
  EXPECT_TRUE(context.deterministicAlgorithms());
  EXPECT_TRUE(context.deterministicCuDNN());
  EXPECT_FALSE(context.allowTF32CuDNN());
  EXPECT_FALSE(context.allowTF32CuBLAS());
  context.setDeterministicAlgorithms(false, false);
}

TEST(Device, FailuresAreExplained) {
  const auto message_of = [](const auto& work) {
    try {
      clearly("cuda:1", work);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::failed);
      return error.message();
    }
    return std::string("no Error");
  };
  const auto starts = [](const std::string& text, const std::string& beginning) {
    return text.rfind(beginning, 0) == 0;
  };
  // More than a processor can address.
  EXPECT_TRUE(starts(message_of([] { at::empty({std::int64_t{1} << 52}); }), "no memory left on device 'cuda:1'"));
  EXPECT_TRUE(starts(message_of([] { TORCH_CHECK_WITH(OutOfMemoryError, false, "CUDA out of memory."); }),
                     "no memory left on device 'cuda:1'"));
  EXPECT_EQ(
      message_of([] { TORCH_CHECK(false, "CUDA error: unspecified launch failure\nand more"); }),
      "device 'cuda:1' failed: CUDA error: unspecified launch failure\n  --resume continues from the last checkpoint");
  // Our own mistakes stay what they are.
  EXPECT_THROW(clearly("cpu", [] { at::ones({2}) + at::ones({3}); }), c10::Error);
}

}  // namespace
}  // namespace eureka
