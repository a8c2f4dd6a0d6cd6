// A run that goes on with parameters that somebody else has changed.
#include "train/edited_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "train/failing_runs.h"
#include "train/records/branch_origin.h"

namespace eureka {
namespace {

using testing::HasSubstr;

class EditedRun : public BranchOfRun {
 protected:
  RunEdit edit(std::int64_t step = 20) const {
    return {.run = of("whole"),
            .from = 20,
            .step = step,
            .out = of("edited"),
            .state = read_checkpoint(of("whole"), 20).engine,
            .by = "a test"};
  }
};

TEST_F(EditedRun, WithTheOldParametersIsTheRun) {
  edit_run(edit(), catalog());
  EXPECT_EQ(read_origin(of("edited"))->parameters_by, "a test");
  expect_resumable(of("edited"));
}

TEST_F(EditedRun, BeginsWithTheNewParametersAtTheStepThatIsSaid) {
  RunEdit changed = edit(25);
  changed.state.model.at(0).values.at(0) += 1;
  changed.state.optimizer.clear();
  edit_run(changed, catalog());
  EXPECT_EQ(list_checkpoints(of("edited")), std::vector<std::int64_t>{25});
  const Checkpoint start = read_checkpoint(of("edited"), 25);
  EXPECT_EQ(start.engine.model.at(0).values, changed.state.model.at(0).values);
  EXPECT_EQ(start.engine.optimizer.at(0).values, read_checkpoint(of("whole"), 20).engine.optimizer.at(0).values);
  EXPECT_EQ(start.loop.sum_steps, 0);
  EXPECT_EQ(train(of("edited"), fake_parts(), true).status, RunStatus::finished);
}

TEST_F(EditedRun, OnAFullDiskIsMadeAgain) {
  for (const rlim_t bytes : {50, 150, 400, 1000}) {
    const FullDisk disk(bytes);
    EXPECT_THROW(edit_run(edit(), catalog()), Error) << bytes;
    EXPECT_FALSE(fs::exists(of("edited") / "config.toml")) << "a directory without a config holds no run yet";
  }
  edit_run(edit(), catalog());
  expect_resumable(of("edited"));
}

TEST_F(EditedRun, RefusesWhatDoesNotFit) {
  const auto expect_refused = [&](const RunEdit& wanted, const std::string& why) {
    try {
      edit_run(wanted, catalog());
      ADD_FAILURE() << why;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(why));
    }
    EXPECT_FALSE(fs::exists(of("edited")));
  };
  RunEdit wrong = edit();
  wrong.state.model.at(0).name = "u";
  expect_refused(wrong, "has no tensor 'u'");
  wrong = edit();
  wrong.state.model.at(0).shape = {1, 1};
  expect_refused(wrong, "is 1 in this run, not 1 x 1");
  wrong = edit();
  wrong.state.model.clear();
  expect_refused(wrong, "'w' of its checkpoints was not given");
  wrong = edit();
  wrong.state.model.at(0).values.at(0) = std::numeric_limits<float>::quiet_NaN();
  expect_refused(wrong, "not finite");
  expect_refused(edit(19), "cannot be at step 19");
  expect_refused(edit(1'000'000), "beyond the end of this run");
}

}  // namespace
}  // namespace eureka
