// Where attention goes, in the words of the task: the mass that queries of one role put on keys of another, and on the
// keys that an answer depends on. Hidden progress shows here before the loss moves.
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "diagnostics/attention_heads.h"
#include "tasks/token_places.h"

namespace eureka {
namespace {

// Of one head, for each pair of roles: mass, and mass by what even attention would put there.
struct PairMeans {
  Mean mass, by_share;
};

struct HeadMasses {
  std::map<std::pair<int, int>, PairMeans> pairs;
  PairMeans answer;
};

class Progress final : public Diagnostic {
 public:
  explicit Progress(const NoOptions&) {}

  std::vector<NumberInfo> numbers() const override {
    return {
        {"by_share", "multiple of even attention",
         "mass from one role to another by the share of such keys: 1 is no more than that"},
        {"mass", "share of attention", "mean mass that queries of one role put on keys of another"},
        {"answer_by_share", "multiple of even attention",
         "mass of the answering tokens on the keys their answer depends on, by their share"},
        {"answer_mass", "share of attention", "mean mass of the answering tokens on the keys their answer depends on"}};
  }

  ObservationRequest wants() const override { return {.points = {Point::weights}}; }

  void begin(const LookContext& context) override {
    task_ = context.task;
    batch_ = context.batch;
    if (task_ == nullptr) return;
    shape_ = task_->shape();
    roles_ = task_->roles();
    places_ = batch_->samples > 0 ? static_cast<std::int64_t>(batch_->roles.size()) / batch_->samples : 0;
    token_places_.clear();
  }

  void see(const ObservationView& view) override {
    const TensorView& weights = view.value(Point::weights);
    if (!weights.exists() || task_ == nullptr || places_ == 0) return;
    const std::int64_t tokens = weights.sizes[3];
    if (token_places_.empty()) token_places_ = token_places(shape_, tokens, places_);
    if (token_places_.empty()) return;
    std::vector<HeadMasses>& heads = heads_.at(view.layer, weights.sizes[1]);
    for (std::int64_t s = 0; s < view.samples; ++s) {
      find_roles(view.first_sample + s);
      for (std::int64_t query = 0; query < weights.sizes[2]; ++query) {
        const std::vector<std::int64_t>& keys = visible_.find(view.mask, s, query, tokens);
        if (keys.size() < 2) continue;
        const bool answers = find_answer_keys(view.first_sample + s, query);
        for (std::size_t head = 0; head < heads.size(); ++head) {
          const float* row = weights.row(s, static_cast<std::int64_t>(head), query);
          see_row(row, keys, role_of_[static_cast<std::size_t>(query)], heads[head]);
          if (answers) see_answer(row, keys, heads[head].answer);
        }
      }
    }
  }

  void report(NumberRow& row) override {
    for (const bool by_share : {true, false}) {
      const auto value = [&](const PairMeans& means) { return (by_share ? means.by_share : means.mass).value(); };
      for (const std::pair<int, int>& pair : pairs_seen())
        heads_.add(
            row, fmt::format("{}/{}-to-{}", by_share ? "by_share" : "mass", name_of(pair.first), name_of(pair.second)),
            [&](const HeadMasses& head) {
              const auto found = head.pairs.find(pair);
              return found == head.pairs.end() ? std::nan("") : value(found->second);
            });
      heads_.add(row, by_share ? "answer_by_share" : "answer_mass",
                 [&](const HeadMasses& head) { return value(head.answer); });
    }
    heads_.clear();
  }

 private:
  static constexpr int kCls = -1;

  std::string name_of(int role) const { return role == kCls ? "cls" : roles_[static_cast<std::size_t>(role)].name; }

  std::vector<std::pair<int, int>> pairs_seen() const {
    std::map<std::pair<int, int>, bool> all;
    for (const auto& [layer, heads] : heads_.layers())
      for (const HeadMasses& head : heads)
        for (const auto& [pair, means] : head.pairs) all[pair] = true;
    std::vector<std::pair<int, int>> pairs;
    for (const auto& [pair, seen] : all) pairs.push_back(pair);
    return pairs;
  }

  void find_roles(std::int64_t sample) {
    role_of_.clear();
    for (const std::int64_t place : token_places_)
      role_of_.push_back(
          place < 0 ? kCls : static_cast<int>(batch_->roles[static_cast<std::size_t>(sample * places_ + place)]));
    if (shape_.every_position || answer_of_ == sample) return;
    mark_answer_keys(sample);
    answer_of_ = sample;
  }

  void mark_answer_keys(std::int64_t answer) {
    answer_keys_.assign(token_places_.size(), 0);
    for (const std::int64_t place : task_->keys_of_answer(*batch_, answer))
      for (std::size_t token = 0; token < token_places_.size(); ++token)
        if (token_places_[token] == place) answer_keys_[token] = 1;
  }

  // Whether this query answers: the cls token, or a position that is asked.
  bool find_answer_keys(std::int64_t sample, std::int64_t query) {
    const std::int64_t place = token_places_[static_cast<std::size_t>(query)];
    if (!shape_.every_position) return place < 0;
    if (place < 0) return false;
    const std::int64_t answer = sample * shape_.labels() + place;
    if (!batch_->asks(static_cast<std::size_t>(answer))) return false;
    mark_answer_keys(answer);
    return true;
  }

  void see_row(const float* row, const std::vector<std::int64_t>& keys, int from, HeadMasses& sums) {
    masses_.assign(roles_.size() + 1, {});
    for (const std::int64_t key : keys) {
      const int slot = role_of_[static_cast<std::size_t>(key)] - kCls;
      auto& [mass, count] = masses_[static_cast<std::size_t>(slot)];
      mass += static_cast<double>(row[key]);
      count += 1;
    }
    for (std::size_t i = 0; i < masses_.size(); ++i)
      if (masses_[i].second > 0)
        add(sums.pairs[{from, static_cast<int>(i) + kCls}], masses_[i].first, masses_[i].second, keys.size());
  }

  void see_answer(const float* row, const std::vector<std::int64_t>& keys, PairMeans& means) const {
    double mass = 0, count = 0;
    for (const std::int64_t key : keys)
      if (answer_keys_[static_cast<std::size_t>(key)] != 0) {
        mass += static_cast<double>(row[key]);
        count += 1;
      }
    if (count > 0) add(means, mass, count, keys.size());
  }

  static void add(PairMeans& means, double mass, double count, std::size_t keys) {
    means.mass.add(mass);
    means.by_share.add(mass * static_cast<double>(keys) / count);
  }

  const Task* task_ = nullptr;
  const Batch* batch_ = nullptr;
  TaskShape shape_;
  std::vector<Role> roles_;
  std::int64_t places_ = 0;                 // that a sample's roles have
  std::vector<std::int64_t> token_places_;  // of the model's tokens
  std::vector<int> role_of_;                // of the tokens of the sample at hand
  std::vector<std::uint8_t> answer_keys_;   // of the answer at hand
  std::int64_t answer_of_ = -1;
  std::vector<std::pair<double, double>> masses_;  // mass and number of keys, by role; cls first
  PerHead<HeadMasses> heads_;
  VisibleKeys visible_;
};

EUREKA_DIAGNOSTIC("progress", Progress, NoOptions,
                  "attention on the tokens that matter, by the roles of the task: progress before the loss moves");

}  // namespace
}  // namespace eureka
