// Whole runs: metrics, summary and checkpoints have the same bytes with every instruction set that has fused
// multiply-add.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/embedded.h"
#include "base/files.h"
#include "kernels/instruction_set.h"
#include "support/digests.h"
#include "support/temporary_directory.h"
#include "train/run.h"

namespace eureka {
namespace {

struct Case {
  const char* name;
  const char* preset;
  const char* changes;
};

constexpr Case kCases[] = {
    {"softmax", "two-step", ""},
    {"norm_softmax", "two-step", "attention.rule = 'norm_softmax'"},
    {"norm_softmax by variance", "two-step", "attention = {rule = 'norm_softmax', deviation = 'variance'}"},
    {"qk_norm", "two-step", "attention = {rule = 'qk_norm', norm = 'l2'}"},
    {"sigmoid", "two-step", "attention.rule = 'sigmoid'"},
    {"Heat Treatment", "two-step", "attention.scale = {kind = 'half-cosine', from = 24}"},
    {"learned scale", "two-step", "attention.scale.kind = 'learned'"},
    {"two threads, distractors", "two-step", "run.threads = 2\ntask.distractors = 5"},
    {"sinusoidal positions", "two-step", "model.positions = 'sinusoidal'"},
    {"SGD that diverges", "two-step", "train = {optimizer = 'sgd', lr = 1000, momentum = 0.9}"},
    {"image tiles", "image-tile", "task.data = 'glyphs'"},
    {"image patches", "image-patch", "task.data = 'glyphs'\nattention.rule = 'norm_softmax'"},
    {"mlp", "two-step", "model = {name = 'mlp', hidden = 48}"},
    {"resnet9", "image-tile", "task.data = 'glyphs'\nmodel = {name = 'resnet9', width = 4}\nrun.threads = 2"},
    {"interventions", "two-step", R"(
intervene.gradients = {rescale = 'heads-to-value', from = 5}
intervene.freeze = {groups = 'value', layers = '0', from = 10, until = 30}
intervene.redraw = {groups = 'query_key', at = 20}
intervene.attention = {kind = 'oracle', layers = '1', heads = '1', from = 10}
intervene.scale = {multiple = 3, heads = '0', from = 15})"},
    {"patches of indicators", "image-patch",
     "task.data = 'glyphs'\nintervene.attention = {kind = 'role', role = 'indicator'}"},
    {"color and class", "image-tile", "task = {name = 'class-or-colour', data = 'glyphs'}"},
    {"recall", "recall", ""},
    {"recall, spread softmax", "recall-gpt2", "attention.rule = 'spread_softmax'"},
    {"window-sum", "window-sum", ""},
    {"grokking", "grokking", ""},
    {"icl-regression", "icl-regression", ""},
    {"icl-classification", "icl-classification", ""},
    {"language", "language", "task.tokens = 'byte-pairs'"},
    {"masked-language", "masked-language", ""},
};

constexpr const char* kShort = R"(
[train]
steps = 40
batch = 24
eval_every = 10
validation_samples = 50
[run]
seed = 3
checkpoint_every = 20
)";

RunConfig config_of(const Case& one) {
  static const Catalog catalog{declarations::files().front().text};
  ConfigEntries entries =
      read_toml(read_file(fs::path(EUREKA_PRESETS) / (one.preset + std::string(".toml"))), one.preset);
  entries = merge_entries(entries, read_toml(kShort, "short"));
  return resolve_config(merge_entries(entries, read_toml(one.changes, one.name)), catalog);
}

std::string digest_of_run(const Case& one) {
  const TemporaryDirectory scratch;
  const fs::path run = scratch.path() / "run";
  RunObserver nobody;
  const std::atomic<bool> stop = false;
  run_training(config_of(one), {.directory = run}, nobody, stop);
  Digest digest;
  digest.add(read_file(run / "metrics.jsonl"));
  digest.add(read_file(run / "summary.json"));
  std::vector<fs::path> saved;
  if (fs::exists(run / "checkpoints"))
    for (const auto& entry : fs::recursive_directory_iterator(run / "checkpoints"))
      if (entry.is_regular_file()) saved.push_back(entry.path());
  std::sort(saved.begin(), saved.end());
  for (const fs::path& file : saved) {
    digest.add(file.lexically_relative(run).string());
    digest.add(read_file(file));
  }
  return digest.text();
}

TEST(RunDigests, AreTheSameForEveryInstructionSet) {
  const std::string before = instruction_set();
  for (const std::string& name : instruction_sets()) {
    choose_instruction_set(name);
    if (!has_fused_multiply_add()) continue;
    SCOPED_TRACE(name);
    DigestFile file(EUREKA_TESTS "/train/digests.txt");
    for (const Case& one : kCases) file.expect(one.name, {digest_of_run(one)});
    file.expect_all_seen();
  }
  choose_instruction_set(before);
}

}  // namespace
}  // namespace eureka
