// The server as a browser, or somebody worse, meets it.
#include "serve/server.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <future>

#include "base/error.h"
#include "serve/request_target.h"
#include "support/markup_check.h"
#include "support/served_directory.h"

namespace eureka {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class Serve : public ServedDirectory {
 protected:
  void SetUp() override {
    write_run(at("run"), {});
    write_study(at("study"), {});
  }
};

TEST_F(Serve, EveryEndpointAnswers) {
  start();
  for (const char* target :
       {"/api/index", "/api/run?id=run", "/api/series?id=run&column=val_accuracy", "/api/group?id=study",
        "/api/study?id=study", "/api/figure?id=run&name=list", "/api/figure?id=study&name=list"}) {
    const HttpReply reply = get(target);
    EXPECT_EQ(reply.status, 200) << target << reply.body;
    EXPECT_EQ(reply.header("content-type"), "application/json; charset=utf-8") << target;
    EXPECT_TRUE(Json::parse_if_valid(reply.body)) << target;
  }
  EXPECT_EQ(MarkupCheck(get("/api/figure?id=study&name=survival").body).problem(), "");
  EXPECT_EQ(get("/api/figure?id=run&name=curve").header("content-type"), "image/svg+xml; charset=utf-8");
  EXPECT_THAT(get("/report?id=study").body, HasSubstr("</html>"));
  EXPECT_THAT(get("/").body, HasSubstr("<title>"));
  EXPECT_THAT(get("/assets/plain.css").body, HasSubstr("--ink"));
}

TEST_F(Serve, ARunIsToldInFull) {
  start();
  const Json run = json("/api/run?id=run");
  EXPECT_EQ(run.at("entry").at("status").get<std::string>(), "finished");
  EXPECT_EQ(run.at("moments").at(0).at("step").get<double>(), 500);
  EXPECT_EQ(run.at("moments").at(0).at("width").get<double>(), 80);
  EXPECT_EQ(run.at("plateaus").at(0).at("level").get<double>(), 0.55);
  EXPECT_EQ(run.at("plateau_level").get<double>(), 0.55);
  EXPECT_EQ(run.at("config").at("attention.rule").get<std::string>(), "softmax");
  EXPECT_EQ(run.at("events").size(), 2U);
  EXPECT_EQ(run.at("missing").size(), 0U);
  const Json& head = run.at("columns").back();
  EXPECT_EQ(head.at("name").get<std::string>(), "attention/entropy/layer0/head0");
  EXPECT_EQ(head.at("of").get<std::string>(), "attention");
  EXPECT_EQ(head.at("layer").get<int>(), 0);
  EXPECT_EQ(head.at("head").get<int>(), 0);
  EXPECT_EQ(run.at("columns").at(1).at("direction").get<std::string>(), "lower");
}

TEST_F(Serve, SeriesHoldTheRowsOfTheFile) {
  start();
  const Json series = json("/api/series?id=run&column=val_accuracy&column=val_loss&from=100&to=200");
  EXPECT_EQ(series.at("x").get<std::vector<int>>(), (std::vector<int>{100, 125, 150, 175, 200}));
  EXPECT_NEAR(series.at("columns").at("val_loss").at(0).get<double>(), 0.95, 1e-6);
  EXPECT_EQ(series.at("offset").get<std::uint64_t>(), fs::file_size(at("run/metrics.jsonl")));
  EXPECT_TRUE(series.at("seconds").is_null());
}

TEST_F(Serve, AGroupHasItsArmsInTheOrderOfTheStudy) {
  start();
  const Json group = json("/api/group?id=study&column=val_accuracy");
  ASSERT_EQ(group.at("arms").size(), 2U);
  const Json& baseline = group.at("arms").at(0);
  EXPECT_EQ(baseline.at("name").get<std::string>(), "softmax");
  EXPECT_TRUE(baseline.at("baseline").get<bool>());
  EXPECT_EQ(baseline.at("runs").size(), 4U);
  EXPECT_EQ(baseline.at("x").size(), baseline.at("median").size());
  EXPECT_EQ(baseline.at("x").size(), baseline.at("low").size());
  for (std::size_t i = 0; i < baseline.at("x").size(); ++i) {
    EXPECT_LE(baseline.at("low").at(i).get<double>(), baseline.at("median").at(i).get<double>());
    EXPECT_GE(baseline.at("high").at(i).get<double>(), baseline.at("median").at(i).get<double>());
  }
  EXPECT_LT(json("/api/group?id=study&by=moment").at("arms").at(0).at("x").at(0).get<double>(), 0);
}

TEST_F(Serve, OnlyGetAndHeadAreAnswered) {
  start();
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "BREW"}) {
    const HttpReply reply = http_get(port(), "/api/index", "", method);
    EXPECT_EQ(reply.status, 405) << method;
    EXPECT_EQ(reply.header("allow"), "GET, HEAD") << method;
  }
  const HttpReply head = http_get(port(), "/api/index", "", "HEAD");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.body, "");
  EXPECT_NE(head.header("content-length"), "0");
  EXPECT_EQ(http_get(port(), "/", "Content-Length: 5\r\n").status, 400);
  EXPECT_EQ(http_get(port(), "/", "Transfer-Encoding: chunked\r\n").status, 400);
}

