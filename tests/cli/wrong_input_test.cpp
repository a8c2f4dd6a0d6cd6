// Wrong input gets one clear message, the right exit code, and loses nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <algorithm>
#include <fstream>

#include "support/command.h"

namespace eureka {
namespace {

using testing::HasSubstr;

class WrongInput : public testing::Test {
 protected:
  fs::path write(const std::string& name, const std::string& text) const {
    const fs::path path = directory_.path() / name;
    std::ofstream(path) << text;
    return path;
  }
  std::string out() const { return (directory_.path() / "run").string(); }

  // Refused with exit code `code`, a message that has all of `parts`, at most two lines, no stack of them.
  void expect_refused(const std::vector<std::string>& arguments, const std::vector<std::string>& parts,
                      int code = 2) const {
    const CommandResult result = eureka_command(arguments);
    EXPECT_EQ(result.exit_code, code) << result.err;
    EXPECT_TRUE(result.err.starts_with("eureka: ")) << result.err;
    EXPECT_LE(std::count(result.err.begin(), result.err.end(), '\n'), 2) << result.err;
    for (const std::string& part : parts) EXPECT_THAT(result.err, HasSubstr(part));
  }

  std::vector<std::string> short_run(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {
        "train", "two-step", "--quiet", "--out", out(), "--set", "train.steps=40", "--set", "run.checkpoint_every=10"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  TemporaryDirectory directory_;
};

TEST_F(WrongInput, OnTheCommandLine) {
  expect_refused({"trian"}, {"no verb 'trian'", "did you mean 'train'?"});
  expect_refused({"train", "two-step", "--seeed", "1"}, {"no option '--seeed'", "did you mean '--seed'?"});
  expect_refused({"train", "two-step", "--seed", "x"}, {"--seed"});
  expect_refused({"train"}, {"needs a preset or a file"});
  expect_refused({"train", "two-stpe"}, {"no preset and no file is named 'two-stpe'", "did you mean 'two-step'?"});
  expect_refused({}, {"--help"});
  expect_refused({"study"}, {"needs a preset or a file"});
  expect_refused({"study", "curse"}, {"did you mean 'cures'?"});
  expect_refused({"list", "taks"}, {"did you mean 'tasks'?"});
  expect_refused({"list", "options", "trian"}, {"did you mean 'train'?"});
  EXPECT_EQ(eureka_command({"--help"}).exit_code, 0);
  EXPECT_EQ(eureka_command({"--version"}).exit_code, 0);
}

TEST_F(WrongInput, InAConfig) {
  expect_refused(short_run({"--set", "train.stepz=3"}),
                 {"--set train.stepz=3", "unknown key 'train.stepz'", "did you mean 'train.steps'?"});
  expect_refused(short_run({"--set", "train.lr=fast"}), {"must be a number"});
  expect_refused(short_run({"--set", "train.batch=0"}), {"'train.batch' must be between 1"});
  expect_refused(short_run({"--set", "train.lr"}), {"expected section.key=value"});
  expect_refused(short_run({"--set", "model.width=33"}), {"not a multiple of 'model.heads'"});
  // A program without libtorch refuses every device but the CPU.
  const bool torch = EUREKA_BUILT_WITH_TORCH;
  expect_refused(short_run({"--set", "run.device=quantum"}), {torch ? "names no device" : "without libtorch"});
  expect_refused(short_run({"--set", "run.device=cuda:99"}), {torch ? "'run.device' is cuda:99" : "without libtorch"});
  const fs::path broken = write("broken.toml", "[task]\nname = \n");
  expect_refused({"train", broken.string(), "--out", out()}, {"broken.toml:2:", "not valid TOML"});
  expect_refused({"train", write("binary.toml", std::string("\0\xff\x01\x02", 4)).string(), "--out", out()},
                 {"not valid TOML"});
  EXPECT_FALSE(fs::exists(out())) << "a refused config leaves no directory behind";
}

TEST_F(WrongInput, InARunDirectory) {
  ASSERT_EQ(eureka_command(short_run()).exit_code, 0);
  expect_refused(short_run(), {"already holds a run", "--resume"});
  expect_refused(short_run({"--resume", "--set", "train.lr=1e-3"}), {"train.lr = 0.003, not 0.001"});
  expect_refused({"train", "--resume", "--out", (directory_.path() / "nowhere").string()}, {"holds no run"});
  expect_refused(short_run({"--resume", "--step", "17"}), {"no checkpoint of step 17", "10, 20, 30, 40"});
}

TEST_F(WrongInput, ATruncatedCheckpointNamesTheIntactOne) {
  ASSERT_EQ(eureka_command(short_run()).exit_code, 0);
  fs::remove(fs::path(out()) / "summary.json");
  const fs::path model = fs::path(out()) / "checkpoints/step-40/model.safetensors";
  fs::resize_file(model, 5000);
  expect_refused(short_run({"--resume"}), {"model.safetensors", "step-30 is intact", "--resume --step 30"});
  EXPECT_EQ(eureka_command(short_run({"--resume", "--step", "30"})).exit_code, 0);
}

TEST_F(WrongInput, ASecondProcessOnTheSameDirectoryIsRefused) {
  Command first(short_run({"--set", "train.steps=100000"}));
  ASSERT_TRUE(first.wait_until([&] { return fs::exists(fs::path(out()) / "meta.json"); }));
  expect_refused(short_run({"--resume", "--set", "train.steps=100000"}), {"in use by another eureka process"});
  first.send(SIGTERM);
  EXPECT_EQ(first.wait().exit_code, 4);
}

TEST_F(WrongInput, AnOutputPlaceThatCannotBeUsed) {
  write("file", "in the way");
  expect_refused({"train", "two-step", "--quiet", "--out", (directory_.path() / "file" / "run").string()},
                 {"cannot create the directory"});
  expect_refused({"train", "two-step", "--quiet", "--out", (directory_.path() / "file").string()},
                 {"cannot create the directory"});
}

// A small file system of its own; needs the right to mount.
class SmallDisk : public WrongInput {
 protected:
  void SetUp() override {
    fs::create_directories(disk_);
    mounted_ = ::mount("tmpfs", disk_.c_str(), "tmpfs", 0, "size=256k") == 0;
    if (!mounted_) GTEST_SKIP() << "not allowed to mount a tmpfs";
  }
  void TearDown() override {
    if (mounted_) ::umount2(disk_.c_str(), MNT_DETACH);
  }
  std::vector<std::string> run_there(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = short_run(more);
    words[4] = (disk_ / "run").string();
    return words;
  }

  fs::path disk_ = directory_.path() / "disk";
  bool mounted_ = false;
};

TEST_F(SmallDisk, FullStopsTheRunAndLosesNothing) {
  expect_refused(run_there(), {"No space left on device", "--resume"}, 1);
  EXPECT_FALSE(fs::exists(disk_ / "run" / "summary.json"));
  ASSERT_EQ(::mount("tmpfs", disk_.c_str(), "tmpfs", MS_REMOUNT, "size=16m"), 0);
  ASSERT_EQ(eureka_command(run_there({"--resume"})).exit_code, 0);
  ASSERT_EQ(eureka_command(short_run()).exit_code, 0);
  for (const char* name : {"summary.json", "metrics.jsonl"})
    EXPECT_EQ(read_file(disk_ / "run" / name), read_file(fs::path(out()) / name)) << name;
}

TEST_F(SmallDisk, ReadOnlyIsRefusedBeforeTraining) {
  fs::create_directories(disk_ / "run");
  ASSERT_EQ(::mount("tmpfs", disk_.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr), 0);
  expect_refused(run_there(), {"Read-only file system", "--out"});
}

TEST_F(WrongInput, InAStudyIsToldBeforeAnythingRuns) {
  const std::string head = "[study]\nbase = \"two-step\"\nseeds = 2\n";
  const std::string arm = "[[arm]]\nname = \"a\"\n";
  const auto refused = [&](const std::string& text, const std::vector<std::string>& parts) {
    expect_refused({"study", write("s.toml", text).string(), "--out", out()}, parts);
  };
  refused(head + arm + "[[arm]]\nname = \"b\"\nset.train.lrr = 1.0\n", {"s.toml:8:", "unknown key 'train.lrr'"});
  refused(head + arm + arm, {"two arms are named 'a'"});
  refused(head + "[[arm]]\nname = \"../a\"\n", {"cannot name an arm"});
  refused(head, {"no [[arm]]"});
  refused("[study]\nbase = \"two-step\"\nseeds = \"all\"\n" + arm, {"'study.seeds' must be a whole number"});
  refused("[study]\nbase = \"two-stp\"\nseeds = 2\n" + arm, {"did you mean 'two-step'?"});
  refused("[train]\nsteps = 3\n", {"s.toml:2:1", "unknown key"});
  refused(head + arm + "[axes]\ntrain.lrr = [1, 2]\n", {"s.toml:7:", "unknown key 'train.lrr'", "'train.lr'"});
  refused(head + arm + "[axes]\ntrain.lr = [1e-3, 1e9]\n", {"s.toml:7:19", "'train.lr' must be between"});
  refused(head + arm + "[axes]\ntrain.lr = [1e-3, \"fast\"]\n", {"s.toml:7:19", "must be a number"});
  refused(head + arm + "set.train.lr = 0.5\n[axes]\ntrain.lr = [1, 2]\n", {"s.toml:6:", "which is an axis"});
  refused(head + arm + "[[arm]]\nname = \"b\"\nset.model.width = 33\n", {"arm 'b'", "not a multiple of 'model.heads'"});
  refused(head + arm + "[[arm]]\nname = \"b\"\nset.model = { name = \"mlp\", width = 32 }\n",
          {"s.toml:8:", "unknown key"});
  refused(head + arm + "[[arm]\n", {"s.toml:6:", "not valid TOML"});
  expect_refused({"train", write("t.toml", head + arm).string(), "--out", out()}, {"eureka study FILE"});
  EXPECT_FALSE(fs::exists(out()));
}

TEST_F(WrongInput, InALogToDetectIn) {
  expect_refused({"detect", (directory_.path() / "missing.csv").string()}, {"missing.csv", "cannot read"});
  expect_refused({"detect", write("empty.csv", "").string()}, {"empty.csv"});
  expect_refused({"detect", write("garbage.bin", std::string("\x00\x01\x02\xff\xfe garbage", 14)).string()},
                 {"garbage.bin"});
  const fs::path log = write("log.csv", "step,val_accuracy\n1,0.5\n2,0.6\n");
  expect_refused({"detect", log.string(), "--column", "val_acuracy"}, {"did you mean 'val_accuracy'?"});
}

}  // namespace
}  // namespace eureka
