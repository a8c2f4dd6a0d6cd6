// eureka serve: says where it is, answers there, and ends when it is told to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "io/json.h"
#include "support/command.h"
#include "support/drawn_study.h"
#include "support/http_client.h"

namespace eureka {
namespace {

using testing::HasSubstr;
using testing::Not;

class ServeVerb : public testing::Test {
 protected:
  void SetUp() override {
    write_study(directory_.path() / "study", {});
    write_run(directory_.path() / "run", {});
  }
  std::string root() const { return directory_.path().string(); }

  TemporaryDirectory directory_;
};

// The port a server says it has.
int port_of(const std::string& out) { return std::stoi(out.substr(out.rfind(':') + 1)); }

TEST_F(ServeVerb, PrintsItsAddressAndEndsWithCodeZero) {
  for (const int signal : {SIGINT, SIGTERM}) {
    Command server({"serve", root(), "--port", "0"});
    ASSERT_TRUE(server.wait_until([&] { return server.has_printed("/\n"); }));
    const int port = port_of(server.printed());
    EXPECT_EQ(server.printed().rfind("http://127.0.0.1:", 0), 0U);
    EXPECT_EQ(http_get(port, "/api/index").status, 200);
    EventStream stream(port, "/api/stream?id=run");
    EXPECT_TRUE(stream.wait_for("event: status"));
    EXPECT_EQ(::getpriority(PRIO_PROCESS, static_cast<id_t>(server.pid())), 10);
    server.send(signal);
    const CommandResult result = server.wait();
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.err, "");
    EXPECT_TRUE(stream.wait_for_end());
  }
}

TEST_F(ServeVerb, ShowsEveryFigureThatReportHas) {
  Command server({"serve", root(), "--port", "0"});
  ASSERT_TRUE(server.wait_until([&] { return server.has_printed("/\n"); }));
  const int port = port_of(server.printed());
  for (const std::string id : {"study", "run"}) {
    const Json list = Json::parse(http_get(port, "/api/figure?name=list&id=" + id).body);
    EXPECT_GE(list.at("figures").size(), 3U);
    for (const Json& figure : list.at("figures")) {
      const std::string name = figure.at("name").get<std::string>();
      const std::string file = (directory_.path() / "same.svg").string();
      ASSERT_EQ(eureka_command({"report", root() + "/" + id, "--figure", name, "-o", file}).exit_code, 0);
      EXPECT_EQ(http_get(port, "/api/figure?id=" + id + "&name=" + name).body, read_file(file)) << name;
    }
  }
  server.send(SIGINT);
  EXPECT_EQ(server.wait().exit_code, 0);
}

TEST_F(ServeVerb, ReadsNothingThatLiesElsewhere) {
  TemporaryDirectory outside;
  write_text(outside.path() / "base.toml", "[SECRET]\nkey = 1\n");
  write_text(directory_.path() / "foreign/study.toml",
             "[study]\nbase = \"" + (outside.path() / "base.toml").string() + "\"\nseeds = 1\n[[arm]]\nname = \"a\"\n");
  fs::create_symlink(outside.path() / "base.toml", directory_.path() / "run/origin.json");
  Command server({"serve", root(), "--port", "0"});
  ASSERT_TRUE(server.wait_until([&] { return server.has_printed("/\n"); }));
  const int port = port_of(server.printed());
  for (const char* target : {"/report?id=foreign", "/api/study?id=foreign", "/report?id=run", "/api/run?id=run"})
    EXPECT_THAT(http_get(port, target).body, Not(HasSubstr("SECRET"))) << target;
  EXPECT_EQ(http_get(port, "/report?id=study").status, 200);
  server.send(SIGINT);
  EXPECT_EQ(server.wait().exit_code, 0);
}

TEST_F(ServeVerb, RefusesWithOneClearMessage) {
  Command first({"serve", root(), "--port", "0"});
  ASSERT_TRUE(first.wait_until([&] { return first.has_printed("/\n"); }));
  const std::string taken = std::to_string(port_of(first.printed()));
  const auto refused = [](const std::vector<std::string>& words, const std::string& part) {
    const CommandResult result = eureka_command(words);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr(part));
    EXPECT_EQ(result.out, "");
  };
  refused({"serve", root(), "--port", taken}, "port " + taken + " is taken");
  refused({"serve", root(), "--port", "70000"}, "--port");
  refused({"serve", root() + "/nowhere"}, "nowhere");
  refused({"serve", root() + "/run/config.toml"}, "give the directory");
  refused({"serve", root(), "--host", "192.0.2.1"}, "no address of this machine");
  first.send(SIGINT);
  EXPECT_EQ(first.wait().exit_code, 0);
}

}  // namespace
}  // namespace eureka
