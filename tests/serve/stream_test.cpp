// A run that is watched while it grows.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <thread>

#include "serve/run_stream.h"
#include "support/served_directory.h"

namespace eureka {
namespace {

using testing::HasSubstr;
using testing::Not;

class Stream : public ServedDirectory {
 protected:
  void SetUp() override {
    write_run(at("run"), {});
    fs::remove(at("run/summary.json"));
    set_status("running");
    start();
  }
  void set_status(const std::string& status) const {
    Json meta = Json::parse(read_file(at("run/meta.json")));
    meta["status"] = status;
    replace_file(at("run/meta.json"), meta.dump());
  }
  static std::string row(int step) {
    return fmt::format("{{\"step\":{},\"val_accuracy\":0.{}}}\n", step, step % 9 + 1);
  }
};

TEST_F(Stream, ARunUnderWayLacksNoSummaryUntilItHasBeenQuietForLong) {
  EXPECT_EQ(json("/api/run?id=run").at("missing").size(), 0U);
  for (const fs::directory_entry& file : fs::recursive_directory_iterator(at("run")))
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(1));
  start();
  EXPECT_THAT(json("/api/run?id=run").at("missing").dump(), HasSubstr("or was killed"));
}

TEST_F(Stream, TellsRowsEventsAndTheStatusAsTheyCome) {
  EventStream stream(port(), "/api/stream?id=run");
  ASSERT_TRUE(stream.wait_for("event: status"));
  EXPECT_THAT(stream.text(), HasSubstr("text/event-stream"));
  EXPECT_THAT(stream.text(), HasSubstr("\"status\":\"running\""));
  EXPECT_EQ(stream.count("event: row"), 0U);
  append(at("run/metrics.jsonl"), row(1025));
  ASSERT_TRUE(stream.wait_for("event: row"));
  EXPECT_THAT(stream.text(), HasSubstr("data: {\"step\":1025,\"values\":{\"val_accuracy\":0.9}}"));
  append(at("run/events.jsonl"), "{\"step\":1025,\"event\":\"checkpoint\"}\n");
  ASSERT_TRUE(stream.wait_for("data: {\"step\":1025,\"event\":\"checkpoint\"}"));
  set_status("finished");
  ASSERT_TRUE(stream.wait_for("\"status\":\"finished\""));
  EXPECT_EQ(stream.count("event: row"), 1U);
  EXPECT_EQ(stream.count("event: reset"), 0U);
}

TEST_F(Stream, ATornLineWaitsForItsEnd) {
  EventStream stream(port(), "/api/stream?id=run");
  ASSERT_TRUE(stream.wait_for("event: status"));
  append(at("run/metrics.jsonl"), row(1025) + "{\"step\":1050,\"val_");
  ASSERT_TRUE(stream.wait_for("event: row"));
  append(at("run/metrics.jsonl"), "accuracy\":0.75}\nno row\n" + row(1075));
  ASSERT_TRUE(stream.wait_for("event: row", 3));
  EXPECT_THAT(stream.text(), HasSubstr("{\"step\":1050,\"values\":{\"val_accuracy\":0.75}}"));
}

TEST_F(Stream, GoesOnWhereAnEarlierOneWas) {
  const std::string offset = std::to_string(json("/api/series?id=run").at("offset").get<std::uint64_t>());
  append(at("run/metrics.jsonl"), row(1025));
  EventStream first(port(), "/api/stream?id=run&from=" + offset);
  ASSERT_TRUE(first.wait_for("\"step\":1025,"));
  const std::size_t id = first.text().rfind("id: ");
  const std::string place = first.text().substr(id + 4, first.text().find('\n', id) - id - 4);
  append(at("run/metrics.jsonl"), row(1050));
  EventStream second(port(), "/api/stream?id=run", "Last-Event-ID: " + place + "\r\n");
  ASSERT_TRUE(second.wait_for("\"step\":1050,"));
  EXPECT_EQ(second.count("\"step\":1025,"), 0U);
}

TEST_F(Stream, SaysWhenTheFilesWereCutBack) {
  EventStream stream(port(), "/api/stream?id=run");
  ASSERT_TRUE(stream.wait_for("event: status"));
  write_text(at("run/metrics.jsonl"), row(0) + row(25));
  ASSERT_TRUE(stream.wait_for("event: reset"));
  append(at("run/metrics.jsonl"), row(50));
  ASSERT_TRUE(stream.wait_for("\"step\":50,"));
  // A place that never was in the file leads to a reset as well.
  EventStream wrong(port(), "/api/stream?id=run&from=3");
  EXPECT_TRUE(wrong.wait_for("event: reset"));
}

TEST_F(Stream, SaysWhenTheRunIsGone) {
  EventStream stream(port(), "/api/stream?id=run");
  ASSERT_TRUE(stream.wait_for("event: status"));
  fs::remove_all(at("run"));
  EXPECT_TRUE(stream.wait_for("\"status\":\"gone\""));
}

TEST_F(Stream, OfTheIndexTellsThatSomethingIsNew) {
  EventStream stream(port(), "/api/stream");
  ASSERT_TRUE(stream.wait_for("retry: "));
  write_run(at("another"), {});
  ASSERT_TRUE(stream.wait_for("event: index"));
  EXPECT_THAT(get("/api/index").body, HasSubstr("another"));
}

TEST_F(Stream, FiftyWatchOneRunAndSeeEveryRow) {
  std::vector<std::unique_ptr<EventStream>> viewers;
  for (int i = 0; i < 50; ++i) viewers.push_back(std::make_unique<EventStream>(port(), "/api/stream?id=run"));
  for (auto& viewer : viewers) ASSERT_TRUE(viewer->wait_for("event: status"));
  for (int step = 1025; step < 1025 + 20 * 25; step += 25) {
    append(at("run/metrics.jsonl"), row(step));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  for (auto& viewer : viewers) {
    ASSERT_TRUE(viewer->wait_for("event: row", 20));
    EXPECT_EQ(viewer->count("event: row"), 20U);
  }
  EXPECT_EQ(get("/api/run?id=run").status, 200);
}

TEST_F(Stream, EndsWithTheServer) {
  EventStream run(port(), "/api/stream?id=run"), index(port(), "/api/stream");
  ASSERT_TRUE(run.wait_for("event: status"));
  ASSERT_TRUE(index.wait_for("retry: "));
  server_->stop();
  EXPECT_TRUE(run.wait_for_end());
  EXPECT_TRUE(index.wait_for_end());
}

TEST_F(Stream, SaysNoWhenTooManyWatch) {
  start({.connections = 8});
  std::vector<std::unique_ptr<EventStream>> viewers;
  for (int i = 0; i < 4; ++i) {
    viewers.push_back(std::make_unique<EventStream>(port(), "/api/stream?id=run"));
    ASSERT_TRUE(viewers.back()->wait_for("event: status"));
  }
  EXPECT_EQ(get("/api/stream?id=run").status, 503);
  EXPECT_EQ(get("/api/index").status, 200);
  // Who leaves makes room.
  viewers.clear();
  for (int i = 0; i < 200; ++i) {
    EventStream again(port(), "/api/stream?id=run", "Connection: close\r\n");
    if (again.wait_for("event: status")) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  FAIL() << "nobody can watch again";
}

TEST_F(Stream, WithoutAPlaceBeginsBehindTheLastWholeLine) {
  append(at("run/metrics.jsonl"), "{\"step\":1025,\"val_accuracy\":0.25");
  const serve::ServedTree tree(directory_.path());
  serve::RunStream stream(tree, "run", "");
  EXPECT_THAT(stream.news(), Not(HasSubstr("event: row")));
  EXPECT_EQ(stream.news(), "");
  append(at("run/metrics.jsonl"), "}\n");
  EXPECT_THAT(stream.news(), HasSubstr("\"step\":1025"));
}

}  // namespace
}  // namespace eureka
