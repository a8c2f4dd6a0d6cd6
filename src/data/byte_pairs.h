// Byte pairs (Sennrich et al. 2016; of bytes, as in GPT-2): words begin as bytes, and the pair of neighbors that is
// commonest in the training text becomes a token of its own, again and again.
//
//   BytePairs pairs = BytePairs::learn({{"ab", 3}, {"abc", 2}, {"bc", 1}}, 6);
//   pairs.pieces()                     "", "a", "b", "c", "ab", "abc"           id 0: bytes never seen
//   pairs.encode("abcb", into)         5, 2
//
// Ensures: the same counts give the same tokens on every machine: of pairs as common as each other the one with the
// smaller ids is joined.
#pragma once

#include <cstdint>
#include <span>

#include "data/token_pieces.h"

namespace eureka {

using TokenId = std::uint16_t;
inline constexpr TokenId kUnknownToken = 0;
inline constexpr std::size_t kMaxVocabulary = 65536;

class BytePairs {
 public:
  // Joins until there are `vocabulary` tokens, or no pair occurs twice. Throws Error(config) when the bytes alone are
  // more.
  static BytePairs learn(const CountedPieces& words, std::size_t vocabulary);

  const std::vector<std::string>& pieces() const { return pieces_; }
  // Appends the tokens of a word.
  void encode(std::string_view word, std::vector<TokenId>& into) const;

 private:
  struct Join {
    std::uint32_t rank;  // earlier ones go first
    TokenId id;
  };
  using Pair = std::uint32_t;
  static Pair pair_of(TokenId left, TokenId right) { return Pair{left} << 16 | right; }

  void begin(const CountedPieces& words, std::size_t vocabulary);
  TokenId add_join(Pair pair);
  void split(std::string_view word, std::vector<TokenId>& into) const;

  friend class BytePairLearner;

  std::vector<std::string> pieces_ = {""};
  std::array<TokenId, 256> bytes_{};
  PieceMap<TokenId> ids_;
  std::unordered_map<Pair, Join> joins_;
};

}  // namespace eureka
