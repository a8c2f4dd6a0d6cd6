// A place to be asked at.
#pragma once

#include <string>

#include "serve/served_tree.h"

namespace eureka::serve {

struct Listening {
  Opened socket;
  std::string host;  // as it was asked for
  int port = 0;
  bool is_loopback = false;  // nobody beside this machine can reach it

  // "127.0.0.1:8384", "[::1]:8384"
  std::string authority() const;
};

// Port 0 is any that is free. Throws Error(usage) when it cannot be had, and says what to do.
Listening listen_at(const std::string& host, int port);

}  // namespace eureka::serve