TEST_F(Serve, EveryAnswerSaysWhatBrowsersMayDoWithIt) {
  start();
  for (const char* target : {"/", "/plain", "/api/index", "/api/nothing", "/report?id=run", "/assets/plain.css",
                             "/api/figure?id=run&name=curve", "/api/run?id=.."}) {
    const HttpReply reply = get(target);
    EXPECT_EQ(reply.header("x-content-type-options"), "nosniff") << target;
    EXPECT_EQ(reply.header("referrer-policy"), "no-referrer") << target;
    EXPECT_EQ(reply.header("x-frame-options"), "DENY") << target;
    EXPECT_EQ(reply.header("cross-origin-resource-policy"), "same-origin") << target;
    const std::string policy = reply.header("content-security-policy");
    EXPECT_THAT(policy, HasSubstr("frame-ancestors 'none'")) << target;
    // The report has a policy of its own.
    if (std::string(target).starts_with("/report")) continue;
    EXPECT_THAT(policy, HasSubstr("default-src 'none'")) << target;
    EXPECT_THAT(policy, Not(HasSubstr("script-src 'unsafe"))) << target;
  }
  EXPECT_THAT(get("/report?id=run").body, HasSubstr("http-equiv=\"Content-Security-Policy\""));
}

TEST_F(Serve, OtherNamesAreNotForIt) {
  start();
  for (const char* host : {"evil.example", "evil.example:80", "127.0.0.1.evil.example", "", "localhost.evil.example"})
    EXPECT_EQ(get("/api/index", fmt::format("Host: {}\r\n", host)).status, 421) << host;
  for (const char* host : {"localhost", "127.0.0.1:9", "[::1]:8384", "192.168.0.3:8384"})
    EXPECT_EQ(get("/api/index", fmt::format("Host: {}\r\n", host)).status, 200) << host;
  EXPECT_THAT(http_raw(port(), "GET / HTTP/1.0\r\n\r\n"), HasSubstr(" 421 "));
  EXPECT_THAT(http_raw(port(), "GET / HTTP/1.1\r\nConnection: close\r\n\r\n"), HasSubstr(" 400 "));
}

TEST_F(Serve, AStrangersTreeTakesNobodyOut) {
  TemporaryDirectory outside;
  write_run(outside.path() / "secret-run", {});
  write_text(outside.path() / "metrics.jsonl", "{\"step\":1,\"SECRET\":1}\n");
  write_text(at("run/more/file.txt"), "SECRET");
  fs::create_directory_symlink(outside.path() / "secret-run", at("linked-run"));
  fs::create_directory_symlink("/", at("root"));
  write_run(at("leaky"), {});
  fs::remove(at("leaky/metrics.jsonl"));
  fs::create_symlink(outside.path() / "metrics.jsonl", at("leaky/metrics.jsonl"));
  start();
  const std::string index = get("/api/index").body;
  EXPECT_THAT(index, Not(HasSubstr("secret-run")));
  EXPECT_THAT(index, Not(HasSubstr("linked-run")));
  EXPECT_THAT(index, Not(HasSubstr("SECRET")));
  EXPECT_THAT(index, HasSubstr("links are left out"));
  for (const char* target : {"/api/run?id=leaky", "/api/series?id=leaky&column=SECRET", "/report?id=leaky",
                             "/api/figure?id=leaky&name=list", "/api/run?id=linked-run", "/api/run?id=root/etc"})
    EXPECT_THAT(get(target).body, Not(testing::AnyOf(HasSubstr("[1]"), HasSubstr("\"name\":\"SECRET\"")))) << target;
  EXPECT_EQ(get("/report?id=leaky").status, 404);
  EXPECT_EQ(get("/api/run?id=linked-run").status, 404);
}

