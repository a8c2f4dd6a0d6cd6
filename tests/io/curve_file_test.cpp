#include "io/curve_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/error.h"
#include "io/csv.h"
#include "io/jsonl.h"
#include "io/tfevents.h"
#include "support/temporary_directory.h"

namespace eureka {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class CurveFile : public testing::Test {
 protected:
  fs::path file(const std::string& name, const std::string& text) const {
    atomic_write(directory_ / name, text);
    return directory_ / name;
  }

  LoadedCurve load(const std::string& name, const std::string& text, const std::optional<std::string>& column = {},
                   const std::optional<std::string>& step_column = {}) const {
    return load_curve(file(name, text), column, step_column);
  }

  // "where-without-directory|what|hint"
  std::string error_of(const std::string& name, const std::string& text,
                       const std::optional<std::string>& column = {}) const {
    try {
      load(name, text, column);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input);
      std::string where = error.where();
      EXPECT_TRUE(where.starts_with(directory_.string())) << where;
      return where.substr(directory_.string().size() + 1) + "|" + error.what() + "|" + error.hint();
    }
    return "accepted";
  }

  const TemporaryDirectory scratch_;
  const fs::path directory_ = scratch_.path();
};

TEST_F(CurveFile, ReadsPlainCsv) {
  const LoadedCurve curve = load("log.csv", "step,loss,val_accuracy\n0,2.5,0.1\n10,2.0,0.5\n20,1e0,0.9\n");
  EXPECT_EQ(curve.column, "val_accuracy");
  EXPECT_EQ(curve.step_column, "step");
  EXPECT_THAT(curve.steps, ElementsAre(0, 10, 20));
  EXPECT_THAT(curve.values, ElementsAre(0.1, 0.5, 0.9));
  EXPECT_THAT(curve.available_columns, ElementsAre("loss", "val_accuracy"));
  EXPECT_EQ(curve.note, "");
}

TEST_F(CurveFile, UnderstandsTheDialectsOfCsv) {
  const char* texts[] = {
      "step;acc\n0;0,5\n10;0,75\n",                    // decimal comma
      "step\tacc\n0\t0.5\n10\t0.75\n",                 //
      "step acc\n0   0.5\n10  0.75\n",                 // aligned with spaces
      "\xEF\xBB\xBFstep,acc\r\n0,0.5\r\n10,0.75\r\n",  // Excel
      "step,acc\r0,0.5\r10,0.75",                      // old Mac, no end of line
      "# written by hand\n\n step , acc \n# half\n 0 , 0.5 \n\n 10 , 0.75 \n",
      "\"step\",\"acc\"\n\"0\",\"0.5\"\n10,\"0.75\"\n",
      "step,name,acc\n0,\"a \"\"b\"\", c\nd\",0.5\n10,,0.75\n",  // a quoted line end
      "# step acc\n0 0.5\n10 0.75\n",                            // numpy.savetxt
      "step,acc,\n0,+0.5,\n10,.75,\n",                           // separator at the end
  };
  for (const char* text : texts) {
    const LoadedCurve curve = load("log.csv", text);
    EXPECT_EQ(curve.column, "acc") << text;
    EXPECT_THAT(curve.steps, ElementsAre(0, 10)) << text;
    EXPECT_THAT(curve.values, ElementsAre(0.5, 0.75)) << text;
  }
}

TEST_F(CurveFile, ReadsTheExportOfTensorBoard) {
  const LoadedCurve curve = load("export.csv", "Wall time,Step,Value\n1.6e9,0,0.5\n1600000010,100,0.75\n");
  EXPECT_EQ(curve.column, "Value");
  EXPECT_EQ(curve.step_column, "Step");
  EXPECT_THAT(curve.steps, ElementsAre(0, 100));
}

