#include "data/token_set.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <mutex>

#include "base/error.h"
#include "data/data_sets.h"
#include "data/mapped_file.h"
#include "data/texts.h"
#include "data/tokenizer.h"
#include "io/crc32c.h"
#include "io/sha512.h"

namespace eureka {
namespace {

static_assert(std::endian::native == std::endian::little, "headers and ids are copied as they are");

constexpr std::string_view kMagic = "EUREKATX";
constexpr std::uint32_t kVersion = 1;
constexpr std::uint64_t kHeaderBytes = 4096;

// What tells whether a file still has the text it had: reading 5 GB at every start would be too slow.
struct Stamp {
  std::uint64_t bytes = 0;
  std::int64_t seconds = 0;
  std::int64_t nanoseconds = 0;
  bool operator==(const Stamp&) const = default;
};

// The header as it lies in the file; zeros fill the page. Then the ids, training part first, then the pieces, each with
// its length in two bytes.
struct Header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t vocabulary;
  std::uint64_t tokens[2];
  std::uint64_t characters[2];
  std::uint64_t unknown[2];
  std::uint64_t pieces_bytes;
  Stamp stamp;
  std::uint32_t ids_crc;
  std::uint32_t header_crc;  // of all bytes before it
};
static_assert(sizeof(Header) <= kHeaderBytes && offsetof(Header, header_crc) == 100);

std::uint32_t checksum_of(const Header& header) {
  return crc32c({reinterpret_cast<const char*>(&header), offsetof(Header, header_crc)});
}

std::string_view bytes_of(std::span<const TokenId> ids) {
  return {reinterpret_cast<const char*>(ids.data()), ids.size_bytes()};
}

[[noreturn]] void refuse(const std::string& what, const fs::path& path) {
  throw Error(ErrorKind::input, what, path.string(), "remove the file: it is made again from the text");
}

// A text that is read whole more than once, in the parts that training and validation see.
class SplitText {
 public:
  explicit SplitText(const std::string& text) : text_(text) {
    TextStream stream = open_text(text);
    for (std::string_view part = stream.next(); !part.empty(); part = stream.next()) total_ += count_code_points(part);
    border_ = total_ - total_ / 10;
  }

  std::uint64_t characters(Split split) const { return split == Split::train ? border_ : total_ - border_; }

  // Calls visit(part) for the parts of one split, in order.
  template <class Visit>
  void read(Split split, Visit&& visit) const {
    TextStream stream = open_text(text_);
    std::uint64_t at = 0;
    for (std::string_view part = stream.next(); !part.empty(); part = stream.next()) {
      const std::uint64_t count = count_code_points(part);
      const std::size_t cut = bytes_of_first(part, at >= border_ ? 0 : border_ - at);
      const std::string_view piece = split == Split::train ? part.substr(0, cut) : part.substr(cut);
      if (!piece.empty()) visit(piece);
      at += count;
      if (split == Split::train && at >= border_) return;
    }
  }

 private:
  static std::size_t bytes_of_first(std::string_view part, std::uint64_t count) {
    std::size_t at = 0;
    for (; at < part.size() && count > 0; --count) at += code_point_bytes(static_cast<unsigned char>(part[at]));
    return std::min(at, part.size());
  }

  std::string text_;
  std::uint64_t total_ = 0;
  std::uint64_t border_ = 0;
};

// Hands the ids of a text to `take`, some at a time, training part first.
template <class Take>
TokenFacts tokenize(const TokenRequest& request, Take&& take) {
  const SplitText text(request.text);
  Tokenizer tokenizer(request.kind, request.vocabulary);
  text.read(Split::train, [&](std::string_view part) { tokenizer.learn(part); });
  tokenizer.end_learning();
  TokenFacts facts{.pieces = tokenizer.pieces()};
  std::vector<TokenId> ids;
  for (const Split split : kSplits) {
    const auto s = static_cast<std::size_t>(split);
    const auto hand_over = [&] {
      facts.tokens[s] += ids.size();
      facts.unknown[s] += static_cast<std::uint64_t>(std::count(ids.begin(), ids.end(), kUnknownToken));
      take(ids);
      ids.clear();
    };
    facts.characters[s] = text.characters(split);
    text.read(split, [&](std::string_view part) {
      tokenizer.encode(part, ids);
      hand_over();
    });
    tokenizer.end_part(ids);
    hand_over();
  }
  return facts;
}

class OwnedTokenSet final : public TokenSet {
 public:
  OwnedTokenSet(TokenFacts facts, std::vector<TokenId> ids) : TokenSet(std::move(facts)), ids_(std::move(ids)) {
    set_ids(ids_);
  }

