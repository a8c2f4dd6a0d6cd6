#include "tasks/text_windows.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace eureka {
namespace {

TokenRequest request_of(const TextOptions& options) {
  if (options.vocabulary == 1)
    throw Error(ErrorKind::config, "a vocabulary of 1 has nothing but the unknown token", "task.vocabulary",
                "0: all characters, 4,096 words or 512 byte pairs");
  return {.text = options.text, .kind = options.tokens, .vocabulary = static_cast<std::size_t>(options.vocabulary)};
}

}  // namespace

TextWindows::TextWindows(const TextOptions& options, std::int64_t length)
    : tokens_(open_tokens(request_of(options))), text_(options.text) {
  for (const Split split : kSplits) {
    const std::size_t count = tokens_->ids(split).size();
    if (count < static_cast<std::size_t>(length))
      throw Error(ErrorKind::input,
                  fmt::format("too short: its {} part has {} tokens, a sample takes {}",
                              split == Split::train ? "training" : "validation", count, length),
                  text_, "name a longer text, or take fewer tokens: task.context");
  }
}

void TextWindows::draw(RandomStream& random, const std::string& stream, std::span<std::int32_t> ids) const {
  const std::span<const TokenId> part = tokens_->ids(stream == "train" ? Split::train : Split::test);
  const std::size_t places = part.size() - ids.size() + 1;
  const auto first = static_cast<std::size_t>(random.uniform() * static_cast<double>(places));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    ids[i] = part[first + i];
    // A file of ids is checked where it is read: all of it would take too long.
    if (ids[i] >= vocabulary())
      throw Error(ErrorKind::input, "the ids kept of this text are damaged", text_,
                  "remove the folder 'tokens' of the data directory: it is made again");
  }
}

std::vector<double> TextWindows::frequencies(Split split, double before) const {
  constexpr std::size_t kMost = 1'000'000;
  const std::span<const TokenId> ids = tokens_->ids(split);
  const std::size_t seen = std::min(kMost, ids.size());
  std::vector<double> counts(static_cast<std::size_t>(vocabulary()), before);
  for (const TokenId id : ids.first(seen))
    if (id < counts.size()) ++counts[id];
  const double all = static_cast<double>(seen) + before * static_cast<double>(counts.size());
  for (double& count : counts) count /= all;
  return counts;
}

Metric TextWindows::metric() const {
  Metric metric = Metric::bits("bits per character", {}, 0);
  metric.answers_per_unit = tokens_->facts().tokens_per_character(Split::test);
  return metric;
}

}  // namespace eureka