TEST_F(CurveFile, ReadsTheExportOfWandb) {
  const LoadedCurve curve =
      load("wandb.csv",
           "\"Step\",\"a - val/acc\",\"a - val/acc__MIN\",\"a - val/acc__MAX\"\n"
           "\"0\",\"0.5\",\"0.5\",\"0.5\"\n\"1\",\"\",\"\",\"\"\n\"2\",\"0.75\",\"0.7\",\"0.8\"\n");
  EXPECT_EQ(curve.column, "a - val/acc");
  EXPECT_THAT(curve.steps, ElementsAre(0, 2)) << "an empty cell is no value";
}

TEST_F(CurveFile, NamesColumnsWithoutAHeader) {
  const LoadedCurve two = load("two.csv", "0,0.5\n100,0.75\n");
  EXPECT_EQ(two.column, "column2");
  EXPECT_EQ(two.step_column, "column1");
  EXPECT_THAT(two.steps, ElementsAre(0, 100));
  const LoadedCurve one = load("one.txt", "0.5\n0.25\n0.75\n");
  EXPECT_EQ(one.column, "column1");
  EXPECT_EQ(one.step_column, "row");
  EXPECT_THAT(one.steps, ElementsAre(1, 2, 3));
  EXPECT_THAT(one.values, ElementsAre(0.5, 0.25, 0.75));
}

TEST_F(CurveFile, ReadsJsonLinesWithNestedKeysAndPythonsNumbers) {
  const LoadedCurve curve =
      load("log.jsonl",
           "{\"step\": 1, \"val\": {\"accuracy\": 0.5, \"note\": \"a,}\\\"\"}, \"list\": [1, {\"x\": 2}]}\n"
           "{\"step\": 2, \"loss\": Infinity, \"ok\": true, \"none\": null}\n"
           "\n"
           "{\"step\": 3, \"val\": {\"accuracy\": NaN}}\r\n"
           "{\"step\": 4, \"val\": {\"accuracy\": \"NaN\"}}\n"
           "{\"step\": 5, \"val\": {\"accuracy\": -Infinity, \"\\u00b5\\ud83d\\ude00\": 1}}\n");
  EXPECT_EQ(curve.column, "val.accuracy");
  EXPECT_THAT(curve.available_columns, ElementsAre("val.accuracy", "loss", "val.\u00b5\U0001F600"));
  EXPECT_THAT(curve.steps, ElementsAre(1, 3, 4, 5));
  EXPECT_EQ(curve.values[0], 0.5);
  EXPECT_TRUE(std::isnan(curve.values[1]));
  EXPECT_TRUE(std::isnan(curve.values[2]));
  EXPECT_EQ(curve.values[3], -INFINITY);
}

TEST_F(CurveFile, ReadsTrainerStateArraysAndPrettyPrintedObjects) {
  const std::string rows = R"([{"step": 10, "loss": 2.5, "epoch": 0.1},
    {"step": 10, "eval_accuracy": 0.5}, {"step": 20, "loss": NaN}, {"step": 20, "eval_accuracy": 0.75}])";
  for (const std::string& text :
       {rows, "{\n \"epoch\": 1.0,\n \"global_step\": 20,\n \"log_history\": " + rows + ",\n \"max_steps\": 20\n}\n",
        std::string(
            "{\n  \"step\": 10,\n  \"eval_accuracy\": 0.5\n}\n{\n  \"step\": 20,\n  \"eval_accuracy\": 0.75\n}\n")}) {
    const LoadedCurve curve = load("trainer_state.json", text);
    EXPECT_EQ(curve.column, "eval_accuracy");
    EXPECT_THAT(curve.steps, ElementsAre(10, 20));
    EXPECT_THAT(curve.values, ElementsAre(0.5, 0.75));
  }
}

TEST_F(CurveFile, ReadsEventFilesAndDirectories) {
  const fs::path tb = directory_ / "run" / "tb";
  {
    EventWriter writer = EventWriter::find_or_create(tb);
    writer.add_scalars(1, {{"train/loss", 2}, {"val/accuracy", 0.25}}, 1e9);
    writer.add_scalars(2, {{"train/loss", 1}, {"val/accuracy", 0.5}}, 1e9 + 5);
  }
  for (const fs::path& path : {tb, tb.parent_path(), list_event_files(tb).front()}) {
    const LoadedCurve curve = load_curve(path);
    EXPECT_EQ(curve.column, "val/accuracy");
    EXPECT_THAT(curve.steps, ElementsAre(1, 2));
    EXPECT_THAT(curve.values, ElementsAre(0.25, 0.5));
  }
  EXPECT_THAT(load_curve(tb, "train/loss", "wall_time").steps, ElementsAre(1e9, 1e9 + 5));
  fs::rename(list_event_files(tb).front(), directory_ / "renamed.bin");
  EXPECT_EQ(load_curve(directory_ / "renamed.bin").column, "val/accuracy") << "told by content";
}