 private:
  std::vector<TokenId> ids_;
};

const Header& header_of(const MappedFile& file, const fs::path& path) {
  if (file.bytes().size() < kHeaderBytes)
    refuse(fmt::format("ends after {} bytes, inside its header", file.bytes().size()), path);
  return *reinterpret_cast<const Header*>(file.bytes().data());
}

// Every check but that of the ids themselves.
TokenFacts checked_facts(const MappedFile& file, const fs::path& path) {
  const Header& header = header_of(file, path);
  if (std::string_view(header.magic, kMagic.size()) != kMagic) refuse("holds no tokens of Eureka", path);
  if (header.version != kVersion)
    refuse(fmt::format("is of format {}, this program reads format {}", header.version, kVersion), path);
  if (header.header_crc != checksum_of(header)) refuse("the header is damaged (checksum)", path);
  const std::uint64_t body = file.bytes().size() - kHeaderBytes;
  const std::uint64_t most = body / sizeof(TokenId);
  if (header.tokens[0] > most || header.tokens[1] > most || header.pieces_bytes > body ||
      (header.tokens[0] + header.tokens[1]) * sizeof(TokenId) + header.pieces_bytes != body ||
      header.vocabulary > kMaxVocabulary)
    refuse("its length is not what its header promises", path);
  TokenFacts facts;
  for (std::size_t s = 0; s < 2; ++s) {
    facts.tokens[s] = header.tokens[s];
    facts.characters[s] = header.characters[s];
    facts.unknown[s] = header.unknown[s];
  }
  std::string_view pieces = file.bytes().substr(file.bytes().size() - header.pieces_bytes);
  while (pieces.size() >= 2) {
    std::uint16_t length = 0;
    std::memcpy(&length, pieces.data(), 2);
    if (pieces.size() - 2 < length) refuse("its vocabulary is damaged", path);
    facts.pieces.emplace_back(pieces.substr(2, length));
    pieces.remove_prefix(std::size_t{2} + length);
  }
  if (!pieces.empty() || facts.pieces.size() != header.vocabulary) refuse("its vocabulary is damaged", path);
  return facts;
}

class MappedTokenSet final : public TokenSet {
 public:
  MappedTokenSet(std::unique_ptr<MappedFile> file, const fs::path& path)
      : TokenSet(checked_facts(*file, path)), file_(std::move(file)), path_(path) {
    set_ids(all_ids());
  }

  void verify() const override {
    if (crc32c(bytes_of(all_ids())) != header().ids_crc) refuse("the ids are damaged (checksum)", path_);
  }
  const Header& header() const { return header_of(*file_, path_); }

 private:
  std::span<const TokenId> all_ids() const {
    const auto* first = reinterpret_cast<const TokenId*>(file_->bytes().data() + kHeaderBytes);
    return {first, static_cast<std::size_t>(header().tokens[0] + header().tokens[1])};
  }

