// Many watch one run, and mostly all have come to the same place: what is new behind it is read and written down once.
//
//   board.news(stream)            what stream.news() would say
#pragma once

#include <list>
#include <mutex>
#include <string>

#include "serve/run_stream.h"

namespace eureka::serve {

class NewsBoard {
 public:
  explicit NewsBoard(const ServedTree& tree) : tree_(tree) {}

  std::string news(RunStream& stream);

 private:
  struct Known {
    std::string id, files;  // as they stood
    RunStream::Place from, to;
    std::string text;
  };

  const ServedTree& tree_;
  std::mutex mutex_;
  std::list<Known> known_;  // the latest first
};

}  // namespace eureka::serve
