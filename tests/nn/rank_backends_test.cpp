// What several processes add up over: which backend takes which tensors, and what is done where one is missing. Ranks
// are threads of one process; no CUDA device is needed.
#include "nn/rank_backend.h"

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <set>
#include <thread>

#include "base/error.h"
#include "nn/device.h"
#include "nn/process_group.h"
#include "nn/rank_device.h"
#include "support/rank_threads.h"

namespace eureka {
namespace {

// Adds nothing up, and notes what it was given.
class NotingBackend final : public RankBackend {
 public:
  NotingBackend(std::string name, std::vector<std::string>& notes) : name_(std::move(name)), notes_(notes) {}

  Work begin_sum(const at::Tensor& numbers) override { return note("sum on " + numbers.device().str()); }
  Work begin_share(const at::Tensor& numbers) override { return note("share on " + numbers.device().str()); }
  bool is_done(c10d::Work&) override { return true; }
  void leave() override { note("leaves"); }
  void abandon() override {}

 private:
  Work note(const std::string& what) {
    notes_.push_back(name_ + ": " + what);
    return c10::make_intrusive<c10d::Work>();
  }

  std::string name_;
  std::vector<std::string>& notes_;
};

ConnectRanks noting(const std::string& name, std::vector<std::string>& notes) {
  return [=, &notes](const RankPlace&, const RankStore&) {
    notes.push_back(name + ": connects");
    return std::make_unique<NotingBackend>(name, notes);
  };
}

// Torch's meta device stands for a GPU.
TEST(Ranks, DeviceMemoryGoesToTheDeviceAndHostMemoryToTheHost) {
  std::vector<std::string> notes;
  over_ranks(1,
             [&](ProcessGroup& group) {
               const at::Tensor host = at::ones({3}, at::TensorOptions());
               group.work_on(host.device());
               EXPECT_EQ(notes, std::vector<std::string>{"host: connects"}) << "a run on the CPU needs no device";
               group.work_on(at::Device("meta"));
               group.begin_sum(at::ones({3}, at::TensorOptions().device("meta")));
               group.begin_sum(host);
               group.finish();
               std::string text = "text";
               group.share(text);
             },
             {.host = noting("host", notes), .device = noting("device", notes)});
  EXPECT_EQ(notes,
            (std::vector<std::string>{"host: connects", "device: connects", "device: sum on meta", "host: sum on cpu",
                                      "host: share on cpu", "host: share on cpu", "device: leaves", "host: leaves"}));
}

// As NCCL alone does it, over Gloo in its place: what is on the host goes through a copy.
TEST(Ranks, WithoutGlooTheHostIsAddedUpByWayOfTheDevice) {
  EUREKA_NEEDS_GLOO();
  over_ranks(3,
             [](ProcessGroup& group) {
               const double rank = group.place().rank;
               std::vector<double> numbers = {rank, 10 * rank};
               group.add_up(numbers);
               EXPECT_EQ(numbers, (std::vector<double>{3, 30}));
               std::string text = group.place().leads() ? "of rank 0" : "another";
               group.share(text);
               EXPECT_EQ(text, "of rank 0");
               std::vector<float> state(5, static_cast<float>(rank + 1));
               group.share(state);
               EXPECT_EQ(state, std::vector<float>(5, 1.0F));
             },
             {.host = {}, .device = gloo_connection(), .instead_of_host = at::Device("cpu")});
}

TEST(Ranks, WithoutGlooTheCpuIsRefused) {
  std::vector<std::string> notes;
  over_ranks(1,
             [](ProcessGroup& group) {
               try {
                 group.work_on(at::Device("cpu"));
                 ADD_FAILURE() << "it has nothing to add up with there";
               } catch (const Error& error) {
                 EXPECT_EQ(error.kind(), ErrorKind::config);
                 EXPECT_NE(std::string(error.what()).find("CUDA devices only"), std::string::npos) << error.what();
               }
             },
             {.host = {}, .device = noting("device", notes), .instead_of_host = at::Device("meta")});
}

// A sum that waits on a device for somebody who has died would keep a process from ending.
TEST(Ranks, AProcessThatLosesTheOthersEndsWhateverItsDeviceWaitsFor) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        std::vector<std::string> notes;
        auto group = join_process_group(place_on_this_machine(0, 1, free_port()),
                                        {.host = noting("host", notes), .device = noting("device", notes)});
        group->work_on(at::Device("meta"));
        group.reset();
        std::this_thread::sleep_for(std::chrono::minutes(5));
      },
      testing::ExitedWithCode(1), "");
}

