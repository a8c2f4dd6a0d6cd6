// Texts: what is refused and where, how words and byte pairs are cut, and large files in little memory.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "base/error.h"
#include "data/data_sets.h"
#include "data/texts.h"
#include "data/tokenizer.h"
#include "support/temporary_directory.h"

namespace eureka {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string all_of(TextStream stream) {
  std::string all;
  for (std::string_view part = stream.next(); !part.empty(); part = stream.next()) all += part;
  return all;
}

template <class Action>
std::string refusal(Action action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 2);
    EXPECT_FALSE(error.hint().empty()) << error.message();
    return error.message();
  }
  return "accepted";
}

std::string refusal_of(const std::string& bytes) {
  return refusal([&] { all_of(TextStream::of_memory(bytes, "novel.txt")); });
}

class TextFile : public testing::Test {
 protected:
  TextFile() { ::setenv("EUREKA_DATA_DIR", (directory_.path() / "data").c_str(), 1); }
  ~TextFile() override { ::unsetenv("EUREKA_DATA_DIR"); }

  std::string write(const std::string& bytes, const std::string& name = "novel.txt") const {
    const fs::path path = directory_.path() / name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path.string();
  }

  TemporaryDirectory directory_;
};

TEST(TextStream, NamesByteAndLineOfWhatIsNoUtf8) {
  EXPECT_THAT(refusal_of("one\ntwo\nca\xE9 noir"), HasSubstr("novel.txt: is not UTF-8: byte 0xE9 at byte 10 (line 3)"));
  EXPECT_THAT(refusal_of(std::string("ab\0c", 4)), HasSubstr("is no text: a zero byte at byte 2 (line 1)"));
  EXPECT_THAT(refusal_of("\x1F\x8B\x08"), HasSubstr("byte 0x8B at byte 1"));
  EXPECT_THAT(refusal_of(""), HasSubstr("is empty"));
  for (const char* wrong : {"\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF5", "\x80", "\xE2\x82"})
    EXPECT_THAT(refusal_of(std::string("ok ") + wrong), HasSubstr("at byte 3")) << wrong;
}

TEST(TextStream, ReadsEveryLengthOfCodePointAndDropsAByteOrderMark) {
  const std::string text = "a\u00E9\u20AC\U0001F600\x7F\U0010FFFF";
  EXPECT_EQ(all_of(TextStream::of_memory(text, "")), text);
  EXPECT_EQ(all_of(TextStream::of_memory("\xEF\xBB\xBF" + text, "")), text);
  EXPECT_EQ(count_code_points(text), 6U);
}

// Code points that lie across the end of a part, at each of their bytes.
TEST(TextStream, CutsPartsBetweenCodePoints) {
  for (std::size_t before = 0; before < 4; ++before) {
    std::string text = std::string((1 << 20) - before, 'x') + "\U0001F600 end \U0001F600";
    EXPECT_EQ(all_of(TextStream::of_memory(text, "")), text);
    text[(1 << 20) + 4 - before] = '\xFF';
    EXPECT_THAT(refusal_of(text), HasSubstr(fmt::format("at byte {}", (1 << 20) + 4 - before)));
  }
}

TEST_F(TextFile, WhatIsNoFileIsRefused) {
  EXPECT_THAT(refusal([&] { open_text((directory_.path() / "no.txt").string()); }),
              HasSubstr("cannot read: No such file"));
  EXPECT_THAT(refusal([&] { open_text(directory_.path().string()); }), HasSubstr("is a directory"));
  EXPECT_THAT(refusal([&] { open_text(write("")); }), HasSubstr("is empty"));
  const fs::path pipe = directory_.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(refusal([&] { open_text(pipe.string()); }), HasSubstr("is no regular file"));
  EXPECT_THAT(refusal([&] { open_text("kjv"); }), HasSubstr("the text kjv is not here\n  eureka data get kjv"));
}

std::vector<std::string> pieces_of(PieceKind kind, const std::vector<std::string>& parts) {
  PieceSplitter splitter(kind);
  std::vector<std::string> pieces;
  const auto visit = [&](std::string_view piece) { pieces.emplace_back(piece); };
  for (const std::string& part : parts) splitter.feed(part, visit);
  splitter.finish(visit);
  return pieces;
}

TEST(Pieces, AreWordsWithTheSpaceBeforeThem) {
  EXPECT_THAT(pieces_of(PieceKind::words, {"The c", "at,  sat.\n (7 \u00E9t\u00E9s)"}),
              ElementsAre("The", " cat", ",", " ", " sat", ".", "\n", " ", "(", "7", " \u00E9t\u00E9s", ")"));
  EXPECT_THAT(pieces_of(PieceKind::words, {"a \u2014 b"}), ElementsAre("a", " ", "\u2014", " b"));
  EXPECT_THAT(pieces_of(PieceKind::characters, {"a\u00E9", "\n"}), ElementsAre("a", "\u00E9", "\n"));
  const auto cut = pieces_of(PieceKind::words, {std::string(100, 'x')});
  ASSERT_EQ(cut.size(), 2U);
  EXPECT_EQ(cut[0].size(), PieceSplitter::kMaxWordBytes);
}

