#include "data/token_pieces.h"

#include <algorithm>

namespace eureka {

bool is_word_character(std::string_view code_point) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(code_point[i]); };
  if (byte(0) < 0x80) {
    const unsigned char c = byte(0);
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  }
  if (code_point.size() == 2) {
    const unsigned value = (byte(0) & 0x1FU) << 6 | (byte(1) & 0x3FU);
    return value > 0xBF && value != 0xD7 && value != 0xF7;
  }
  if (code_point.size() == 3) {
    const unsigned value = (byte(0) & 0x0FU) << 12 | (byte(1) & 0x3FU) << 6 | (byte(2) & 0x3FU);
    // General punctuation, and that of Chinese and Japanese.
    return !(value >= 0x2000 && value <= 0x206F) && !(value >= 0x3000 && value <= 0x303F) && value != 0xFEFF;
  }
  return true;
}

void PieceCounter::add(std::string_view piece) {
  if (piece.size() == 1 && static_cast<unsigned char>(piece[0]) < 128) {
    ++single_[static_cast<unsigned char>(piece[0])];
    return;
  }
  const auto found = counts_.find(piece);
  if (found != counts_.end()) {
    ++found->second;
    return;
  }
  if (counts_.size() >= most_distinct_) forget_rarest();
  counts_.emplace(piece, 1);
}

void PieceCounter::forget_rarest() {
  for (std::uint64_t rare = 1; counts_.size() > most_distinct_ / 2; rare *= 2)
    std::erase_if(counts_, [&](const auto& entry) { return entry.second <= rare; });
}

CountedPieces PieceCounter::commonest(std::size_t most) const {
  CountedPieces all(counts_.begin(), counts_.end());
  for (std::size_t c = 0; c < single_.size(); ++c)
    if (single_[c] > 0) all.emplace_back(std::string(1, static_cast<char>(c)), single_[c]);
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  if (all.size() > most) all.resize(most);
  return all;
}

}  // namespace eureka