void expect_refused(const RankConnections& connections, const char* words) {
  try {
    join_process_group(place_on_this_machine(0, 2, free_port()), connections);
    ADD_FAILURE() << "not refused: " << words;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::config);
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    EXPECT_NE(error.hint().find("libgloo-dev"), std::string::npos) << error.hint();
  }
}

TEST(Ranks, AreRefusedAtOnceWhereNothingAddsUp) {
  expect_refused({.host = {}, .device = {}}, "Gloo and of NCCL are missing");
  if (cuda_device_of_rank(0)) GTEST_SKIP() << "there is a CUDA device";
  std::vector<std::string> notes;
  expect_refused({.host = {}, .device = noting("device", notes)}, "no CUDA device for NCCL");
  EXPECT_TRUE(notes.empty());
}

TEST(Ranks, TwoOfThemDoNotShareADevice) {
  std::vector<std::string> notes;
  std::mutex mutex;
  std::set<std::string> refusals;
  over_ranks(2,
             [&](ProcessGroup& group) {
               try {
                 group.work_on(at::Device("meta"));
               } catch (const Error& error) {
                 EXPECT_EQ(error.kind(), ErrorKind::config);
                 const std::lock_guard lock(mutex);
                 refusals.insert(error.what());
               }
               // Nobody leaves before all have been told.
               double together = 0;
               group.add_up({&together, 1});
             },
             {.host = gloo_connection() ? gloo_connection() : noting("host", notes), .device = {}});
  ASSERT_EQ(refusals.size(), 1U) << "both say the same";
  EXPECT_NE(refusals.begin()->find("ranks 0 and 1 would share device meta of "), std::string::npos)
      << *refusals.begin();
}

// Two containers of one name are two machines, and a launcher may show each rank its own device as cuda:0.
TEST(Ranks, ADeviceIsKnownByItsHardware) {
  const RankDevice first{"node", "cuda:0", "GPU-a"}, second{"node", "cuda:0", "GPU-b"},
      again{"node", "cuda:1", "GPU-a"};
  EXPECT_NO_THROW(refuse_shared({first, second}));
  try {
    refuse_shared({second, first, again});
    ADD_FAILURE() << "ranks 1 and 2 share one";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "ranks 1 and 2 would share device cuda:1 of node");
    EXPECT_NE(error.hint().find("LOCAL_RANK"), std::string::npos);
  }
  const RankDevice told = device_in(text_of(again));
  EXPECT_EQ(told.machine + told.name + told.identity, again.machine + again.name + again.identity);
}

TEST(Ranks, EachTakesTheDeviceOfItsLocalRank) {
  const at::Device open("cuda");
  EXPECT_EQ(device_of_rank(open, 0, 4), at::Device("cuda:0"));
  EXPECT_EQ(device_of_rank(open, 3, 4), at::Device("cuda:3"));
  EXPECT_EQ(device_of_rank(open, 3, 1), at::Device("cuda:0")) << "the only one that its launcher shows it";
  EXPECT_EQ(device_of_rank(at::Device("cuda:1"), 3, 4), at::Device("cuda:1")) << "as the config says";
  EXPECT_EQ(device_of_rank(at::Device("cpu"), 3, 4), at::Device("cpu"));
}

}  // namespace
}  // namespace eureka