TEST(Pieces, RareOnesAreForgottenWhenThereAreTooMany) {
  PieceCounter counter(100);
  for (int round = 0; round < 1000; ++round) {
    counter.add("common");
    counter.add(fmt::format("rare {}", round));
  }
  EXPECT_LE(counter.distinct(), 100U);
  EXPECT_EQ(counter.commonest(1).front(), (std::pair<std::string, std::uint64_t>("common", 1000)));
}

// By hand: ab occurs 5 times, bc 3 times; joined, (ab)c is left twice and bc once, which is not twice.
TEST(BytePairs, JoinTheCommonestPairFirst) {
  const BytePairs pairs = BytePairs::learn({{"ab", 3}, {"abc", 2}, {"bc", 1}}, 100);
  EXPECT_THAT(pairs.pieces(), ElementsAre("", "a", "b", "c", "ab", "abc"));
  std::vector<TokenId> ids;
  pairs.encode("abcbab?", ids);
  EXPECT_THAT(ids, ElementsAre(5, 2, 4, kUnknownToken));
  EXPECT_THAT(BytePairs::learn({{"ab", 3}, {"abc", 2}, {"bc", 1}}, 5).pieces(), ElementsAre("", "a", "b", "c", "ab"));
}

// aa occurs three times in aaaa; from the left it is joined twice, and then the two are neighbors.
TEST(BytePairs, JoinFromTheLeftAndBreakTiesByIds) {
  EXPECT_THAT(BytePairs::learn({{"aaaa", 2}}, 10).pieces(), ElementsAre("", "a", "aa", "aaaa"));
  EXPECT_THAT(BytePairs::learn({{"cd", 2}, {"ab", 2}}, 6).pieces(), ElementsAre("", "a", "b", "c", "d", "ab"));
  EXPECT_THAT(refusal([] {
                BytePairs::learn({{"abc", 1}}, 3);
              }),
              HasSubstr("a vocabulary of 3 is too small: the text has 3 different bytes\n  take 4 or more"));
}

std::string decoded(const TokenSet& tokens, Split split) {
  std::string text;
  for (const TokenId id : tokens.ids(split)) text += tokens.facts().pieces.at(id);
  return text;
}

// Thirty characters: the last three are for validation, whatever they are made into.
TEST_F(TextFile, TheVocabularyIsOfTheTrainingPartAndNothingIsInBoth) {
  const std::string path = write("the cat sat. the cat sat. abZ\n");
  for (const TokenKind kind : {TokenKind::characters, TokenKind::words, TokenKind::byte_pairs}) {
    const auto tokens = open_tokens({.text = path, .kind = kind, .vocabulary = 30});
    EXPECT_EQ(decoded(*tokens, Split::train), "the cat sat. the cat sat. a");
    EXPECT_EQ(tokens->facts().characters, (std::array<std::uint64_t, 2>{27, 3}));
    EXPECT_EQ(tokens->facts().unknown[0], 0U);
    EXPECT_GT(tokens->facts().unknown[1], 0U);
    EXPECT_EQ(tokens->facts().pieces.front(), "");
  }
  // "b", "Z" and the line's end were never seen; "bZ" is one word.
  EXPECT_THAT(open_tokens({.text = path})->ids(Split::test), ElementsAre(0, 0, 0));
  const auto words = open_tokens({.text = path, .kind = TokenKind::words});
  EXPECT_THAT(words->ids(Split::test), ElementsAre(0, 0));
  EXPECT_DOUBLE_EQ(words->facts().tokens_per_character(Split::test), 2.0 / 3);
  EXPECT_THAT(words->facts().pieces, ElementsAre("", " cat", " sat", ".", " a", " the", "the"));
}

TEST_F(TextFile, EveryKindGivesTheSampleBack) {
  const std::string text = all_of(open_text("sample"));
  EXPECT_EQ(count_code_points(text), find_text("sample")->characters);
  for (const TokenKind kind : {TokenKind::characters, TokenKind::byte_pairs}) {
    const auto tokens = open_tokens({.text = "sample", .kind = kind});
    EXPECT_EQ(decoded(*tokens, Split::train) + decoded(*tokens, Split::test), text);
  }
  EXPECT_EQ(open_tokens({.kind = TokenKind::byte_pairs})->facts().pieces.size(), 512U);
  EXPECT_EQ(open_tokens({.kind = TokenKind::words, .vocabulary = 100})->facts().pieces.size(), 100U);
}

