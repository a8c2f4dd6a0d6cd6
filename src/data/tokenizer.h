// From text to ids in two passes over its parts: first learn() sees the training part, then encode() everything.
//
//   Tokenizer tokenizer(TokenKind::words, 1000);
//   tokenizer.learn(part)...; tokenizer.end_learning();
//   tokenizer.encode(part, ids)...; tokenizer.end_part(ids);
#pragma once

#include "data/token_set.h"

namespace eureka {

class Tokenizer {
 public:
  Tokenizer(TokenKind kind, std::size_t vocabulary);

  void learn(std::string_view part);
  void end_learning();

  // Append the ids of what is whole; a word at the end of a part may go on in the next.
  void encode(std::string_view part, std::vector<TokenId>& into);
  void end_part(std::vector<TokenId>& into);

  const std::vector<std::string>& pieces() const;

 private:
  void encode_piece(std::string_view piece, std::vector<TokenId>& into);

  TokenKind kind_;
  std::size_t vocabulary_;
  PieceSplitter splitter_;
  PieceCounter counter_;
  std::vector<std::string> pieces_;
  std::array<TokenId, 128> single_{};  // ids of ASCII characters
  PieceMap<TokenId> ids_;
  BytePairs pairs_;
  PieceMap<std::vector<TokenId>> known_words_;  // their byte pairs, worked out before
};

}  // namespace eureka
