// `eureka serve`: a directory of runs and studies, shown to browsers.
//
//   Server server({.directory = "runs"}, catalog);
//   server.address()            "http://127.0.0.1:8384/", with its token where others than this machine can ask
//   server.stop();
//
// It answers GET and HEAD, opens what it shows for reading only, and writes nothing.
#pragma once

#include <memory>
#include <string>

#include "base/files.h"
#include "serve/deadlines.h"
#include "train/catalog.h"

namespace eureka::serve {

inline constexpr int kUsualPort = 8384;

struct ServeOptions {
  fs::path directory;
  std::string host = "127.0.0.1";
  int port = kUsualPort;
  bool asks_for_token = false;  // always so where others than this machine can ask
  bool confines = false;        // the process: see confine.h
  unsigned connections = 256;   // at the same time; half of them can watch
  Deadlines::Limits limits = {};
};

class Server {
 public:
  // Answers from here on. Throws Error(input) for the directory, Error(usage) for the place.
  Server(const ServeOptions& options, const Catalog& catalog);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::string address() const;
  int port() const;
  bool is_loopback() const;
  // Ends all connections.
  void stop();

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace eureka::serve