std::vector<std::string> ways_out() {
  std::vector<std::string> ways = {"..",
                                   "../..",
                                   "../../etc/passwd",
                                   "/etc/passwd",
                                   "//etc/passwd",
                                   "run/..",
                                   "run/../..",
                                   "run/../../etc",
                                   "./run",
                                   "run/.",
                                   "run/./..",
                                   "...",
                                   "....//",
                                   "..././",
                                   ".../...//",
                                   "..\\",
                                   "..\\..\\etc",
                                   "run\\..\\..",
                                   "~",
                                   "~root",
                                   "~/.ssh",
                                   "file:///etc/passwd",
                                   "http://127.0.0.1/",
                                   "C:\\",
                                   "C:/",
                                   "\\\\host\\share",
                                   "run/",
                                   "/run",
                                   "run//..",
                                   "*",
                                   "run/*",
                                   "?",
                                   "$HOME",
                                   "${HOME}",
                                   "`id`",
                                   "$(id)",
                                   "run;id",
                                   "run|id",
                                   "run&id",
                                   "run\n..",
                                   "run\r\nX: y",
                                   "run\t..",
                                   " ",
                                   ".. ",
                                   " ..",
                                   ".hidden",
                                   "run/.git",
                                   "proc/self/environ",
                                   "dev/stdin",
                                   "root/etc",
                                   ".%2e",
                                   "%2e%2e",
                                   "%252e%252e%252f",
                                   "..%2f",
                                   "..%5c",
                                   "..%c0%af",
                                   "..%c1%9c",
                                   "..%e0%80%af",
                                   "%u002e%u002e",
                                   "\xc0\xae\xc0\xae/",
                                   "\xe3\x80\x82\xe3\x80\x82/",
                                   "\xef\xbc\x8e\xef\xbc\x8e/",
                                   std::string(3000, '.'),
                                   std::string(5000, 'a'),
                                   "run/metrics.jsonl",
                                   "run/config.toml",
                                   "run/more",
                                   "run/more/file.txt",
                                   "",
                                   "index.html",
                                   "study/study.json",
                                   "[::1]",
                                   "run%00",
                                   "run\xff"};
  return ways;
}

