#include "data/byte_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <queue>

#include "base/error.h"

namespace eureka {

// Counts of all pairs, kept up to date: a join touches only the words it occurs in.
class BytePairLearner {
 public:
  using Pair = BytePairs::Pair;

  BytePairLearner(const CountedPieces& words, const BytePairs& pairs) {
    for (const auto& [word, count] : words) {
      words_.push_back({{}, static_cast<std::int64_t>(count)});
      pairs.split(word, words_.back().tokens);
      add(words_.size() - 1, 1);
    }
    for (const auto& [pair, count] : counts_) queue_.push({count, pair});
  }

  // The commonest pair; false when none occurs twice.
  bool commonest(Pair& pair) {
    while (!queue_.empty()) {
      const Candidate top = queue_.top();
      queue_.pop();
      const std::int64_t count = counts_[top.pair];
      if (count < 2) continue;
      if (count != top.count) {
        queue_.push({count, top.pair});
        continue;
      }
      pair = top.pair;
      return true;
    }
    return false;
  }

  void join(Pair pair, TokenId id) {
    const std::vector<std::size_t> places = std::move(places_[pair]);
    places_.erase(pair);
    changed_.clear();
    for (const std::size_t word : places) {
      add(word, -1);
      replace(words_[word].tokens, pair, id);
      add(word, 1);
    }
    std::sort(changed_.begin(), changed_.end());
    changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
    for (const Pair one : changed_)
      if (counts_[one] >= 2) queue_.push({counts_[one], one});
  }

 private:
  struct Word {
    std::vector<TokenId> tokens;
    std::int64_t count;
  };
  struct Candidate {
    std::int64_t count;
    Pair pair;
    bool operator<(const Candidate& other) const {
      return count != other.count ? count < other.count : pair > other.pair;
    }
  };

  void add(std::size_t index, int sign) {
    const Word& word = words_[index];
    for (std::size_t i = 0; i + 1 < word.tokens.size(); ++i) {
      const Pair pair = BytePairs::pair_of(word.tokens[i], word.tokens[i + 1]);
      counts_[pair] += sign * word.count;
      changed_.push_back(pair);
      if (sign < 0) continue;
      std::vector<std::size_t>& places = places_[pair];
      if (places.empty() || places.back() != index) places.push_back(index);
    }
  }

  static void replace(std::vector<TokenId>& tokens, Pair pair, TokenId id) {
    std::size_t to = 0;
    for (std::size_t from = 0; from < tokens.size(); ++from) {
      const bool here = from + 1 < tokens.size() && BytePairs::pair_of(tokens[from], tokens[from + 1]) == pair;
      tokens[to++] = here ? id : tokens[from];
      if (here) ++from;
    }
    tokens.resize(to);
  }

  std::vector<Word> words_;
  std::unordered_map<Pair, std::int64_t> counts_;
  std::unordered_map<Pair, std::vector<std::size_t>> places_;  // words a pair occurs in, or did
  std::vector<Pair> changed_;
  std::priority_queue<Candidate> queue_;
};

BytePairs BytePairs::learn(const CountedPieces& words, std::size_t vocabulary) {
  BytePairs pairs;
  pairs.begin(words, vocabulary);
  BytePairLearner learner(words, pairs);
  for (Pair pair = 0; pairs.pieces_.size() < vocabulary && learner.commonest(pair);)
    learner.join(pair, pairs.add_join(pair));
  return pairs;
}

void BytePairs::begin(const CountedPieces& words, std::size_t vocabulary) {
  std::array<bool, 256> seen{};
  for (const auto& [word, count] : words)
    for (const char byte : word) seen[static_cast<unsigned char>(byte)] = true;
  for (std::size_t byte = 0; byte < seen.size(); ++byte) {
    if (!seen[byte]) continue;
    bytes_[byte] = static_cast<TokenId>(pieces_.size());
    pieces_.emplace_back(1, static_cast<char>(byte));
    ids_[pieces_.back()] = bytes_[byte];
  }
  if (pieces_.size() > vocabulary)
    throw Error(
        ErrorKind::config,
        fmt::format("a vocabulary of {} is too small: the text has {} different bytes", vocabulary, pieces_.size() - 1),
        "task.vocabulary", fmt::format("take {} or more", pieces_.size()));
}

TokenId BytePairs::add_join(Pair pair) {
  const std::string joined = pieces_[pair >> 16] + pieces_[pair & 0xFFFF];
  const auto [entry, is_new] = ids_.try_emplace(joined, static_cast<TokenId>(pieces_.size()));
  // Two ways to the same bytes are one token.
  if (is_new) pieces_.push_back(joined);
  joins_[pair] = {static_cast<std::uint32_t>(joins_.size()), entry->second};
  return entry->second;
}

void BytePairs::split(std::string_view word, std::vector<TokenId>& into) const {
  for (const char byte : word) into.push_back(bytes_[static_cast<unsigned char>(byte)]);
}

void BytePairs::encode(std::string_view word, std::vector<TokenId>& into) const {
  const std::size_t first = into.size();
  split(word, into);
  while (true) {
    const Join* best = nullptr;
    std::size_t place = 0;
    for (std::size_t i = first; i + 1 < into.size(); ++i) {
      const auto found = joins_.find(pair_of(into[i], into[i + 1]));
      if (found == joins_.end() || (best != nullptr && found->second.rank >= best->rank)) continue;
      best = &found->second;
      place = i;
    }
    if (best == nullptr) return;
    into[place] = best->id;
    into.erase(into.begin() + static_cast<std::ptrdiff_t>(place) + 1);
  }
}

}  // namespace eureka