TEST_F(TextFile, ALargeTextHasTheSameIdsFromAFileThatIsMadeOnce) {
  const std::string path = write(all_of(open_text("sample")));
  for (const TokenKind kind : {TokenKind::characters, TokenKind::words, TokenKind::byte_pairs}) {
    const TokenRequest request{.text = path, .kind = kind, .memory_bytes = 1000};
    const auto kept = open_tokens(request);
    const auto plain = open_tokens({.text = "sample", .kind = kind});
    for (const Split split : kSplits) EXPECT_TRUE(std::ranges::equal(kept->ids(split), plain->ids(split)));
    EXPECT_EQ(kept->facts().pieces, plain->facts().pieces);
    EXPECT_EQ(kept->facts().unknown, plain->facts().unknown);
    EXPECT_NO_THROW(kept->verify());
    EXPECT_TRUE(fs::exists(token_file_path(request)));
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(data_directory() / "tokens"), fs::directory_iterator()), 3);
}

TEST_F(TextFile, AChangedTextGetsNewIdsAndADamagedFileIsTold) {
  const TokenRequest request{.text = write(std::string(2000, 'a')), .memory_bytes = 1000};
  EXPECT_EQ(open_tokens(request)->facts().pieces.size(), 2U);
  write(std::string(1000, 'a') + std::string(1001, 'b'));
  EXPECT_EQ(open_tokens(request)->facts().pieces.size(), 3U);
  const fs::path file = token_file_path(request);
  std::string bytes = read_file(file);
  bytes[4100] ^= 1;
  atomic_write(file, bytes);
  EXPECT_THAT(refusal([&] { open_token_file(file)->verify(); }), HasSubstr("the ids are damaged"));
  bytes[16] ^= 1;
  atomic_write(file, bytes);
  EXPECT_THAT(refusal([&] { open_tokens(request); }), HasSubstr("the header is damaged (checksum)"));
  atomic_write(file, bytes.substr(0, 50));
  EXPECT_THAT(refusal([&] { open_tokens(request); }), HasSubstr("ends after 50 bytes"));
}

TEST_F(TextFile, NothingIsLeftOfATextThatIsRefused) {
  const TokenRequest request{.text = write(std::string(5000, 'a') + "\xFF"), .memory_bytes = 1000};
  EXPECT_THAT(refusal([&] { open_tokens(request); }), HasSubstr("byte 0xFF at byte 5000 (line 1)"));
  EXPECT_TRUE(fs::is_empty(data_directory() / "tokens"));
}

// Thirty megabytes of words most of which occur once, in a process of its own whose memory is measured.
TEST_F(TextFile, MemoryDoesNotGrowWithTheText) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "a sanitizer keeps what was freed";
#endif
  const fs::path path = directory_.path() / "large.txt";
  {
    std::ofstream file(path, std::ios::binary);
    std::string block;
    for (std::uint64_t i = 0; i < 30; ++i) {
      block.clear();
      for (std::uint64_t word = 0; block.size() < (1 << 20); ++word) block += fmt::format("the w{:x} ", i << 32 | word);
      file << block;
    }
  }
  // In memory the ids of characters alone would take 60,000 kB.
  for (const auto& [kind, most] : {std::pair(TokenKind::characters, 16'000L), {TokenKind::byte_pairs, 64'000L}}) {
    const pid_t child = ::fork();
    if (child == 0) {
      struct rusage before {
      }, after{};
      ::getrusage(RUSAGE_SELF, &before);
      const auto tokens = open_tokens({.text = path.string(), .kind = kind, .vocabulary = 300});
      ::getrusage(RUSAGE_SELF, &after);
      const bool whole = tokens->facts().characters[0] + tokens->facts().characters[1] == fs::file_size(path);
      ::_exit(!whole ? 1 : after.ru_maxrss - before.ru_maxrss > most ? 2 : 0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status << ": 512 means more than " << most << " kB";
  }
}

// A `bible` that prints something else, and an apt-get that fails.
TEST_F(TextFile, TheKingJamesBibleIsTakenOnlyIfItIsTheOneWeKnow) {
  const fs::path programs = directory_.path() / "bin";
  const auto script = [&](const std::string& name, const std::string& lines) {
    fs::create_directories(programs);
    std::ofstream(programs / name) << "#!/bin/sh\n" << lines << "\n";
    fs::permissions(programs / name, fs::perms::owner_all);
  };
  const std::string old_path = ::getenv("PATH");
  ::setenv("PATH", (programs.string() + ":/none").c_str(), 1);
  const auto said = [] {
    try {
      get_text("kjv");
    } catch (const Error& error) {
      return error.message();
    }
    return std::string("fetched");
  };
  EXPECT_THAT(said(), HasSubstr("apt-get, which fetches Debian's package, is not here"));
  script("bible", "echo 'Ge1:1 In the beginning'");
  script("apt-get", "echo 'E: no network' >&2; exit 100");
  EXPECT_THAT(said(), HasSubstr("apt-get failed: E: no network"));
  script("apt-get", "exit 0");
  EXPECT_THAT(said(), HasSubstr("SHA-512 differs"));
  EXPECT_FALSE(fs::exists(data_directory() / "kjv.txt"));
  ::setenv("PATH", old_path.c_str(), 1);
}

}  // namespace
}  // namespace eureka
