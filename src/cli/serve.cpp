// eureka serve: runs and studies in a browser, while they grow.
#include "serve/server.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <thread>

#include "base/output.h"
#include "cli/cli.h"

namespace eureka::cli {
namespace {

struct ServeArguments {
  std::string directory = ".";
  std::string host = "127.0.0.1";
  int port = serve::kUsualPort;
};

int serve_directory(const ServeArguments& arguments) {
  const std::atomic<bool>& stop = stop_requested();
  // What is trained on this machine comes first.
  constexpr int kNice = 10;
  ::setpriority(PRIO_PROCESS, 0, kNice);
  serve::Server server(
      {.directory = arguments.directory, .host = arguments.host, .port = arguments.port, .confines = true}, catalog());
  if (!server.is_loopback())
    tell(
        "eureka: others than this machine can reach this address, unencrypted; whoever has the token in it sees every "
        "run below the directory\n");
  print("{}\n", server.address());
  finish_output();
  while (!stop) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  server.stop();
  return kOk;
}

}  // namespace

void add_serve(Command& program) {
  Command verb = program.add_command("serve", "runs and studies in a browser, while they grow; nothing is written");
  auto arguments = std::make_shared<ServeArguments>();
  verb.option("directory", arguments->directory, "where runs and studies lie, at any depth; . when left out");
  verb.option("--port", arguments->port, "of this machine; 0: any that is free").between(0, 65535).shows_default();
  verb.option("--host", arguments->host, "an address of this machine that others can reach; needs a token then")
      .shows_default();
  verb.footer("Ctrl-C ends it.");
  verb.runs([=] { return serve_directory(*arguments); });
}

}  // namespace eureka::cli
