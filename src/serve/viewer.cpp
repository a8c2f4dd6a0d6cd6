#include "serve/viewer.h"

#include <poll.h>

namespace eureka::serve {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kHeartbeat{15}, kBetweenIndexes{1};
constexpr std::chrono::milliseconds kPatience{2000};

}  // namespace

Viewer::Viewer(const ServedTree& tree, NewsBoard& board, Watch& watch, const std::string& id, const std::string& place,
               int socket)
    : board_(board), watcher_(watch, id), socket_(socket) {
  if (!id.empty()) run_.emplace(tree, id, place);
}

bool Viewer::has_gone() const {
  pollfd state{socket_, POLLRDHUP, 0};
  return ::poll(&state, 1, 0) > 0 && (state.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

std::string Viewer::news() {
  if (run_) return board_.news(*run_);
  if (!index_changed_ || steady_clock::now() - last_sent_ < kBetweenIndexes) return {};
  index_changed_ = false;
  return "event: index\ndata: {}\n\n";
}

std::optional<std::string> Viewer::next() {
  // Browsers count a stream as open from its first byte on, and come back after so many milliseconds.
  if (!std::exchange(has_begun_, true)) return "retry: 2000\n\n";
  for (;;) {
    if (std::string text = news(); !text.empty()) {
      last_sent_ = steady_clock::now();
      return text;
    }
    const auto woken = watcher_.wait(index_changed_ ? std::chrono::milliseconds(100) : kPatience);
    if (woken == Watch::Watcher::Woken::by_end || has_gone()) return std::nullopt;
    if (woken == Watch::Watcher::Woken::by_change) index_changed_ = true;
    if (steady_clock::now() - last_sent_ < kHeartbeat) continue;
    last_sent_ = steady_clock::now();
    return ":\n\n";
  }
}

}  // namespace eureka::serve
