// Whether the information is there, attended to or not: linear probes of every hidden variable of the task, on queries,
// keys, values and outputs of each head and on the residual stream of each layer.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "diagnostics/diagnostic.h"
#include "diagnostics/linear_probe.h"
#include "tasks/token_places.h"

namespace eureka {
namespace {

struct Options {
  double penalty = 1e-2;
  int most_tokens = 32;

  template <class V>
  void visit(V& v) {
    v("penalty", penalty, Range{0, 1e6}, "of the ridge, times the mean squared singular value of the features");
    v("most_tokens", most_tokens, Range{1, 4096},
      "up to so many tokens each position has probes of its own; else the first token and the mean only");
  }
};

// Features of every sample at one point of one head, by position; the last position is the mean over tokens.
struct Features {
  std::size_t positions = 0, width = 0;
  std::vector<double> values;  // samples x positions x width

  SmallMatrix at(std::size_t position, const std::vector<std::size_t>& samples) const {
    SmallMatrix x(samples.size(), width);
    for (std::size_t i = 0; i < samples.size(); ++i)
      for (std::size_t j = 0; j < width; ++j) x(i, j) = values[(samples[i] * positions + position) * width + j];
    return x;
  }
};

class Probes final : public Diagnostic {
 public:
  explicit Probes(const Options& options) : options_(options) {}

  std::vector<NumberInfo> numbers() const override {
    return {
        {"accuracy", "share of samples", "of a linear probe on the second half of the samples: LATENT/POINT/POSITION"},
        {"chance", "share of samples", "the commonest class of the second half, for comparison: LATENT"}};
  }

  ObservationRequest wants() const override {
    return {.points = {Point::q, Point::k, Point::v, Point::head_output, Point::residual}};
  }

  void begin(const LookContext& context) override {
    features_.clear();
    latents_.clear();
    if (context.task == nullptr) return;
    samples_ = static_cast<std::size_t>(context.samples);
    names_ = context.task->latents();
    shape_ = context.task->shape();
    // Of a sequence the last answer that is asked for: the one that may depend on everything.
    const auto labels = static_cast<std::size_t>(shape_.labels());
    for (std::size_t sample = 0; sample < samples_; ++sample) {
      std::size_t position = labels - 1;
      while (position > 0 && !context.batch->asks(sample * labels + position)) --position;
      const auto first =
          context.batch->latents.begin() + static_cast<std::ptrdiff_t>((sample * labels + position) * names_.size());
      latents_.insert(latents_.end(), first, first + static_cast<std::ptrdiff_t>(names_.size()));
    }
  }

  void see(const ObservationView& view) override {
    if (latents_.empty()) return;
    for (const Point point : {Point::q, Point::k, Point::v, Point::head_output, Point::residual}) {
      const TensorView& tensor = view.value(point);
      if (!tensor.exists()) continue;
      for (std::int64_t head = 0; head < tensor.sizes[1]; ++head)
        keep(tensor, view, head, features_[{point, view.layer, static_cast<int>(head)}]);
    }
  }

  void report(NumberRow& row) override {
    constexpr std::size_t kFewest = 8;
    if (!latents_.empty() && samples_ >= kFewest) {
      for (std::size_t latent = 0; latent < names_.size(); ++latent)
        row.add("chance/" + names_[latent].name, commonest_share(classes_of(latent, second_half())));
      for (const auto& [place, features] : features_) add(row, place, features);
    }
    features_.clear();
    latents_.clear();
  }

 private:
  struct Place {
    Point point;
    int layer, head;
    bool operator<(const Place& other) const {
      return std::tie(point, layer, head) < std::tie(other.point, other.layer, other.head);
    }

    std::string name(const std::string& position) const {
      const std::string begin =
          fmt::format("{}/{}/layer{}", enum_names(point)[static_cast<std::size_t>(point)], position, layer);
      return point == Point::residual ? begin : begin + fmt::format("/head{}", head);
    }
  };

  void keep(const TensorView& tensor, const ObservationView& view, std::int64_t head, Features& features) const {
    const auto tokens = static_cast<std::size_t>(tensor.sizes[2]), width = static_cast<std::size_t>(tensor.sizes[3]);
    const std::size_t single = tokens <= static_cast<std::size_t>(options_.most_tokens) ? tokens : 1;
    features.positions = single + 1;
    features.width = width;
    features.values.resize(samples_ * features.positions * width);
    for (std::int64_t s = 0; s < view.samples; ++s) {
      double* to = &features.values[static_cast<std::size_t>(view.first_sample + s) * features.positions * width];
      double* mean = to + single * width;
      for (std::size_t token = 0; token < tokens; ++token) {
        const float* from = tensor.row(s, head, static_cast<std::int64_t>(token));
        for (std::size_t i = 0; i < width; ++i) {
          if (token < single) to[token * width + i] = static_cast<double>(from[i]);
          mean[i] += static_cast<double>(from[i]) / static_cast<double>(tokens);
        }
      }
    }
  }

  std::vector<std::size_t> first_half() const { return samples_between(0, samples_ / 2); }
  std::vector<std::size_t> second_half() const { return samples_between(samples_ / 2, samples_); }
  static std::vector<std::size_t> samples_between(std::size_t first, std::size_t last) {
    std::vector<std::size_t> samples;
    for (std::size_t sample = first; sample < last; ++sample) samples.push_back(sample);
    return samples;
  }
  std::vector<int> classes_of(std::size_t latent, const std::vector<std::size_t>& samples) const {
    std::vector<int> classes;
    for (const std::size_t sample : samples) classes.push_back(latents_[sample * names_.size() + latent]);
    return classes;
  }

  void add(NumberRow& row, const Place& place, const Features& features) const {
    const std::vector<std::size_t> fitted = first_half(), scored = second_half();
    for (std::size_t position = 0; position < features.positions; ++position) {
      const bool is_mean = position + 1 == features.positions;
      const std::string where = place.name(is_mean ? "mean" : fmt::format("token{}", position));
      const LinearProbe probe(features.at(position, fitted), options_.penalty);
      for (std::size_t latent = 0; latent < names_.size(); ++latent)
        row.add("accuracy/" + names_[latent].name + "/" + where,
                probe.accuracy(classes_of(latent, fitted), names_[latent].classes, features.at(position, scored),
                               classes_of(latent, scored)));
    }
  }

  Options options_;
  std::size_t samples_ = 0;
  TaskShape shape_;
  std::vector<Latent> names_;
  std::vector<int> latents_;  // samples x latents
  std::map<Place, Features> features_;
};

EUREKA_DIAGNOSTIC("probes", Probes, Options,
                  "linear probes of every hidden variable: whether the information is there, attended to or not");

}  // namespace
}  // namespace eureka
