// eureka data, as a user runs it, in a data directory of its own.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "support/archives.h"
#include "support/command.h"

namespace eureka {
namespace {

using testing::HasSubstr;

class DataVerb : public testing::Test {
 protected:
  DataVerb() { ::setenv("EUREKA_DATA_DIR", data().c_str(), 1); }
  ~DataVerb() override { ::unsetenv("EUREKA_DATA_DIR"); }

  fs::path data() const { return directory_.path() / "data"; }
  void write(const std::string& name, const std::string& content) const {
    std::ofstream(directory_.path() / name, std::ios::binary) << content;
  }
  void write_idx_files() const {
    write("train-images-idx3-ubyte", idx_images(30));
    write("train-labels-idx1-ubyte", idx_labels(30));
    write("t10k-images-idx3-ubyte.gz", gzip(idx_images(10)));
    write("t10k-labels-idx1-ubyte", idx_labels(10));
  }
  std::string own() const { return directory_.path().string(); }

  TemporaryDirectory directory_;
};

TEST_F(DataVerb, GetsListsAndVerifiesOwnFiles) {
  write_idx_files();
  const CommandResult got = eureka_command({"data", "get", "mnist", "--from", own()});
  EXPECT_EQ(got.exit_code, 0) << got.err;
  EXPECT_EQ(got.out, "mnist: 30 training and 10 test images\n");
  EXPECT_EQ(eureka_command({"data", "get", "mnist", "--from", own()}).out, "mnist: there already (own files)\n");
  EXPECT_THAT(eureka_command({"data", "list"}).out, HasSubstr("mnist"));
  EXPECT_EQ(eureka_command({"data", "verify"}).out, "mnist: good\n");

  std::string bytes = read_file(data() / "mnist.images");
  bytes.back() = static_cast<char>(~bytes.back());
  atomic_write(data() / "mnist.images", bytes);
  const CommandResult damaged = eureka_command({"data", "verify", "mnist"});
  EXPECT_EQ(damaged.exit_code, 1);
  EXPECT_THAT(damaged.out, HasSubstr("the pixels are damaged"));
}

TEST_F(DataVerb, WrongFilesGetOneClearMessage) {
  write_idx_files();
  write("train-labels-idx1-ubyte", "nonsense");
  const CommandResult result = eureka_command({"data", "get", "mnist", "--from", own()});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("train-labels-idx1-ubyte: wrong magic number"));
  EXPECT_FALSE(fs::exists(data() / "mnist.images"));
  EXPECT_EQ(eureka_command({"data", "get", "mnits"}).exit_code, 2);
}

TEST_F(DataVerb, ATaskWithoutItsDataSaysWhatToDo) {
  const CommandResult result =
      eureka_command({"data", "show", "digit-pair", "--set", "task.data=mnist", "--out", own() + "/x.png"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err,
              HasSubstr("the data sets mnist and fashion-mnist are not here\n  eureka data get mnist fashion-mnist\n"));
}

TEST_F(DataVerb, AStudyWithoutItsDataDoesNotBegin) {
  const CommandResult result = eureka_command({"study", "position-scale", "--out", own() + "/study"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err,
              HasSubstr("the data sets mnist and fashion-mnist are not here\n  eureka data get mnist fashion-mnist\n"));
  EXPECT_FALSE(fs::exists(own() + "/study"));
}

TEST_F(DataVerb, ShowsTasksAndDataSetsAsPng) {
  for (const std::string name : {"digit-pair", "object-pair", "glyph-clothes", "glyph-objects"}) {
    const std::string out = own() + "/" + name + ".png";
    const CommandResult result = eureka_command({"data", "show", name, "--n", "4", "--out", out});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(read_file(out).substr(0, 8), "\x89PNG\r\n\x1a\n");
  }
  EXPECT_THAT(eureka_command({"data", "show", "digit-pear"}).err, HasSubstr("did you mean 'digit-pair'?"));
}

TEST_F(DataVerb, ShowsATaskWithoutImagesAsATable) {
  const CommandResult result = eureka_command({"data", "show", "copy", "--n", "1", "--set", "task.length=2"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, testing::MatchesRegex(".*sample +token +id +role +answer +look at +current\n"
                                                " *0 +0 +[0-9]+ +source\n"
                                                " *0 +1 +[0-9]+ +source\n"
                                                " *0 +2 +16 +separator +[0-9]+ +0 +16\n"
                                                " *0 +3 +[0-9]+ +copy +[0-9]+ +1 +[0-9]+\n"
                                                "source: an id to be copied\n.*"));
  EXPECT_EQ(eureka_command({"data", "show", "two-step"}).exit_code, 0);
  const CommandResult picture = eureka_command({"data", "show", "two-step", "--out", own() + "/x.png"});
  EXPECT_EQ(picture.exit_code, 2);
  EXPECT_THAT(picture.err, HasSubstr("the task two-step has no images to draw"));
}

TEST_F(DataVerb, TextsAreListedAndTheSampleNeedsNoFetching) {
  const CommandResult listed = eureka_command({"data", "list"});
  EXPECT_THAT(listed.out, testing::ContainsRegex("sample +compiled in +177137 +19681 "));
  EXPECT_THAT(listed.out, testing::ContainsRegex("kjv +not here .*eureka data get kjv"));
  EXPECT_EQ(eureka_command({"data", "get", "sample"}).out, "sample: there already (bible-kjv-text 4.38)\n");
  EXPECT_EQ(eureka_command({"data", "get", "kjv", "--from", own()}).exit_code, 2);
  EXPECT_EQ(eureka_command({"data", "show", "masked-language", "--n", "1"}).exit_code, 0);
}

TEST_F(DataVerb, ALanguageRunLogsTheInductionProbesAndAWrongTextLeavesNoDirectory) {
  const std::string run = own() + "/run", none = own() + "/none";
  const CommandResult result = eureka_command({"train", "language", "--quiet", "--out", run, "--set", "train.steps=2",
                                               "--set", "train.batch=2", "--set", "train.validation_samples=2"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const std::string rows = read_file(run + "/metrics.jsonl");
  for (const char* name : {"val_bits_per_character", "val_loss_induction", "val_accuracy_induction_first_half"})
    EXPECT_THAT(rows, HasSubstr(fmt::format("\"{}\":", name)));
  const CommandResult wrong = eureka_command({"train", "language", "--out", none, "--set", "task.text=kjv"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("the text kjv is not here\n  eureka data get kjv\n"));
  EXPECT_FALSE(fs::exists(none));
}

}  // namespace
}  // namespace eureka
