#include "nn/rank_watch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <torch/csrc/distributed/c10d/Store.hpp>

#include "base/output.h"

namespace eureka {
namespace {

using namespace std::chrono_literals;

constexpr auto kBetweenCounts = 2s;
constexpr auto kLongestSilence = 18s;
// For whoever waits for the lost one to end in order.
constexpr auto kGrace = 5s;
// A look asks rank 0, and one that is frozen, or whose machine is gone, never answers.
constexpr auto kPatienceWithLook = 4s;

std::string key_of(int rank) { return fmt::format("alive-{}", rank); }

}  // namespace

RankWatch::RankWatch(const RankPlace& place, c10::intrusive_ptr<c10d::Store> store)
    : place_(place), store_(std::move(store)) {
  for (int rank = 0; rank < place.size; ++rank)
    if (rank != place.rank && (place.leads() || rank == 0)) seen_[rank] = {0, Clock::now()};
  thread_ = std::thread([this] { watch(); });
}

RankWatch::~RankWatch() { stop(); }

void RankWatch::stop() {
  std::unique_lock lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
  const bool ended = changed_.wait_for(lock, kPatienceWithLook, [&] { return ended_; });
  lock.unlock();
  if (!ended) end_process(lost());
  if (thread_.joinable()) thread_.join();
}

void RankWatch::end_process(const std::string& why) const {
  tell("eureka: rank {} of {}: another process of this run has ended ({})\n", place_.rank, place_.size,
       why.empty() ? "rank 0 does not answer" : why);
  ::_exit(1);
}

void RankWatch::end_process_soon() {
  std::thread([] {
    std::this_thread::sleep_for(kGrace);
    ::_exit(1);
  }).detach();
  stop();
}

std::string RankWatch::lost() const {
  const std::lock_guard lock(mutex_);
  if (!lost_.empty()) return lost_;
  // Where the machine of the store is gone without a word, our own look does not come back.
  return Clock::now() - last_look_ > kLongestSilence + kBetweenCounts ? "nothing is heard of the others" : "";
}

bool RankWatch::pause(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, time, [&] { return stopping_; });
}

void RankWatch::lose(const std::string& whom) {
  const std::lock_guard lock(mutex_);
  if (lost_.empty()) lost_ = whom;
}

void RankWatch::look() {
  store_->add(key_of(place_.rank), 1);
  const auto now = Clock::now();
  for (auto& [rank, seen] : seen_) {
    const std::int64_t count = store_->add(key_of(rank), 0);
    if (count != seen.count) seen = {count, now};
    if (now - seen.when > kLongestSilence)
      lose(fmt::format("rank {} has been silent for {} seconds", rank,
                       std::chrono::duration_cast<std::chrono::seconds>(now - seen.when).count()));
  }
  const std::lock_guard lock(mutex_);
  last_look_ = Clock::now();
}

void RankWatch::watch() {
  watch_until_stopped();
  const std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

void RankWatch::watch_until_stopped() {
  do {
    try {
      look();
    } catch (const std::exception&) {
      lose(place_.leads() ? "the place where they meet is gone" : "rank 0 is gone");
    }
    if (lost().empty()) continue;
    if (!pause(kGrace)) return;
    end_process(lost());
  } while (pause(kBetweenCounts));
}

}  // namespace eureka
