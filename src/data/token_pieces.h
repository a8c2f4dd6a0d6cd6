// Text cut into pieces, without loss: every character by itself, or words. A word is a run of letters and digits with
// the one space before it, if there is one; every other character stands by itself.
//
//   PieceSplitter splitter(PieceKind::words);
//   splitter.feed("the cat, ", visit);      "the", " cat", ","          a piece may go on in the next part
//   splitter.finish(visit);                 " "
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "data/text_stream.h"

namespace eureka {

enum class PieceKind : std::uint8_t { characters, words };

// Letters and digits, and what people write between letters: everything beyond ASCII but spaces and punctuation.
bool is_word_character(std::string_view code_point);

class PieceSplitter {
 public:
  // Longer words are cut: nothing that is read may grow without bound.
  static constexpr std::size_t kMaxWordBytes = 64;

  explicit PieceSplitter(PieceKind kind) : kind_(kind) {}

  template <class Visit>
  void feed(std::string_view part, Visit&& visit) {
    for (std::size_t at = 0; at < part.size();) {
      const std::string_view one = part.substr(at, code_point_bytes(static_cast<unsigned char>(part[at])));
      at += one.size();
      if (kind_ == PieceKind::characters) {
        visit(one);
        continue;
      }
      if (is_word_character(one)) {
        if (word_.size() + one.size() > kMaxWordBytes) finish(visit);
      } else {
        finish(visit);
        if (one != " ") {
          visit(one);
          continue;
        }
      }
      word_ += one;
      // A space joins the word that follows; a second space does not.
      open_ = true;
    }
  }

  template <class Visit>
  void finish(Visit&& visit) {
    if (open_) visit(std::string_view(word_));
    word_.clear();
    open_ = false;
  }

 private:
  PieceKind kind_;
  std::string word_;
  bool open_ = false;
};

// Lets maps of strings be asked with views.
struct PieceHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};
template <class Value>
using PieceMap = std::unordered_map<std::string, Value, PieceHash, std::equal_to<>>;

using CountedPieces = std::vector<std::pair<std::string, std::uint64_t>>;

// How often each piece occurs. With more different ones than fit, the rarest are forgotten on the way (lossy counting),
// by their counts alone: the same on every machine.
class PieceCounter {
 public:
  explicit PieceCounter(std::size_t most_distinct = std::size_t{1} << 17) : most_distinct_(most_distinct) {}

  void add(std::string_view piece);
  // The commonest first, those as common as each other by their bytes.
  CountedPieces commonest(std::size_t most) const;
  std::size_t distinct() const { return counts_.size(); }

 private:
  void forget_rarest();

  std::size_t most_distinct_;
  std::array<std::uint64_t, 128> single_{};  // of ASCII characters, which are most of many texts
  PieceMap<std::uint64_t> counts_;           // of all others
};

}  // namespace eureka
