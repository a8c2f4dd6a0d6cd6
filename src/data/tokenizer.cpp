#include "data/tokenizer.h"

#include <algorithm>
#include <utility>

namespace eureka {
namespace {

constexpr std::size_t kDefaultWords = 4096, kDefaultBytePairs = 512;
// Byte pairs are learned from the commonest words, which bounds the time whatever the text.
std::size_t words_for_pairs(std::size_t vocabulary) {
  return std::clamp(4 * vocabulary, std::size_t{1} << 14, std::size_t{1} << 16);
}
constexpr std::size_t kMaxKnownWords = std::size_t{1} << 15;

std::size_t chosen_vocabulary(TokenKind kind, std::size_t asked) {
  if (asked > 0) return asked;
  return kind == TokenKind::characters ? kMaxVocabulary : kind == TokenKind::words ? kDefaultWords : kDefaultBytePairs;
}

}  // namespace

Tokenizer::Tokenizer(TokenKind kind, std::size_t vocabulary)
    : kind_(kind),
      vocabulary_(chosen_vocabulary(kind, vocabulary)),
      splitter_(kind == TokenKind::characters ? PieceKind::characters : PieceKind::words) {}

void Tokenizer::learn(std::string_view part) {
  splitter_.feed(part, [&](std::string_view piece) { counter_.add(piece); });
}

void Tokenizer::end_learning() {
  splitter_.finish([&](std::string_view piece) { counter_.add(piece); });
  const PieceCounter counter = std::exchange(counter_, PieceCounter());
  if (kind_ == TokenKind::byte_pairs) {
    pairs_ = BytePairs::learn(counter.commonest(words_for_pairs(vocabulary_)), vocabulary_);
    return;
  }
  pieces_ = {""};
  for (const auto& [piece, count] : counter.commonest(vocabulary_ - 1)) {
    const auto id = static_cast<TokenId>(pieces_.size());
    pieces_.push_back(piece);
    if (piece.size() == 1)
      single_[static_cast<unsigned char>(piece[0])] = id;
    else
      ids_[piece] = id;
  }
}

void Tokenizer::encode(std::string_view part, std::vector<TokenId>& into) {
  splitter_.feed(part, [&](std::string_view piece) { encode_piece(piece, into); });
}

void Tokenizer::end_part(std::vector<TokenId>& into) {
  splitter_.finish([&](std::string_view piece) { encode_piece(piece, into); });
}

const std::vector<std::string>& Tokenizer::pieces() const {
  return kind_ == TokenKind::byte_pairs ? pairs_.pieces() : pieces_;
}

void Tokenizer::encode_piece(std::string_view piece, std::vector<TokenId>& into) {
  if (kind_ == TokenKind::byte_pairs) {
    const auto known = known_words_.find(piece);
    if (known != known_words_.end()) {
      into.insert(into.end(), known->second.begin(), known->second.end());
      return;
    }
    if (known_words_.size() >= kMaxKnownWords) known_words_.clear();
    const std::size_t first = into.size();
    pairs_.encode(piece, into);
    known_words_.emplace(piece, std::vector(into.begin() + static_cast<std::ptrdiff_t>(first), into.end()));
    return;
  }
  if (piece.size() == 1) {
    into.push_back(single_[static_cast<unsigned char>(piece[0])]);
    return;
  }
  const auto found = ids_.find(piece);
  into.push_back(found == ids_.end() ? kUnknownToken : found->second);
}

}  // namespace eureka
