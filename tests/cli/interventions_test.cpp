// Interventions through the program: studies of them resume to the same bytes, branches take them, mistakes are named.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "support/command.h"
#include "support/run_files.h"

namespace eureka {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class InterventionVerbs : public testing::Test {
 protected:
  fs::path of(const std::string& name) const { return directory_.path() / name; }

  CommandResult train(const std::string& name, const std::vector<std::string>& settings) const {
    std::vector<std::string> words = {"train", "two-step", "--quiet", "--out", of(name).string()};
    for (const std::string& setting : settings) words.insert(words.end(), {"--set", setting});
    return eureka_command(words);
  }

  // An arm for every kind; the transplant is from the runs of another study.
  std::vector<std::string> study(const std::string& out, const std::vector<std::string>& more = {}) const {
    std::ofstream(of("causes.toml")) << R"(
[study]
base = "two-step"
seeds = 2
budget = 200
set.run.checkpoint_every = 30
set.train.eval_every = 10
set.train.validation_samples = 50
[[arm]]
name = "plain"
[[arm]]
name = "rescaled"
set.intervene.gradients.rescale = "block-mean"
set.intervene.gradients.from = 50
[[arm]]
name = "frozen"
set.intervene.freeze.groups = "query_key, value"
set.intervene.freeze.from = 40
set.intervene.freeze.until = 120
[[arm]]
name = "redrawn"
set.intervene.redraw.groups = "query_key"
set.intervene.redraw.at = 100
[[arm]]
name = "oracle"
set.intervene.attention.kind = "oracle"
set.intervene.attention.from = 25
set.intervene.attention.until = 125
[[arm]]
name = "sharper"
set.intervene.scale.multiple = 4.0
set.intervene.scale.layers = "1"
[[arm]]
name = "transplanted"
set.intervene.transplant.at = 60
)"
                                     << "set.intervene.transplant.run = \"" << of("source").string()
                                     << "/plain/seed-{seed}\"\n";
    std::vector<std::string> words = {"study", of("causes.toml").string(), "--out", of(out).string(), "--progress",
                                      "none"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  TemporaryDirectory directory_;
};

TEST_F(InterventionVerbs, AStudyOfThemThatIsKilledResumesToTheSameBytes) {
  std::ofstream(of("source.toml"))
      << "[study]\nbase = \"two-step\"\nseeds = 2\nbudget = 20\n[[arm]]\nname = \"plain\"\n";
  ASSERT_EQ(eureka_command({"study", of("source.toml").string(), "--out", of("source").string(), "--progress", "none"})
                .exit_code,
            0);
  const CommandResult whole = eureka_command(study("whole"));
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  for (int kill = 0; kill < 6; ++kill) {
    Command run(study("killed", {"--resume"}));
    std::this_thread::sleep_for(60ms + kill * 50ms);
    run.send(SIGKILL);
    run.wait();
  }
  const CommandResult resumed = eureka_command(study("killed", {"--resume"}));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(repeatable_files(of("killed")), repeatable_files(of("whole")));
}

TEST_F(InterventionVerbs, AStudyNamesTheArmWhoseSourceIsMissingBeforeAnythingRuns) {
  const CommandResult refused = eureka_command(study("out"));
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("arm 'transplanted'"));
  EXPECT_THAT(refused.err, HasSubstr("'intervene.transplant.run' has no checkpoint"));
  EXPECT_FALSE(fs::exists(of("out") / "plain"));
}

TEST_F(InterventionVerbs, BranchesTakeThem) {
  ASSERT_EQ(train("run", {"train.steps=120", "run.checkpoint_every=40"}).exit_code, 0);
  const auto branch = [&](const std::string& name, const std::vector<std::string>& settings) {
    std::vector<std::string> words = {"branch", of("run").string() + "@40", "--quiet", "--out", of(name).string()};
    for (const std::string& setting : settings) words.insert(words.end(), {"--set", setting});
    return eureka_command(words);
  };
  const CommandResult fixed = branch(
      "fixed", {"intervene.attention.kind=uniform", "intervene.attention.layers=0,1", "intervene.attention.until=80"});
  ASSERT_EQ(fixed.exit_code, 0) << fixed.err;
  EXPECT_THAT(read_file(of("fixed") / "events.jsonl"),
              HasSubstr(R"({"step":40,"event":"intervention","kind":"attention","phase":"begins"})"));
  EXPECT_THAT(read_file(of("fixed") / "events.jsonl"),
              HasSubstr(R"({"step":80,"event":"intervention","kind":"attention","phase":"ends"})"));
  // A branch of the branch still knows its past.
  const CommandResult again = eureka_command(
      {"branch", of("fixed").string() + "@80", "--quiet", "--out", of("again").string(), "--set", "train.lr=0.003"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(read_file(of("again") / "events.jsonl"), read_file(of("fixed") / "events.jsonl"));
  const CommandResult late = branch("late", {"intervene.redraw.groups=query_key"});
  EXPECT_EQ(late.exit_code, 2);
  EXPECT_THAT(late.err, HasSubstr("'intervene.redraw.at' = 0 lies before step 40, where the branch begins"));
}

TEST_F(InterventionVerbs, MistakesAreNamedWithWhatWasMeant) {
  const auto refused = [&](const std::vector<std::string>& settings, const std::string& part) {
    const CommandResult result = train("refused", settings);
    EXPECT_EQ(result.exit_code, 2) << part;
    EXPECT_THAT(result.err, HasSubstr(part));
    EXPECT_FALSE(fs::exists(of("refused")));
  };
  refused({"intervene.freeze.groups=query_kei"}, "did you mean 'query_key'?");
  refused({"intervene.attention.kind=role", "intervene.attention.role=target, indicator"},
          "has no role 'target, indicator'");
  refused({"intervene.atention.kind=uniform"}, "did you mean 'intervene.attention.kind'?");
  refused({"intervene.scale.multiple=2", "intervene.scale.heads=5"}, "there is no head 5");
  refused({"intervene.transplant.run=" + of("nowhere").string()}, "there is no such directory");
}

TEST_F(InterventionVerbs, OptionsAreListed) {
  const CommandResult listed = eureka_command({"list", "options", "intervene"});
  ASSERT_EQ(listed.exit_code, 0);
  for (const char* option : {"intervene.gradients.rescale", "intervene.freeze.groups", "intervene.redraw.at",
                             "intervene.transplant.run", "intervene.attention.kind", "intervene.scale.multiple"})
    EXPECT_THAT(listed.out, HasSubstr(option));
}

}  // namespace
}  // namespace eureka
