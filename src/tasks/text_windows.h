// What the language tasks share: which text, cut into which tokens, and windows of it drawn at random.
//
//   TextWindows windows(options);
//   windows.draw(random, "train", 65, ids);           65 neighbors out of the training part
//
// Streams called "train" see the training part of the text, all others the validation part; no window lies across the
// border.
#pragma once

#include <span>
#include <string>

#include "base/random.h"
#include "data/token_set.h"
#include "tasks/task.h"

namespace eureka {

struct TextOptions {
  std::string text = "sample";
  TokenKind tokens = TokenKind::characters;
  int context = 64;
  int vocabulary = 0;

  template <class V>
  void visit(V& v) {
    v("text", text, "sample: a book that comes with the program; kjv: eureka data get kjv; or a UTF-8 file");
    v("tokens", tokens, "what an id stands for; the vocabulary is made from the training part alone");
    v("context", context, Range{4, 1024}, "tokens of a sample");
    v("vocabulary", vocabulary, Range{0, 65536},
      "different tokens at most; 0: all characters, 4,096 words or 512 byte pairs");
  }
};

class TextWindows {
 public:
  // Throws Error(input) when either part has fewer than `length` tokens.
  TextWindows(const TextOptions& options, std::int64_t length);

  // Tokens of the vocabulary, the unknown one among them.
  std::int64_t vocabulary() const { return static_cast<std::int64_t>(tokens_->facts().pieces.size()); }
  // As many neighbors as `ids` has room for.
  void draw(RandomStream& random, const std::string& stream, std::span<std::int32_t> ids) const;
  // An answer is a token, so bits per answer times tokens per character. Of the validation part: training differs a
  // little.
  Metric metric() const;
  // How common each token is in a part of the text, by its first million tokens, each counted `before` times at first.
  std::vector<double> frequencies(Split split, double before) const;

 private:
  std::shared_ptr<const TokenSet> tokens_;
  std::string text_;
};

}  // namespace eureka
