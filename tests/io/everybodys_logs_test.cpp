// Logs as other programs write them: what they print, and the files of Keras, Sacred, MLflow and Lightning.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>

#include "base/error.h"
#include "io/console_log.h"
#include "io/curve_file.h"
#include "support/temporary_directory.h"

namespace eureka {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

LoadedCurve read(const std::string& text, const std::optional<std::string>& column = {},
                 const std::string& name = "log.txt") {
  return curve_in(text, name, column);
}

TEST(ConsoleLog, OfNanoGpt) {
  const std::string text =
      "number of parameters: 10.65M\n"
      "using fused AdamW: True\n"
      "step 0: train loss 4.2874, val loss 4.2823\n"
      "iter 0: loss 4.2654, time 38322.88ms, mfu -100.00%\n"
      "iter 10: loss 3.2438, time 183.14ms, mfu 20.35%\n"
      "step 250: train loss 1.9755, val loss 2.0650\n"
      "saving checkpoint to out-shakespeare-char\n"
      "iter 250: loss 2.0373, time 23456.73ms, mfu 17.12%\n"
      "step 500: train loss 1.5247, val loss 1.7200\n";
  const LoadedCurve curve = read(text);
  EXPECT_EQ(curve.column, "val loss");
  EXPECT_EQ(curve.step_column, "step");
  EXPECT_THAT(curve.steps, ElementsAre(0, 250, 500));
  EXPECT_THAT(curve.values, ElementsAre(4.2823, 2.065, 1.72));
  EXPECT_EQ(curve.line_like, "step #: train loss #, val loss #");
  EXPECT_THAT(curve.available_columns, ElementsAre("train loss", "val loss", "iter", "loss", "time", "mfu"));
}

TEST(ConsoleLog, OfAnybodysPrint) {
  const LoadedCurve colon = read("iter 100: loss 2.31\niter 200: loss 2.29\n");
  EXPECT_THAT(colon.steps, ElementsAre(100, 200));
  EXPECT_THAT(colon.values, ElementsAre(2.31, 2.29));
  const LoadedCurve equals = read(
      "[2024-01-05 10:11:12] INFO root epoch=1 lr=1e-3 acc=0.25\n"
      "[2024-01-05 10:12:12] INFO root epoch=2 lr=1e-3 acc=nan\n");
  EXPECT_EQ(equals.column, "acc");
  EXPECT_THAT(equals.steps, ElementsAre(1, 2));
  EXPECT_TRUE(std::isnan(equals.values[1]));
  EXPECT_THAT(equals.available_columns, ElementsAre("lr", "acc")) << "no column of dates";
  const LoadedCurve plain = read("step 10 loss 2.5 accuracy 0.5\nstep 20 loss 2.0 accuracy 0.75\n");
  EXPECT_THAT(plain.values, ElementsAre(0.5, 0.75));
}

TEST(ConsoleLog, OfHuggingFacesTrainer) {
  for (const char* quote : {"", "'"}) {  // version 5 prints the values as strings
    std::string text =
        "{'loss': Q2.3102Q, 'grad_norm': Q1.5Q, 'learning_rate': Q5e-05Q, 'epoch': Q0.5Q}\n"
        "  50%|#####     | 10/20 [00:03<00:03,  3.01it/s]\r"
        "{'eval_loss': Q2.2Q, 'eval_runtime': Q1.25Q, 'epoch': Q1.0Q}\n"
        "{'eval_loss': Q1.1Q, 'eval_runtime': Q1.5Q, 'epoch': Q2.0Q}\n"
        "{'train_runtime': Q12.5Q, 'train_loss': Q1.9Q, 'epoch': Q2.0Q}\n";
    for (std::size_t at = 0; (at = text.find('Q', at)) != std::string::npos;) text.replace(at, 1, quote);
    const LoadedCurve curve = read(text);
    EXPECT_EQ(curve.column, "eval_loss") << text;
    EXPECT_EQ(curve.step_column, "epoch");
    EXPECT_THAT(curve.steps, ElementsAre(1, 2));
    EXPECT_THAT(curve.values, ElementsAre(2.2, 1.1));
  }
}

TEST(ConsoleLog, OfKerasWhereTheEpochStandsOnALineOfItsOwn) {
  const LoadedCurve curve = read(
      "Epoch 1/3\n"
      "391/391 [==============================] - 5s 12ms/step - loss: 1.9 - accuracy: 0.3 - val_loss: 1.8 - "
      "val_accuracy: 0.35\n"
      "Epoch 2/3\n"
      "100/391 [=======>......................] - ETA: 3s - loss: 1.5 - accuracy: 0.4\r"
      "391/391 [==============================] - 5s 12ms/step - loss: 1.4 - accuracy: 0.5 - val_loss: 1.5 - "
      "val_accuracy: 0.45\n");
  EXPECT_EQ(curve.column, "val_accuracy");
  EXPECT_EQ(curve.step_column, "Epoch");
  EXPECT_THAT(curve.steps, ElementsAre(1, 2));
  EXPECT_THAT(curve.values, ElementsAre(0.35, 0.45));
}

TEST(ConsoleLog, OfLightningsBar) {
  const LoadedCurve curve = read(
      "Epoch 0: 100%|\xE2\x96\x88\xE2\x96\x88| 391/391 [00:05<00:00, 70.1it/s, v_num=0, train_loss=2.3, val_acc=0.1]\r"
      "\x1B[2KEpoch 1: 100%|\xE2\x96\x88\xE2\x96\x88| 391/391 [00:05<00:00, 71.2it/s, v_num=0, train_loss=1.3, "
      "val_acc=0.6]\n");
  EXPECT_EQ(curve.column, "val_acc");
  EXPECT_THAT(curve.steps, ElementsAre(0, 1));
  EXPECT_THAT(curve.values, ElementsAre(0.1, 0.6));
}

TEST(ConsoleLog, ProseAndTablesAreNone) {
  EXPECT_FALSE(looks_like_console_log("step,loss\n0,2.5\n10,2.0\n"));
  EXPECT_FALSE(looks_like_console_log("It was a bright cold day in April 1984.\nThe clocks were striking.\n"));
  EXPECT_FALSE(looks_like_console_log(""));
  EXPECT_FALSE(looks_like_console_log("Epoch 1/3\nEpoch 2/3\n")) << "steps alone are no curve";
  EXPECT_EQ(read("step,run,acc\n0,run 3,0.5\n10,run 3,0.75\n", {}, "log.csv").column, "acc");
}

TEST(EverybodysLogs, AHistoryOfKerasIsCountedByEpochs) {
  const LoadedCurve curve =
      read(R"({"loss": [2.3, 1.9, NaN], "val_accuracy": [0.1, null, 0.6], "lr": [1, 1, 1]})", {}, "history.json");
  EXPECT_EQ(curve.column, "val_accuracy");
  EXPECT_EQ(curve.step_column, "epoch");
  EXPECT_THAT(curve.steps, ElementsAre(1, 2, 3));
  EXPECT_TRUE(std::isnan(curve.values[1]));
  const LoadedCurve inside = read(R"({"history": {"loss": [2.3, 1.9]}, "epoch": [0, 1], "params": {}})", {}, "h.json");
  EXPECT_EQ(inside.column, "loss");
  EXPECT_THAT(inside.steps, ElementsAre(0, 1));
}

TEST(EverybodysLogs, MetricsOfSacredHaveStepsOfTheirOwn) {
  const LoadedCurve curve = read(
      R"({"train.loss": {"steps": [0, 5, 10], "timestamps": ["a", "b", "c"], "values": [3, 2, 1]},
          "val.accuracy": {"steps": [0, 10], "timestamps": ["a", "c"], "values": [0.1, 0.9]}})",
      {}, "metrics.json");
  EXPECT_EQ(curve.column, "val.accuracy");
  EXPECT_THAT(curve.steps, ElementsAre(0, 10));
  EXPECT_THAT(curve.values, ElementsAre(0.1, 0.9));
}