TEST_F(CurveFile, ReadsOurRunDirectory) {
  fs::create_directory(directory_ / "run");
  atomic_write(directory_ / "run" / "metrics.jsonl",
               "{\"step\":0,\"val_accuracy\":0.5}\n{\"step\":25,\"val_accuracy\":1}\n");
  EXPECT_THAT(load_curve(directory_ / "run").steps, ElementsAre(0, 25));
  fs::create_directory(directory_ / "empty");
  EXPECT_THROW(load_curve(directory_ / "empty"), Error);
}

TEST_F(CurveFile, PrefersValidationAccuracyThenAccuracyThenLosses) {
  const auto chosen = [&](const std::string& header) {
    std::string row = "1";
    for (const char c : header)
      if (c == ',') row += ",2";
    return load("log.csv", header + "\n" + row + "\n").column;
  };
  EXPECT_EQ(chosen("step,train_acc,loss,eval_loss,eval_accuracy"), "eval_accuracy");
  EXPECT_EQ(chosen("step,val_acc_best,val_acc_after_attack,val_acc"), "val_acc");
  EXPECT_EQ(chosen("epoch,loss,val_loss,accuracy"), "accuracy");
  EXPECT_EQ(chosen("epoch,sparse_categorical_accuracy,val_sparse_categorical_accuracy"),
            "val_sparse_categorical_accuracy");
  EXPECT_EQ(chosen("epoch,lr,trainLoss,validLoss"), "validLoss");
  EXPECT_EQ(chosen("iter,lr,train/loss"), "train/loss");
  EXPECT_EQ(chosen("step,reward"), "reward");
  EXPECT_EQ(chosen("step,time,reward"), "reward");
}

TEST_F(CurveFile, GuessesTheStepColumn) {
  const auto guessed = [&](const std::string& header) {
    std::string row = "1";
    for (const char c : header)
      if (c == ',') row += ",2";
    return load("log.csv", header + "\n" + row + "\n", "loss").step_column;
  };
  EXPECT_EQ(guessed("epoch,step,loss"), "step");
  EXPECT_EQ(guessed("epoch,_step,loss"), "_step");
  EXPECT_EQ(guessed("loss,Iteration"), "Iteration");
  EXPECT_EQ(guessed("loss,trainer/global_step,epoch"), "trainer/global_step");
  EXPECT_EQ(guessed("loss,train_loss_step,Epoch"), "Epoch");
  EXPECT_EQ(guessed("loss,lr"), "row");
}

TEST_F(CurveFile, LaterRowsReplaceEarlierOnesWhenALogGoesBack) {
  const LoadedCurve curve =
      load("log.csv", "step,acc\n1,0.1\n2,0.2\n3,0.3\n4,0.4\nstep,acc\n3,0.33\n3,0.35\n5,0.5\nnan,0.6\n");
  EXPECT_THAT(curve.steps, ElementsAre(1, 2, 3, 5));
  EXPECT_THAT(curve.values, ElementsAre(0.1, 0.2, 0.35, 0.5));
  EXPECT_EQ(curve.replaced_rows, 3U);
  EXPECT_EQ(curve.dropped_rows, 1U);
  EXPECT_EQ(curve.note, "1 row torn or without a step left out; 3 rows replaced by later ones of the same steps");
}