TEST_F(Serve, NoWayLeadsToAnythingButRunsAndStudies) {
  write_text(at("run/more/file.txt"), "SECRET");
  fs::create_directory_symlink("/", at("root"));
  start();
  const std::vector<std::string> ways = ways_out();
  ASSERT_GE(ways.size(), 60U);
  const auto raw = [&](const std::string& target) {
    return http_raw(port(), "GET " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  };
  const auto status = [](const std::string& reply) { return reply.size() > 12 ? reply.substr(9, 3) : "none"; };
  for (const std::string& way : ways) {
    // As the path, raw and encoded; as an id, raw and encoded once and twice; as the name of a figure.
    for (const std::string& target :
         {"/" + way, "/assets/" + way, "/api/" + way, "/" + serve::percent_encoded(way),
          "/assets/" + serve::percent_encoded(way), "/api/run?id=" + way, "/api/run?id=" + serve::percent_encoded(way),
          "/report?id=" + serve::percent_encoded(serve::percent_encoded(way)),
          "/api/series?id=" + serve::percent_encoded(way), "/api/stream?id=" + serve::percent_encoded(way),
          "/api/figure?id=run&name=" + serve::percent_encoded(way)}) {
      // Nothing, and what asks for the run itself with another parameter behind it.
      if (target == "/" || target == "/api/stream?id=" || target == "/?" || target == "/api/run?id=run&id") continue;
      const std::string reply = raw(target);
      EXPECT_THAT(status(reply), testing::AnyOf("400", "404", "none", "414", "431")) << target;
      EXPECT_THAT(reply, Not(testing::AnyOf(HasSubstr("SECRET"), HasSubstr("root:x:")))) << target;
    }
  }
  EXPECT_EQ(get("/api/run?id=run").status, 200);
}

TEST_F(Serve, DamagedDirectoriesAreShownAndTakeNothingDown) {
  write_run(at("torn"), {});
  fs::remove(at("torn/summary.json"));
  append(at("torn/metrics.jsonl"), "{\"step\":2000,\"val_ac");
  write_text(at("torn/meta.json"), "{");
  write_text(at("empty/metrics.jsonl"), "");
  write_text(at("strange/metrics.jsonl"), std::string(100'000, '[') + "\n\x01\xff\n" + std::string(50, '\0'));
  write_text(at("newer/summary.json"), R"({"format": 99})");
  write_text(at("nan/metrics.jsonl"), "{\"step\":0,\"val_accuracy\":null}\n{\"step\":1,\"val_accuracy\":null}\n");
  write_text(at("broken/study.json"), "{\"format\":\"eureka-study-1\"");
  write_text(at("bare/study.toml"), "");
  write_text(
      at("escape/study.json"),
      R"({"format":"eureka-study-1","points":[{"name":null}],"arms":[{"name":"a"}],"trials":[{"directory":"../run"}]})");
  start();
  const Json index = json("/api/index");
  for (const Json& entry : index.at("entries")) {
    const std::string id = serve::percent_encoded(entry.at("id").get<std::string>());
    const bool is_run = entry.at("kind").get<std::string>() == "run";
    for (const std::string& target :
         {(is_run ? "/api/run?id=" : "/api/study?id=") + id, (is_run ? "/api/series?id=" : "/api/group?id=") + id,
          "/api/figure?id=" + id, "/report?id=" + id})
      EXPECT_EQ(get(target).status, 200) << target << ": " << get(target).body;
  }
  EXPECT_THAT(json("/api/run?id=torn").at("missing").dump(), HasSubstr("summary.json is missing"));
  EXPECT_THAT(json("/api/run?id=torn").at("missing").dump(), HasSubstr("torn"));
  EXPECT_THAT(json("/api/study?id=broken").at("missing").dump(), HasSubstr("cannot be told"));
  EXPECT_TRUE(json("/api/series?id=nan").at("columns").at("val_accuracy").at(0).is_null());
  const std::string page = get("/plain").body;
  const std::size_t body = page.find("<body>");
  EXPECT_EQ(MarkupCheck(page.substr(body, page.rfind("</html>") - body)).problem(), "");
}

TEST_F(Serve, AStudyThatBuildsOnOtherFilesIsNotWorkedOut) {
  TemporaryDirectory outside;
  write_text(outside.path() / "base.toml", "[SECRET]\nkey = 1\n");
  write_text(at("foreign/study.toml"), fmt::format("[study]\nbase = \"{}\"\nseeds = 1\n[[arm]]\nname = \"a\"\n",
                                                   (outside.path() / "base.toml").string()));
  start();
  EXPECT_EQ(get("/report?id=foreign").status, 404);
  EXPECT_THAT(get("/api/study?id=foreign").body, Not(HasSubstr("SECRET")));
  EXPECT_THAT(get("/api/study?id=foreign").body, HasSubstr("not served"));
}

TEST_F(Serve, EvilTextIsShownAsText) {
  write_run(at("evil"), {});
  write_text(at("evil/config.toml"), "[task]\nname = \"<script>alert(1)</script>\"\n[attention]\nrule = \"\\\"'>&\"\n");
  write_text(at("evil/metrics.jsonl"), "{\"step\":0,\"<img src=x>\":1,\"\xff\":2}\n");
  start();
  const std::string page = get("/plain").body;
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;"));
  EXPECT_TRUE(Json::parse_if_valid(get("/api/run?id=evil").body));
  EXPECT_TRUE(Json::parse_if_valid(get("/api/series?id=evil").body));
}

TEST_F(Serve, WhatAFigureIsDrawnFromEndsNoElementOfAPage) {
  write_study(at("odd"), {.arms = {"softmax", "</script><img src=x onerror=alert(1)>\x1b[2J"}});
  start();
  for (const char* name : {"speedup", "survival", "curves"}) {
    const HttpReply reply = get(fmt::format("/api/figure?id=odd&name={}&for=script", name));
    EXPECT_EQ(reply.status, 200) << name << reply.body;
    EXPECT_TRUE(Json::parse_if_valid(reply.body)) << name;
    EXPECT_THAT(reply.body, testing::AllOf(HasSubstr("onerror"), Not(HasSubstr("<")), Not(HasSubstr("\x1b")))) << name;
  }
}

TEST_F(Serve, WrongQuestionsAreToldApart) {
  start();
  EXPECT_EQ(get("/nowhere").status, 404);
  EXPECT_EQ(get("/api/run").status, 400);
  EXPECT_EQ(get("/api/run?id=nowhere").status, 404);
  EXPECT_EQ(get("/api/run?id=study").status, 404);
  EXPECT_EQ(get("/api/study?id=run").status, 404);
  EXPECT_EQ(get("/api/series?id=run&points=x").status, 400);
  EXPECT_EQ(get("/api/series?id=run&points=-1").status, 400);
  EXPECT_EQ(get("/api/series?id=run&from=nan").status, 400);
  EXPECT_EQ(get("/api/group?id=study&by=magic").status, 400);
  EXPECT_EQ(get("/api/figure?id=run&name=nothing").status, 404);
  const Json error = Json::parse(get("/api/run?id=nowhere").body);
  EXPECT_FALSE(error.at("error").get<std::string>().empty());
  EXPECT_FALSE(error.at("hint").get<std::string>().empty());
}

TEST_F(Serve, AnIndexThatIsKnownIsNotSentAgain) {
  start();
  const std::string stamp = json("/api/index").at("stamp").get<std::string>();
  EXPECT_TRUE(json("/api/index?since=" + stamp).at("unchanged").get<bool>());
  EXPECT_FALSE(json("/api/index?since=1").contains("unchanged"));
}

TEST_F(Serve, ATokenIsAskedForAndBecomesACookie) {
  start({.asks_for_token = true});
  const std::string address = server_->address();
  const std::string token = address.substr(address.find("?token=") + 7);
  ASSERT_EQ(token.size(), 32U);
  for (const char* target : {"/", "/plain", "/api/index", "/assets/plain.css", "/api/stream", "/?token=", "/?token=0"})
    EXPECT_EQ(get(target).status, 401) << target;
  const HttpReply first = get("/?token=" + token);
  EXPECT_EQ(first.status, 303);
  EXPECT_EQ(first.header("location"), "/");
  const std::string cookie = first.header("set-cookie");
  EXPECT_THAT(cookie, HasSubstr("HttpOnly; SameSite=Strict"));
  const std::string line = "Cookie: other=1; " + cookie.substr(0, cookie.find(';')) + "\r\n";
  EXPECT_EQ(get("/", line).status, 200);
  EXPECT_EQ(get("/api/index", line).status, 200);
  EXPECT_EQ(get("/api/index?token=" + token).status, 200);
  EXPECT_EQ(get("/api/index", "Cookie: eureka_1=" + token + "\r\n").status, 401);
}

TEST_F(Serve, SlowAndOversizedRequestsAreEnded) {
  start({.connections = 8, .limits = {.request = std::chrono::milliseconds(300)}});
  {
    const LoopbackSocket slow(port());
    slow.send("GET /api/index HTTP/1.1\r\nHost: localhost\r\n");
    const std::string reply = slow.receive_all();
    EXPECT_THAT(reply, Not(HasSubstr(" 200 ")));
  }
  const std::string large = http_raw(port(), "GET / HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(1 << 20, 'a'));
  EXPECT_THAT(large, Not(HasSubstr(" 200 ")));
  // Held by nobody, so there is room again however many came.
  for (int i = 0; i < 30; ++i) LoopbackSocket(port()).send("GET /");
  HttpReply reply;
  for (int i = 0; i < 100 && reply.status != 200; ++i) {
    reply = get("/api/index");
    if (reply.status != 200) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_EQ(reply.status, 200);
}

TEST_F(Serve, ManyAskAtOnce) {
  start();
  std::vector<std::future<int>> askers;
  for (int i = 0; i < 40; ++i)
    askers.push_back(std::async(std::launch::async, [&, i] {
      return get(i % 2 == 0 ? "/report?id=study" : fmt::format("/api/series?id=run&points={}", 10 + i)).status;
    }));
  for (auto& asker : askers) EXPECT_EQ(asker.get(), 200);
}

TEST_F(Serve, WritesNothing) {
  const auto state = [&] {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(directory_.path()))
      files[entry.path().string()] = fmt::format("{} {}", entry.last_write_time().time_since_epoch().count(),
                                                 entry.is_regular_file() ? read_file(entry.path()) : "");
    return files;
  };
  const auto before = state();
  start();
  for (const char* target : {"/", "/api/index", "/api/run?id=run", "/report?id=study", "/api/study?id=study"})
    get(target);
  server_->stop();
  EXPECT_EQ(state(), before);
}

TEST_F(Serve, APlaceThatCannotBeHadIsExplained) {
  start();
  const auto refused = [&](serve::ServeOptions options) -> std::string {
    try {
      serve::Server second(options, catalog_);
    } catch (const Error& error) {
      return error.message();
    }
    return "it could";
  };
  EXPECT_THAT(refused({.directory = directory_.path(), .port = port()}), HasSubstr("is taken"));
  EXPECT_THAT(refused({.directory = directory_.path(), .host = "192.0.2.1", .port = 0}),
              HasSubstr("no address of this machine"));
  EXPECT_THAT(refused({.directory = directory_.path(), .host = "no such name", .port = 0}), HasSubstr("is no address"));
  EXPECT_THAT(refused({.directory = at("nowhere"), .port = 0}), HasSubstr("nowhere"));
}

}  // namespace
}  // namespace eureka
