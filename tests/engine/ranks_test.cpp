#include "engine/ranks.h"

#include <gtest/gtest.h>

#include <map>

#include "base/error.h"

namespace eureka {
namespace {

Environment environment(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

TEST(Ranks, ReadWhatTorchrunSays) {
  const auto place = place_in_environment(environment({{"WORLD_SIZE", "6"},
                                                       {"RANK", "4"},
                                                       {"LOCAL_RANK", "1"},
                                                       {"MASTER_ADDR", "node1"},
                                                       {"MASTER_PORT", "29500"},
                                                       {"TORCHELASTIC_USE_AGENT_STORE", "True"}}));
  ASSERT_TRUE(place);
  EXPECT_EQ(place->rank, 4);
  EXPECT_EQ(place->size, 6);
  EXPECT_EQ(place->local_rank, 1);
  EXPECT_EQ(place->address, "node1");
  EXPECT_EQ(place->port, 29501) << "torchrun itself listens at the port it names";
  const auto by_hand = place_in_environment(environment({{"WORLD_SIZE", "2"}, {"RANK", "0"}, {"MASTER_PORT", "4000"}}));
  ASSERT_TRUE(by_hand);
  EXPECT_EQ(by_hand->port, 4000);
  EXPECT_EQ(by_hand->address, "127.0.0.1");
}

TEST(Ranks, OneProcessIsNoRankAndHalfAPlaceIsRefused) {
  EXPECT_FALSE(place_in_environment(environment({})));
  EXPECT_FALSE(place_in_environment(environment({{"RANK", "1"}})));
  EXPECT_FALSE(place_in_environment(environment({{"WORLD_SIZE", "1"}})));
  EXPECT_FALSE(place_in_environment(environment({{"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "1"}})))
      << "a job of several tasks is not asked to share one run";
  for (const auto& variables :
       std::vector<std::map<std::string, std::string>>{{{"WORLD_SIZE", "2"}, {"MASTER_PORT", "4000"}},
                                                       {{"WORLD_SIZE", "2"}, {"RANK", "2"}, {"MASTER_PORT", "4000"}},
                                                       {{"WORLD_SIZE", "2"}, {"RANK", "one"}, {"MASTER_PORT", "4000"}},
                                                       {{"WORLD_SIZE", "2"}, {"RANK", "1"}},
                                                       {{"WORLD_SIZE", "-3"}, {"RANK", "0"}, {"MASTER_PORT", "4000"}}})
    EXPECT_THROW(place_in_environment(environment(variables)), Error);
}

TEST(Ranks, ReadWhatSrunSays) {
  std::map<std::string, std::string> variables = {
      {"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "3"}, {"SLURM_LOCALID", "1"}, {"SLURM_JOB_ID", "1234567"}};
  const std::pair<const char*, const char*> lists[] = {{"gpu[03-05,7],login1", "gpu03"},
                                                       {"gpu[7,9]", "gpu7"},
                                                       {"login1,gpu[1-2]", "login1"},
                                                       {"rack[2]-ib,rack3", "rack2-ib"},
                                                       {"alone", "alone"}};
  for (const auto& [list, first] : lists) {
    variables["SLURM_JOB_NODELIST"] = list;
    const auto place = place_in_slurm(environment(variables));
    ASSERT_TRUE(place);
    EXPECT_EQ(place->address, first);
    EXPECT_EQ(place->rank, 3);
    EXPECT_EQ(place->size, 4);
    EXPECT_EQ(place->local_rank, 1);
    EXPECT_EQ(place->port, 24567);
  }
  EXPECT_THROW(place_in_slurm(environment({})), Error);
  variables["SLURM_NTASKS"] = "1";
  EXPECT_FALSE(place_in_slurm(environment(variables)));
}

TEST(Ranks, SharesOfABatchAreEvenAndLeaveNoSampleOut) {
  for (const std::int64_t samples : {0, 1, 3, 7, 128})
    for (const int size : {1, 2, 3, 4, 7}) {
      std::int64_t next = 0;
      for (int rank = 0; rank < size; ++rank) {
        const BatchShare share = share_of(samples, rank, size);
        EXPECT_EQ(share.first, next);
        EXPECT_GE(share.count, samples / size);
        EXPECT_LE(share.count, (samples + size - 1) / size);
        next += share.count;
      }
      EXPECT_EQ(next, samples);
    }
}

TEST(Ranks, AShareHasItsSamplesOfEverythingAnEngineReads) {
  Batch batch;
  batch.samples = 3;
  batch.inputs = {0, 1, 2, 3, 4, 5};
  batch.ids = {10, 11, 12};
  batch.labels = {20, 21, 22, 23, 24, 25};
  batch.asked = {1, 0, 1, 1, 0, 1};
  batch.visible = {1, 0, 1};
  batch.wanted = {0, 0, 1, 1, 0, 1};
  Batch share;
  share.targets = {7};  // of a batch before
  take_share(batch, {1, 2}, share);
  EXPECT_EQ(share.samples, 2);
  EXPECT_EQ(share.inputs, (std::vector<float>{2, 3, 4, 5}));
  EXPECT_EQ(share.ids, (std::vector<std::int32_t>{11, 12}));
  EXPECT_EQ(share.labels, (std::vector<std::int64_t>{22, 23, 24, 25}));
  EXPECT_TRUE(share.targets.empty());
  EXPECT_EQ(share.asked, (std::vector<std::uint8_t>{1, 1, 0, 1}));
  EXPECT_EQ(share.visible, (std::vector<std::uint8_t>{0, 1}));
  EXPECT_EQ(share.wanted, (std::vector<std::uint8_t>{1, 1, 0, 1}));
}

}  // namespace
}  // namespace eureka