TEST_F(CurveFile, ATornLastLineIsDropped) {
  const std::string whole = "{\"step\": 1, \"acc\": 0.5}\n";
  const std::string next = "{\"step\": 2, \"acc\": 0.75}";
  for (std::size_t length = 1; length < next.size(); ++length) {
    const LoadedCurve curve = load("log.jsonl", whole + next.substr(0, length));
    ASSERT_THAT(curve.steps, ElementsAre(1)) << length;
    ASSERT_EQ(curve.dropped_rows, 1U);
  }
  EXPECT_EQ(load("log.jsonl", whole + next).steps.size(), 2U);
  EXPECT_EQ(load("log.jsonl", whole + std::string(100, '\0')).steps.size(), 1U) << "zeros left by a crash";
  EXPECT_EQ(load("log.csv", "step,acc\n1,0.5\n2").steps.size(), 1U);
}

TEST_F(CurveFile, AMalformedLineIsAnErrorWithItsPlace) {
  const std::string good = "{\"step\": 1, \"acc\": 0.5}\n";
  EXPECT_THAT(error_of("a.jsonl", good + "{\"step\": 2, \"acc\":\n" + good),
              HasSubstr("a.jsonl:2:19|the line ends inside"));
  EXPECT_THAT(error_of("a.jsonl", good + "{\"step\": 2, acc: 1}\n" + good),
              HasSubstr("a.jsonl:2:13|expected a key in quotes"));
  EXPECT_THAT(error_of("a.jsonl", good + "{\"step\": 2 \"acc\": 1}\n" + good), HasSubstr("a.jsonl:2:12|expected ','"));
  EXPECT_THAT(error_of("a.jsonl", good + "{\"step\": 2, \"acc\": 0.5.1}\n" + good),
              HasSubstr("2:20|'0.5.1' is no JSON value"));
  EXPECT_THAT(error_of("a.jsonl", good + "step 2\n" + good), HasSubstr("a.jsonl:2:1|expected an object but found 's'"));
  EXPECT_THAT(error_of("a.csv", "step,acc\n1,0.5\n2,good\n"),
              HasSubstr("a.csv:3:3|expected a number in column 'acc', found 'good'"));
  EXPECT_THAT(error_of("a.csv", "step,acc\n1,0.5\n2,0.5,7\n"), HasSubstr("a.csv:3:1|more cells than the 2 columns"));
  EXPECT_THAT(error_of("a.csv", "step,acc\n1,0.5\n2,\"0.5\n3,1\n"),
              HasSubstr("a.csv:3:3|a quoted field is never closed"));
}

TEST_F(CurveFile, AnUnknownColumnIsAnsweredWithTheNearest) {
  EXPECT_EQ(error_of("a.csv", "step,val_accuracy,loss\n1,2,3\n", "val_acuracy"),
            "a.csv|no column 'val_acuracy'|did you mean 'val_accuracy'?");
  EXPECT_EQ(error_of("a.csv", "step,alpha,beta\n1,2,3\n", "gradient_norm"),
            "a.csv|no column 'gradient_norm'|columns: step, alpha, beta");
  EXPECT_EQ(error_of("a.csv", "step,alpha,beta\n1,2,3\n"),
            "a.csv|cannot tell which column is the curve|name one with --column: alpha, beta");
  EXPECT_THAT(error_of("a.jsonl", "{\"step\": 1, \"loss\": 2}\n", "lsos"), HasSubstr("did you mean 'loss'?"));
}

