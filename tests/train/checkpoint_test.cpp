#include "train/checkpoint.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"
#include "support/temporary_directory.h"

namespace eureka {
namespace {

Checkpoint example(std::int64_t step) {
  Checkpoint checkpoint;
  checkpoint.loop = {.step = step, .metrics_bytes = 10, .loss_sum = 0.1 + 0.2, .sum_steps = 3};
  checkpoint.engine.model = {{"w", {2, 2}, {1, 2, 3, 4}}};
  checkpoint.engine.optimizer = {{"m.w", {2, 2}, {0.1F, 0.2F, 0.3F, 0.4F}}};
  return checkpoint;
}

class CheckpointTest : public testing::Test {
 protected:
  void SetUp() override { make_directories(run_.path() / "checkpoints"); }
  std::string refusal(std::int64_t step) const {
    try {
      read_checkpoint(run_.path(), step);
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), 2);
      return error.message();
    }
    return "accepted";
  }
  fs::path file(std::int64_t step, const char* name) const {
    return run_.path() / "checkpoints" / ("step-" + std::to_string(step)) / name;
  }

  TemporaryDirectory run_;
};

TEST_F(CheckpointTest, KeepsEveryBit) {
  write_checkpoint(run_.path(), example(100));
  const Checkpoint back = read_checkpoint(run_.path(), 100);
  EXPECT_EQ(back.loop.loss_sum, 0.1 + 0.2);
  EXPECT_EQ(back.loop.metrics_bytes, 10U);
  EXPECT_EQ(back.engine.model[0].values, (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(back.engine.optimizer[0].values, (std::vector<float>{0.1F, 0.2F, 0.3F, 0.4F}));
}

TEST_F(CheckpointTest, HasOneNanWhateverTheProcessorMade) {
  std::vector<std::string> saved;
  for (const float nan : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::quiet_NaN()}) {
    Checkpoint checkpoint = example(100);
    checkpoint.engine.model[0].values[1] = nan;
    write_checkpoint(run_.path(), checkpoint);
    saved.push_back(read_file(file(100, "model.safetensors")));
  }
  EXPECT_EQ(saved[0], saved[1]);
}

TEST_F(CheckpointTest, OneWithoutDoneDoesNotExist) {
  write_checkpoint(run_.path(), example(100));
  write_checkpoint(run_.path(), example(200));
  fs::remove(file(200, "DONE"));
  EXPECT_EQ(list_checkpoints(run_.path()), (std::vector<std::int64_t>{100}));
}

TEST_F(CheckpointTest, DamageIsToldFromHealthWithTheWayOut) {
  write_checkpoint(run_.path(), example(100));
  write_checkpoint(run_.path(), example(200));
  fs::resize_file(file(200, "model.safetensors"), fs::file_size(file(200, "model.safetensors")) - 5);
  const std::string message = refusal(200);
  EXPECT_NE(message.find("tensor 'w' needs 16 bytes"), std::string::npos) << message;
  EXPECT_NE(message.find("step-100 is intact: resume from it with --resume --step 100"), std::string::npos) << message;
}

TEST_F(CheckpointTest, AFlippedBitIsFound) {
  for (const char* name : {"model.safetensors", "optimizer.safetensors", "state.json"}) {
    write_checkpoint(run_.path(), example(100));
    std::string bytes = read_file(file(100, name));
    bytes[bytes.size() - 3] = static_cast<char>(bytes[bytes.size() - 3] ^ 1);
    atomic_write(file(100, name), bytes);
    EXPECT_NE(refusal(100).find("damaged"), std::string::npos) << name;
  }
}

TEST_F(CheckpointTest, PruneKeepsTheNewest) {
  for (const std::int64_t step : {100, 200, 300}) write_checkpoint(run_.path(), example(step));
  fs::create_directories(run_.path() / "checkpoints" / ".step-400.tmp");
  prune_checkpoints(run_.path(), 2);
  EXPECT_EQ(list_checkpoints(run_.path()), (std::vector<std::int64_t>{200, 300}));
  EXPECT_FALSE(fs::exists(run_.path() / "checkpoints" / ".step-400.tmp"));
}

TEST_F(CheckpointTest, IsNotWrittenWhereTheDirectoryWasRemoved) {
  fs::remove_all(run_.path() / "checkpoints");
  EXPECT_THROW(write_checkpoint(run_.path(), example(100)), Error);
  EXPECT_FALSE(fs::exists(run_.path() / "checkpoints"));
}

TEST_F(CheckpointTest, TheLaterOnesGoAndNothingIsLeftOfThem) {
  for (const std::int64_t step : {100, 200, 300}) write_checkpoint(run_.path(), example(step));
  remove_checkpoints_after(run_.path(), 100);
  EXPECT_EQ(list_checkpoints(run_.path()), std::vector<std::int64_t>{100});
  EXPECT_EQ(std::distance(fs::directory_iterator(run_.path() / "checkpoints"), {}), 1);
}

TEST_F(CheckpointTest, OfAStoppedRunIsToldFromTheOthersAndRemoved) {
  for (const std::int64_t step : {100, 117, 123, 200}) {
    Checkpoint checkpoint = example(step);
    checkpoint.loop.temporary = step % 100 != 0;
    write_checkpoint(run_.path(), checkpoint);
  }
  remove_temporary_checkpoints(run_.path(), 123);
  EXPECT_EQ(list_checkpoints(run_.path()), (std::vector<std::int64_t>{100, 123, 200}));
  EXPECT_TRUE(read_checkpoint(run_.path(), 123).loop.temporary);
  EXPECT_FALSE(read_checkpoint(run_.path(), 200).loop.temporary);
}

TEST_F(CheckpointTest, HalfRemovedByAKilledProcessIsNoneAndGoesWithTheNextPruning) {
  write_checkpoint(run_.path(), example(100));
  fs::rename(run_.path() / "checkpoints" / "step-100", run_.path() / "checkpoints" / ".step-100.removed.tmp");
  EXPECT_TRUE(list_checkpoints(run_.path()).empty());
  prune_checkpoints(run_.path(), 0);
  EXPECT_TRUE(fs::is_empty(run_.path() / "checkpoints"));
}

}  // namespace
}  // namespace eureka