TEST(EverybodysLogs, AMetricOfMlflowIsAFileOfItsOwn) {
  const LoadedCurve curve = read("1700000000000 0.1 0\n1700000001000 0.2 10\n1700000002000 0.9 20\n", {},
                                 "mlruns/0/abc/metrics/val_accuracy");
  EXPECT_EQ(curve.column, "val_accuracy");
  EXPECT_EQ(curve.step_column, "step");
  EXPECT_THAT(curve.steps, ElementsAre(0, 10, 20));
}

TEST(EverybodysLogs, LightningsTableHasRowsOfTrainingAndRowsOfValidation) {
  const LoadedCurve curve =
      read("epoch,step,train_loss,val_acc\n0,9,2.5,\n0,10,,0.1\n1,19,1.5,\n1,20,,0.6\n", {}, "metrics.csv");
  EXPECT_EQ(curve.column, "val_acc");
  EXPECT_THAT(curve.steps, ElementsAre(10, 20));
}

TEST(EverybodysLogs, PackedByGzip) {
  const TemporaryDirectory place;
  const fs::path path = place.path() / "log.csv.gz";
  const std::string text = "step,acc\n0,0.5\n10,0.75\n";
  gzFile file = gzopen(path.c_str(), "wb");
  ASSERT_EQ(gzwrite(file, text.data(), static_cast<unsigned>(text.size())), static_cast<int>(text.size()));
  gzclose(file);
  EXPECT_THAT(load_curve(path).values, ElementsAre(0.5, 0.75));
}

TEST(EverybodysLogs, AColumnMayBeCutShortIfItIsTheOnlyOne) {
  const std::string text = "step,val_accuracy,val_loss,lr\n0,0.5,2,1\n10,0.75,1,1\n";
  EXPECT_EQ(read(text, "val_a", "log.csv").column, "val_accuracy");
  try {
    read(text, "val", "log.csv");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("several columns begin with 'val'"));
    EXPECT_THAT(error.hint(), HasSubstr("val_accuracy, val_loss"));
  }
}

}  // namespace
}  // namespace eureka