TEST_F(CurveFile, SaysWhyThereIsNoCurve) {
  EXPECT_THAT(error_of("a.csv", ""), HasSubstr("a.csv|is empty|"));
  EXPECT_THAT(error_of("a.csv", " \n\n"), HasSubstr("a.csv|is empty|"));
  EXPECT_THAT(error_of("a.csv", "# only a comment\n"), HasSubstr("a.csv|holds no rows|"));
  EXPECT_THAT(error_of("a.csv", "step,acc\n"), HasSubstr("a.csv|holds a header but no rows|"));
  EXPECT_THAT(error_of("a.csv", "step,acc\n1,\n2,\n", "acc"), HasSubstr("a.csv|column 'acc' holds no values|"));
  EXPECT_THAT(error_of("a.csv", "step,phase\n1,warm-up\n2,decay\n"), HasSubstr("no column of numbers but the steps"));
  EXPECT_THAT(error_of("a.txt", "It was a bright cold day in April.\nThe clocks were striking thirteen.\n"),
              HasSubstr("a.txt|holds no column of numbers|"));
  EXPECT_THAT(error_of("a.bin", std::string("\x7F"
                                            "ELF\0\1\2\3",
                                            8)),
              HasSubstr("a.bin: byte 4|is a binary file"));
  EXPECT_THAT(error_of("a.gz", "\x1F\x8B\x08 and so on"), HasSubstr("a.gz|gzip data are damaged"));
  EXPECT_THAT(error_of("a.jsonl", "{}\n"), HasSubstr("a.jsonl|holds no column of numbers|"));
  EXPECT_THAT(error_of("a.jsonl", "{\"step\": 1, \"acc"), HasSubstr("a.jsonl|holds no column of numbers|"));
  EXPECT_THAT(error_of("events.out.tfevents.1.host", ""), HasSubstr("|holds no scalars|"));
  EXPECT_THROW(load_curve(directory_ / "missing.csv"), Error);
}

TEST_F(CurveFile, DeepOrWideJsonIsRefusedInsteadOfEatingTheMemory) {
  EXPECT_THAT(error_of("a.jsonl", "{\"a\": " + std::string(100000, '[')), HasSubstr("nested more than 64 levels"));
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "{\"a\":";
  EXPECT_THAT(error_of("a.jsonl", deep), HasSubstr("nested more than 64 levels"));
  EXPECT_THAT(error_of("a.jsonl", "{\"" + std::string(5000, 'k') + "\": 1}\n"), HasSubstr("a key is too long"));
  std::string wide = "{";
  for (int i = 0; i < 100001; ++i) wide += "\"k" + std::to_string(i) + "\":1,";
  EXPECT_THAT(error_of("a.jsonl", wide + "\"z\":1}\n"), HasSubstr("more than 100000 different keys"));
}

TEST_F(CurveFile, RandomTextIsReadOrRefusedButNeverCrashes) {
  std::mt19937 random(11);
  const std::string csv_alphabet = "0123456789.,;\t \"\n\r#-+eEnainf_stepacl";
  const std::string json_alphabet = "{}[]\":,\\u0123456789.-+eNaInfity \n{\"step\":1,\"acc\":0.5}\n";
  for (int round = 0; round < 20000; ++round) {
    const bool json = round % 2 == 1;
    const std::string& alphabet = json ? json_alphabet : csv_alphabet;
    std::string text = json ? "{\"step\":1,\"acc\":0.5}\n" : "step,acc\n1,2\n";
    text.resize(random() % text.size());
    const std::size_t length = text.size() + random() % 60;
    while (text.size() < length) text.push_back(alphabet[random() % alphabet.size()]);
    try {
      if (json) {
        parse_json_rows(text, "fuzz");
      } else {
        const CsvTable table(text, "fuzz");
        std::vector<std::size_t> all(table.columns().size());
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
        EXPECT_EQ(table.numeric_columns().size(), all.size());
        table.read(all, [&](std::span<const CsvCell> row) { EXPECT_EQ(row.size(), all.size()); });
      }
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::input);
    }
  }
}

TEST(ParseNumber, TakesTheWholeTextOrNothing) {
  EXPECT_EQ(parse_number("-1.5e3"), -1500);
  EXPECT_EQ(parse_number("+2"), 2);
  EXPECT_EQ(parse_number("1e999"), INFINITY);
  EXPECT_EQ(parse_number("-1e999"), -INFINITY);
  EXPECT_EQ(parse_number("1e-999"), 0);
  EXPECT_EQ(parse_number("-inf"), -INFINITY);
  EXPECT_TRUE(std::isnan(*parse_number("NaN")));
  for (const char* text : {"", "+", "1.5x", "0x10", "--1", "1 2", "e5"}) EXPECT_FALSE(parse_number(text)) << text;
}

}  // namespace
}  // namespace eureka
