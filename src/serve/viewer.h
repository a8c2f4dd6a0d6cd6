// One who watches: the bytes of a stream of server-sent events, as they come.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "serve/news_board.h"
#include "serve/watch.h"

namespace eureka::serve {

class Viewer {
 public:
  // `id` of a run, or empty: the index. `place` is where an earlier stream had come to.
  Viewer(const ServedTree& tree, NewsBoard& board, Watch& watch, const std::string& id, const std::string& place,
         int socket);

  // Waits for what is next. Nothing at the end: the server stops, or the other side has gone.
  std::optional<std::string> next();

 private:
  bool has_gone() const;
  std::string news();

  NewsBoard& board_;
  std::optional<RunStream> run_;
  Watch::Watcher watcher_;
  int socket_;
  bool has_begun_ = false, index_changed_ = false;
  std::chrono::steady_clock::time_point last_sent_{};
};

}  // namespace eureka::serve