  std::unique_ptr<MappedFile> file_;
  fs::path path_;
};

std::optional<Stamp> stamp_of(const std::string& text) {
  const auto path = text_path(text);
  struct stat info {};
  if (!path || ::stat(path->c_str(), &info) != 0) return {};
  return Stamp{static_cast<std::uint64_t>(info.st_size), info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
}

void write_token_file(const TokenRequest& request, const Stamp& stamp, const fs::path& path) {
  make_directories(path.parent_path());
  AtomicFile file(path);
  file.append(std::string(kHeaderBytes, '\0'));
  std::uint32_t crc = 0;
  const TokenFacts facts = tokenize(request, [&](std::span<const TokenId> ids) {
    file.append(bytes_of(ids));
    crc = crc32c(bytes_of(ids), crc);
  });
  if (stamp_of(request.text) != stamp)
    throw Error(ErrorKind::input, "has changed while it was read", request.text, "wait until it is whole");
  std::string pieces;
  for (const std::string& piece : facts.pieces) {
    const auto length = static_cast<std::uint16_t>(piece.size());
    pieces.append(reinterpret_cast<const char*>(&length), 2).append(piece);
  }
  file.append(pieces);
  Header header{};
  std::memcpy(header.magic, kMagic.data(), kMagic.size());
  header.version = kVersion;
  header.vocabulary = static_cast<std::uint32_t>(facts.pieces.size());
  for (std::size_t s = 0; s < 2; ++s) {
    header.tokens[s] = facts.tokens[s];
    header.characters[s] = facts.characters[s];
    header.unknown[s] = facts.unknown[s];
  }
  header.pieces_bytes = pieces.size();
  header.stamp = stamp;
  header.ids_crc = crc;
  header.header_crc = checksum_of(header);
  file.write_at(0, {reinterpret_cast<const char*>(&header), sizeof header});
  file.commit();
}

std::shared_ptr<const TokenSet> open_large(const TokenRequest& request, const Stamp& stamp) {
  const fs::path path = token_file_path(request);
  if (fs::exists(path)) {
    auto kept = std::make_shared<MappedTokenSet>(std::make_unique<MappedFile>(path), path);
    if (kept->header().stamp == stamp) return kept;
  }
  write_token_file(request, stamp, path);
  return open_token_file(path);
}

std::shared_ptr<const TokenSet> make_tokens(const TokenRequest& request) {
  const std::optional<Stamp> stamp = stamp_of(request.text);
  if (stamp && stamp->bytes > request.memory_bytes) return open_large(request, *stamp);
  std::vector<TokenId> all;
  TokenFacts facts =
      tokenize(request, [&](std::span<const TokenId> ids) { all.insert(all.end(), ids.begin(), ids.end()); });
  return std::make_shared<OwnedTokenSet>(std::move(facts), std::move(all));
}

}  // namespace

void TokenSet::set_ids(std::span<const TokenId> all) {
  const auto train = static_cast<std::size_t>(facts_.tokens[0]);
  ids_ = {all.first(train), all.subspan(train)};
}

fs::path token_file_path(const TokenRequest& request) {
  const fs::path path = fs::weakly_canonical(text_path(request.text).value_or(request.text));
  const std::string key =
      fmt::format("{}\n{}\n{}", path.string(), enum_names(request.kind)[static_cast<std::size_t>(request.kind)],
                  request.vocabulary);
  return data_directory() / "tokens" / (sha512_hex(key).substr(0, 32) + ".tokens");
}

std::shared_ptr<const TokenSet> open_token_file(const fs::path& path) {
  return std::make_shared<MappedTokenSet>(std::make_unique<MappedFile>(path), path);
}

std::shared_ptr<const TokenSet> open_tokens(const TokenRequest& request) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<const TokenSet>> opened;
  const Stamp stamp = stamp_of(request.text).value_or(Stamp{});
  const std::string key = fmt::format("{} {} {} {} {} {}", static_cast<int>(request.kind), request.vocabulary,
                                      stamp.bytes, stamp.seconds, stamp.nanoseconds, request.text);
  const std::scoped_lock lock(mutex);
  std::weak_ptr<const TokenSet>& kept = opened[key];
  auto tokens = kept.lock();
  if (!tokens) kept = tokens = make_tokens(request);
  return tokens;
}

}  // namespace eureka
