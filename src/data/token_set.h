// A text as token ids, training and validation part apart: the first nine tenths of its characters and the rest. Small
// texts are in memory; of large ones the ids lie in a file of the data directory that is made once and mapped, so a
// text may be larger than the memory.
//
//   auto tokens = open_tokens({.text = "novel.txt", .kind = TokenKind::byte_pairs, .vocabulary = 512});
//   tokens->ids(Split::train)[7]                        below facts().pieces.size(); 0: not in the vocabulary
//   tokens->facts().tokens_per_character(Split::test)   turns bits per token into bits per character
//
// Ensures: the vocabulary is made from the training part alone; the same text gives the same ids on every machine.
#pragma once

#include <memory>
#include <span>

#include "data/byte_pairs.h"
#include "data/image_set.h"

namespace eureka {

enum class TokenKind : std::uint8_t { characters, words, byte_pairs };
constexpr auto enum_names(TokenKind) { return std::array{"characters", "words", "byte-pairs"}; }

struct TokenRequest {
  std::string text = "sample";  // or "kjv", or a path
  TokenKind kind = TokenKind::characters;
  std::size_t vocabulary = 0;                            // at most; 0: all characters, 4,096 words, 512 byte pairs
  std::uint64_t memory_bytes = std::uint64_t{16} << 20;  // of text; a larger one gets a file
};

struct TokenFacts {
  std::vector<std::string> pieces;            // what each id stands for; the first: nothing, the unknown token
  std::array<std::uint64_t, 2> tokens{};      // of either part
  std::array<std::uint64_t, 2> characters{};  // code points
  std::array<std::uint64_t, 2> unknown{};     // tokens that are not in the vocabulary

  double tokens_per_character(Split split) const {
    const auto part = static_cast<std::size_t>(split);
    return static_cast<double>(tokens[part]) / static_cast<double>(characters[part]);
  }
};

class TokenSet {
 public:
  virtual ~TokenSet() = default;
  const TokenFacts& facts() const { return facts_; }
  std::span<const TokenId> ids(Split split) const { return ids_[static_cast<std::size_t>(split)]; }
  // Reads everything; throws Error(input) when the ids are not those that were written.
  virtual void verify() const {}

 protected:
  explicit TokenSet(TokenFacts facts) : facts_(std::move(facts)) {}
  void set_ids(std::span<const TokenId> all);

 private:
  TokenFacts facts_;
  std::array<std::span<const TokenId>, 2> ids_;
};

// One copy per process however often it is opened. Throws Error(input) for what is no text.
std::shared_ptr<const TokenSet> open_tokens(const TokenRequest& request);

// Where the ids of a large text are kept.
fs::path token_file_path(const TokenRequest& request);
// Opens such a file, whoever wrote it. Throws Error(input) when it is not a whole one of ours.
std::shared_ptr<const TokenSet> open_token_file(const fs::path& path);

}  // namespace eureka
