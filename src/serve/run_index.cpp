#include "serve/run_index.h"

#include <algorithm>
#include <unordered_map>

namespace eureka::serve {
namespace {

constexpr int kMostDepth = 8;
constexpr std::size_t kMostDirectories = 100'000, kMostChildren = 100'000;

bool is_run(const OpenDirectory& directory) {
  const auto has = [&](const char* file) { return directory.stamp(file).exists; };
  return has("metrics.jsonl") || has("summary.json") || (has("config.toml") && has("meta.json"));
}

bool is_study(const OpenDirectory& directory) {
  return directory.stamp("study.toml").exists || directory.stamp("study.json").exists;
}

// As study.json tells; else by <point>/<arm>/seed-N below the study, the point left out where there are no axes.
void tell_place(IndexEntry& entry, const StudyFacts& study) {
  const std::string inside = entry.study == "." ? entry.id : entry.id.substr(entry.study.size() + 1);
  if (const auto told = study.places.find(inside); told != study.places.end()) {
    entry.arm = told->second.arm, entry.point = told->second.point;
    return;
  }
  const std::size_t seed = inside.rfind('/');
  if (seed == std::string::npos) return;
  const std::string above = inside.substr(0, seed);
  const std::size_t arm = above.rfind('/');
  entry.arm = arm == std::string::npos ? above : above.substr(arm + 1);
  if (arm != std::string::npos) entry.point = above.substr(0, arm);
}

}  // namespace

const IndexEntry* IndexSnapshot::find(const std::string& id) const {
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const IndexEntry& e) { return e.id == id; });
  return found == entries.end() ? nullptr : &*found;
}

// Snapshots share what was read, so it is replaced and never changed.
template <class Facts>
void RunIndex::bring_up_to_date(std::shared_ptr<const Facts>& known, const OpenDirectory& directory) {
  if (known && known->is_current(directory)) return;
  auto facts = known ? std::make_shared<Facts>(*known) : std::make_shared<Facts>();
  facts->refresh(directory);
  known = std::move(facts);
  has_changed_ = true;
}

std::shared_ptr<const IndexSnapshot> RunIndex::snapshot() {
  const std::lock_guard lock(mutex_);
  return last_ && std::chrono::steady_clock::now() - looked_ < kFresh ? last_ : look_through();
}

std::shared_ptr<const IndexSnapshot> RunIndex::snapshot_with(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto age = std::chrono::steady_clock::now() - looked_;
  const auto known = known_.find(id);
  const bool is_run_known = last_ && known != known_.end() && known->second.run;
  if (last_ && !is_run_known && age < kFresh) return last_;
  if (!is_run_known || age > kFreshForOne) return look_through();
  const auto directory = tree_.open(id);
  if (!directory || !is_run(*directory)) return look_through();
  has_changed_ = false;
  bring_up_to_date(known->second.run, *directory);
  if (!has_changed_) return last_;
  auto now = std::make_shared<IndexSnapshot>(*last_);
  ++now->stamp;
  for (IndexEntry& entry : now->entries)
    if (entry.id == id) entry.run = known->second.run, entry.changed = entry.run->changed;
  return last_ = now;
}

std::shared_ptr<const IndexSnapshot> RunIndex::look_through() {
  auto now = std::make_shared<IndexSnapshot>();
  directories_ = 0, has_changed_ = !last_;
  for (auto& [id, known] : known_) known.is_seen = false;
  if (const auto root = tree_.open(".")) look_into(*root, {".", "", 0}, *now);
  has_changed_ |= std::erase_if(known_, [](const auto& one) { return !one.second.is_seen; }) > 0;
  looked_ = std::chrono::steady_clock::now();
  if (!has_changed_ && now->unfit == last_->unfit && now->links == last_->links) return last_;
  count_trials(*now);
  find_varied(*now);
  now->stamp = last_ ? last_->stamp + 1
                     : static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch() /
                                                  std::chrono::microseconds(1));
  last_ = now;
  return now;
}

void RunIndex::look_into(const OpenDirectory& directory, const Place& place, IndexSnapshot& into) {
  if (++directories_ > kMostDirectories) {
    into.is_cut = true;
    return;
  }
  Place inner = place;
  ++inner.depth;
  if (is_study(directory)) {
    Known& known = known_[place.id];
    bring_up_to_date(known.study, directory);
    known.is_seen = true;
    into.entries.push_back(
        {.id = place.id, .study = place.study, .of_study = known.study, .changed = known.study->changed});
    inner.study = place.id;
  } else if (is_run(directory)) {
    add_run(directory, place, into);
    return;
  }
  if (place.depth == kMostDepth) return;
  const OpenDirectory::Children children = directory.children(kMostChildren);
  into.unfit += children.unfit, into.links += children.links;
  for (const std::string& name : children.names) {
    const auto child = directory.below(name);
    if (!child) continue;
    inner.id = place.id == "." ? name : place.id + "/" + name;
    look_into(*child, inner, into);
  }
}

void RunIndex::add_run(const OpenDirectory& directory, const Place& place, IndexSnapshot& into) {
  Known& known = known_[place.id];
  bring_up_to_date(known.run, directory);
  known.is_seen = true;
  IndexEntry entry{.id = place.id, .study = place.study, .run = known.run, .changed = known.run->changed};
  if (const auto study = known_.find(place.study); study != known_.end() && study->second.study)
    tell_place(entry, *study->second.study);
  into.entries.push_back(std::move(entry));
}

void RunIndex::count_trials(IndexSnapshot& into) const {
  std::unordered_map<std::string, IndexEntry*> studies;
  for (IndexEntry& entry : into.entries)
    if (entry.of_study) studies[entry.id] = &entry;
  for (const IndexEntry& entry : into.entries) {
    const auto study = studies.find(entry.study);
    if (!entry.run || study == studies.end()) continue;
    if (entry.run->has_ended()) ++study->second->trials_ended;
    if (!entry.run->has_ended() && entry.run->status == "running") ++study->second->trials_running;
    study->second->changed = std::max(study->second->changed, entry.changed);
  }
}

void RunIndex::find_varied(IndexSnapshot& into) const {
  struct Seen {
    std::string_view value;
    std::size_t runs = 0;
    bool differs = false;
  };
  std::unordered_map<std::string_view, Seen> options;
  std::size_t runs = 0;
  for (const IndexEntry& entry : into.entries) {
    if (!entry.run || entry.run->options.empty()) continue;
    ++runs;
    for (const auto& [key, value] : entry.run->options) {
      Seen& seen = options[key];
      ++seen.runs;
      if (seen.runs == 1)
        seen.value = value;
      else if (seen.value != value)
        seen.differs = true;
    }
  }
  for (const auto& [key, seen] : options)
    if (key != "run.seed" && (seen.differs || seen.runs < runs)) into.varied.emplace(key);
}

}  // namespace eureka::serve
