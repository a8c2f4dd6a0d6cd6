#include "serve/answer_cache.h"

namespace eureka::serve {
namespace {

// Gives back the place among those who work, whatever happens.
class Place {
 public:
  explicit Place(std::function<void()> give_back) : give_back_(std::move(give_back)) {}
  ~Place() { give_back_(); }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

 private:
  std::function<void()> give_back_;
};

}  // namespace

Answer AnswerCache::get(const std::string& key, std::uint64_t version, const std::function<Answer()>& work_out) {
  {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (const auto found = kept_.find(key); found != kept_.end() && found->second.version == version) {
        used_.splice(used_.begin(), used_, found->second.place);
        return found->second.answer;
      }
      if (free_ > 0 && !under_way_.contains(key)) break;
      changed_.wait(lock);
    }
    --free_;
    under_way_.insert(key);
  }
  const Place place([&] {
    const std::lock_guard lock(mutex_);
    ++free_;
    under_way_.erase(key);
    changed_.notify_all();
  });
  const Answer answer = work_out();
  keep(key, version, answer);
  return answer;
}

void AnswerCache::keep(const std::string& key, std::uint64_t version, const Answer& answer) {
  const std::size_t bytes = answer.body->size() + 2 * key.size() + 256;
  const std::lock_guard lock(mutex_);
  if (const auto before = kept_.find(key); before != kept_.end()) forget(before);
  if (bytes > most_bytes_ / 2) return;
  while (bytes_ + bytes > most_bytes_) forget(kept_.find(used_.back()));
  used_.push_front(key);
  kept_[key] = {version, answer, bytes, used_.begin()};
  bytes_ += bytes;
}

void AnswerCache::forget(std::map<std::string, Kept>::iterator one) {
  bytes_ -= one->second.bytes;
  used_.erase(one->second.place);
  kept_.erase(one);
}

}  // namespace eureka::serve
