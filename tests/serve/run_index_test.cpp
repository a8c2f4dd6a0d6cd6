// What is told of many runs and studies, whatever state they are in.
#include "serve/run_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "io/json.h"
#include "serve/index_json.h"
#include "support/drawn_study.h"
#include "support/temporary_directory.h"

namespace eureka::serve {
namespace {

using testing::ElementsAre;

class Index : public testing::Test {
 protected:
  fs::path at(const std::string& name) const { return directory_.path() / name; }
  const ServedTree& tree() {
    if (!tree_) tree_.emplace(directory_.path());
    return *tree_;
  }
  // By an index that has seen nothing yet.
  std::shared_ptr<const IndexSnapshot> fresh() { return RunIndex(tree()).snapshot(); }
  static std::vector<std::string> ids(const IndexSnapshot& index) {
    std::vector<std::string> found;
    for (const IndexEntry& entry : index.entries) found.push_back(entry.id);
    return found;
  }

  TemporaryDirectory directory_;
  std::optional<ServedTree> tree_;
};

TEST_F(Index, FindsRunsAndStudiesAtAnyDepth) {
  write_run(at("deep/er/run"), {.seed = 3, .moment = 400});
  write_study(at("study"), {.arms = {"softmax", "cure"}, .seeds = 2, .points = {"train.lr=0.1", "train.lr=1"}});
  fs::create_directories(at("nothing/here"));
  const auto index = fresh();
  EXPECT_THAT(ids(*index), ElementsAre("deep/er/run", "study", "study/p1/arm0/seed-1", "study/p1/arm0/seed-2",
                                       "study/p1/arm1/seed-1", "study/p1/arm1/seed-2", "study/p2/arm0/seed-1",
                                       "study/p2/arm0/seed-2", "study/p2/arm1/seed-1", "study/p2/arm1/seed-2"));
  const IndexEntry* trial = index->find("study/p2/arm1/seed-2");
  ASSERT_NE(trial, nullptr);
  EXPECT_EQ(trial->study, "study");
  EXPECT_EQ(trial->arm, "cure");
  EXPECT_EQ(trial->point, "train.lr=1");
  const IndexEntry* study = index->find("study");
  EXPECT_STREQ(study_status(*study), "finished");
  EXPECT_THAT(study->of_study->arms, ElementsAre("softmax", "cure"));
  EXPECT_EQ(study->trials_ended, 8U);
  const RunFacts& run = *index->find("deep/er/run")->run;
  EXPECT_EQ(run.task, "two-step");
  EXPECT_EQ(run.rule, "softmax");
  EXPECT_EQ(run.status, "finished");
  EXPECT_EQ(run.seed, 3);
  EXPECT_EQ(run.metrics.column, "val_accuracy");
  EXPECT_EQ(run.metrics.step, 1000);
  EXPECT_EQ(run.moment, 400);
  EXPECT_GT(run.metrics.best, 0.99);
}

TEST_F(Index, TheRootItselfMayBeARun) {
  write_run(directory_.path(), {});
  EXPECT_THAT(ids(*fresh()), ElementsAre("."));
}

TEST_F(Index, TellsTheOptionsInWhichRunsDiffer) {
  write_run(at("a"), {.seed = 1, .rule = "softmax"});
  write_run(at("b"), {.seed = 2, .rule = "linear"});
  EXPECT_THAT(fresh()->varied, ElementsAre("attention.rule"));
}

TEST_F(Index, ReadsAgainOnlyWhatHasChanged) {
  write_run(at("a"), {});
  write_run(at("b"), {});
  RunIndex index(tree());
  const auto before = index.snapshot();
  EXPECT_EQ(index.snapshot(), before);
  std::ofstream(at("a/metrics.jsonl"), std::ios::app) << "{\"step\":1025,\"val_accuracy\":0.25}\n";
  std::this_thread::sleep_for(RunIndex::kFresh * 2);
  const auto after = index.snapshot();
  EXPECT_NE(after->stamp, before->stamp);
  EXPECT_EQ(after->find("a")->run->metrics.last, 0.25);
  EXPECT_EQ(after->find("b")->run, before->find("b")->run);
  EXPECT_NE(after->find("a")->run, before->find("a")->run);
  std::this_thread::sleep_for(RunIndex::kFresh * 2);
  EXPECT_EQ(index.snapshot(), after);
  fs::remove_all(at("b"));
  std::this_thread::sleep_for(RunIndex::kFresh * 2);
  EXPECT_THAT(ids(*index.snapshot()), ElementsAre("a"));
}

TEST_F(Index, ARunThatGoesOnTellsItsMomentAndStep) {
  write_run(at("run"), {.moment = 500});
  fs::remove(at("run/summary.json"));
  Json meta = Json::parse(read_file(at("run/meta.json")));
  meta["status"] = "running", meta["updates_done"] = 1010;
  write_text(at("run/meta.json"), meta.dump());
  const RunFacts run = *fresh()->find("run")->run;
  EXPECT_EQ(run.status, "running");
  EXPECT_EQ(run.moment, 500);
  EXPECT_FALSE(run.has_ended());
  const auto index = fresh();
  EXPECT_EQ(entry_json(*index->find("run"), *index).at("step").get<double>(), 1010);
}

// Who watches a run asks again when he is told that its status has changed, and must not be told the old one.
TEST_F(Index, ARunThatStoppedAtItsMomentHasNoStepsLeft) {
  const std::string plan = "[train]\nsteps = 25000\nuntil = \"moment\"\n";
  const auto add = [&](const char* name, const DrawnRun& run, const std::string& config) {
    write_run(at(name), run);
    write_text(at(name) / "config.toml", config);
  };
  add("stopped", {}, plan);
  add("stuck", {.steps = 25000, .every = 500, .moment = {}}, plan);
  add("to-its-end", {}, "[train]\nsteps = 1000\nuntil = \"end\"\n");
  add("running", {}, plan);
  fs::remove(at("running") / "summary.json");
  const auto index = fresh();
  std::map<std::string, bool> stopped;
  for (const IndexEntry& entry : index->entries)
    stopped[entry.id] = entry_json(entry, *index).at("stopped_at_moment").get<bool>();
  EXPECT_THAT(stopped, ElementsAre(std::pair("running", false), std::pair("stopped", true), std::pair("stuck", false),
                                   std::pair("to-its-end", false)));
}

TEST_F(Index, ARunThatIsAskedForIsAsItIsNow) {
  write_run(at("run"), {.moment = 400});
  fs::remove(at("run") / "summary.json");
  RunIndex index(tree());
  const auto status = [&] { return index.snapshot_with("run")->find("run")->run->status; };
  for (const char* now : {"running", "interrupted", "running"}) {
    Json meta = Json::parse(read_file(at("run") / "meta.json"));
    meta["status"] = now;
    replace_file(at("run") / "meta.json", meta.dump());
    EXPECT_EQ(status(), now);
  }
}

TEST_F(Index, DamagedDirectoriesAreThereAndSaySo) {
  write_run(at("run"), {});
  for (const char* file : {"config.toml", "meta.json", "summary.json"}) {
    const std::string whole = read_file(at(std::string("run/") + file));
    for (const std::string& damage :
         {whole.substr(0, whole.size() / 2), std::string("\xff\xfe\x00 nonsense"), std::string(R"({"format":99})")}) {
      write_text(at(std::string("run/") + file), damage);
      const auto index = fresh();
      ASSERT_NE(index->find("run"), nullptr) << file;
      EXPECT_TRUE(index->find("run")->run->is_damaged) << file << ": " << damage;
      EXPECT_NO_THROW(index_json(*index, tree()).dump(-1, Json::BadText::replace));
    }
    write_text(at(std::string("run/") + file), whole);
    EXPECT_FALSE(fresh()->find("run")->run->is_damaged) << file;
  }
}

TEST_F(Index, AStudyWithoutItsResultIsCounted) {
  write_study(at("study"), {});
  fs::remove(at("study/study.json"));
  write_text(at("study/study.toml"),
             "[study]\nquestion = \"Which?\"\nbase = \"two-step\"\nseeds = 5\n"
             "[[arm]]\nname = \"arm0\"\n[[arm]]\nname = \"arm1\"\nset.train.lr = 0.1\n");
  fs::remove(at("study/arm0/seed-1/summary.json"));
  const auto index = fresh();
  const Json study = entry_json(*index->find("study"), *index);
  EXPECT_EQ(study.at("question").get<std::string>(), "Which?");
  EXPECT_EQ(study.at("trials").get<int>(), 10);
  EXPECT_EQ(study.at("trials_done").get<int>(), 7);
  EXPECT_EQ(study.at("status").get<std::string>(), "incomplete");
  EXPECT_EQ(index->find("study/arm1/seed-1")->arm, "arm1");
  // One whose records say nothing at all is there too.
  write_text(at("study/study.toml"), "[study");
  EXPECT_TRUE(fresh()->find("study")->of_study->is_damaged);
}

TEST_F(Index, ALongFileIsReadFromItsEnd) {
  std::string text;
  for (int step = 0; step < 400'000; ++step) text += "{\"step\":" + std::to_string(step) + ",\"val_accuracy\":0.5}\n";
  write_text(at("run/metrics.jsonl"), text);
  const RunFacts run = *fresh()->find("run")->run;
  EXPECT_EQ(run.metrics.step, 399'999);
  EXPECT_EQ(run.metrics.column, "val_accuracy");
  EXPECT_EQ(run.metrics.best, std::nullopt);
}

}  // namespace
}  // namespace eureka::serve
