// A log of each kind in tests/cli/logs: the same curve, whose moment is found in all of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>

#include "io/json.h"
#include "support/command.h"

namespace eureka {
namespace {

using testing::HasSubstr;

const fs::path kLogs = fs::path(EUREKA_TESTS) / "cli" / "logs";

struct Log {
  std::string file, column;
  double steps_per_point = 100;
  std::string direction = "up";
  std::string asked = {};  // the column, where another is meant than the one that is guessed
};

void PrintTo(const Log& log, std::ostream* out) { *out << log.file; }

class EverybodysLog : public testing::TestWithParam<Log> {};

TEST_P(EverybodysLog, HasTheMomentThatIsInIt) {
  const Log& log = GetParam();
  std::vector<std::string> words = {"detect", (kLogs / log.file).string(), "--json"};
  if (!log.asked.empty()) words.insert(words.end(), {"--column", log.asked});
  const CommandResult result = eureka_command(words);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json found = Json::parse(result.out);
  EXPECT_EQ(found.at("column"), log.column);
  EXPECT_EQ(found.at("direction"), log.direction);
  ASSERT_EQ(found.at("moments").size(), 1U) << result.out;
  EXPECT_NEAR(found.at("moments")[0].at("step").get<double>(), 36 * log.steps_per_point, 1.5 * log.steps_per_point);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, EverybodysLog,
    testing::Values(Log{"keras-history.json", "val_accuracy", 1}, Log{"trainer_state.json", "eval_accuracy"},
                    Log{"huggingface-4.txt", "eval_accuracy", 0.05}, Log{"huggingface-5.txt", "eval_accuracy", 0.05},
                    Log{"nanogpt.txt", "val loss", 100, "down"}, Log{"plain.txt", "acc"},
                    Log{"plain.txt", "loss", 100, "down", "loss"}, Log{"sacred/metrics.json", "validation.accuracy"},
                    Log{"mlflow/metrics/val_accuracy", "val_accuracy"},
                    Log{"wandb-export.csv", "misty-sun-3 - val/accuracy"}, Log{"wandb-history.csv", "val/accuracy"},
                    Log{"wandb-history.jsonl", "val.accuracy"}, Log{"lightning-metrics.csv", "val_acc"},
                    Log{"tensorboard-export.csv", "Value"}, Log{"plain.csv.gz", "val_accuracy"}),
    [](const auto& log) {
      std::string name = log.param.file + log.param.asked;
      std::erase_if(name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); });
      return name;
    });

TEST(EverybodysLogs, AllKindsAreInTheFolder) {
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(kLogs))
    if (entry.is_regular_file() && entry.path().filename() != "README.md") ++files;
  EXPECT_EQ(files, 14U) << "a log that no test reads, or one that is gone";
}

TEST(DetectPlot, DrawsCurvePlateausAndMoments) {
  const TemporaryDirectory directory;
  const std::string log = (kLogs / "plain.txt").string();
  const auto plot = [&](const std::string& name) {
    const std::string out = (directory.path() / name).string();
    const CommandResult result = eureka_command({"detect", log, "--plot", out});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return fs::exists(out) ? read_file(out) : "";
  };
  const std::string svg = plot("a.svg");
  EXPECT_THAT(svg, HasSubstr("<svg"));
  EXPECT_THAT(svg, HasSubstr("moment"));
  EXPECT_THAT(svg, HasSubstr("0.55"));
  EXPECT_THAT(plot("a.png"), testing::StartsWith("\x89PNG"));
  EXPECT_THAT(plot("a.pdf"), testing::StartsWith("%PDF"));
  EXPECT_THAT(plot("a.csv"), testing::StartsWith("iter,acc\n100,"));
  const CommandResult other = eureka_command({"detect", log, "--plot", (directory.path() / "a.bmp").string()});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr(".svg, .png or .pdf"));
  EXPECT_THAT(eureka_command({"detect", log, log, "--plot", "x.svg"}).err, HasSubstr("--plot draws one log"));
}

TEST(DetectPlot, MarksGrokkingAndFirstRisesAsWhatTheyAre) {
  const TemporaryDirectory directory;
  std::string csv = "step,train_accuracy,val_accuracy\n";
  for (int i = 0; i < 200; ++i)
    csv += fmt::format("{},{:.4f},{:.4f}\n", i * 10, i < 10 ? 0.05 * i : 1.0 - 0.0001 * (i % 3),
                       0.1 + 0.88 / (1 + std::exp(-(i - 150) / 4.0)) + 0.001 * (i % 5));
  const fs::path log = directory.path() / "log.csv";
  atomic_write(log, csv);
  const std::string out = (directory.path() / "a.svg").string();
  const CommandResult result = eureka_command({"detect", log.string(), "--column", "val_accuracy", "--plot", out});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("△ grokking at step"));
  EXPECT_THAT(read_file(out), HasSubstr("grokking"));
}

}  // namespace
}  // namespace eureka
