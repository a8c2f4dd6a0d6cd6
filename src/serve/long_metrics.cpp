#include "serve/long_metrics.h"

#include <algorithm>

#include "base/error.h"

namespace eureka::serve {
namespace {

constexpr std::size_t kRowsPerBlock = 64, kOverviewPoints = 2000, kMostColumns = 1000;
constexpr std::size_t kPieceBytes = 4 << 20;

}  // namespace

void LongMetrics::read_on(const OpenFile& file) {
  const FileStamp stamp = file.stamp();
  if (stamp.inode != inode_ || stamp.bytes < offset_) *this = {}, inode_ = stamp.inode;
  while (offset_ < stamp.bytes) {
    const std::string piece = file.read(offset_, kPieceBytes);
    std::size_t taken = 0;
    for (std::size_t end; (end = piece.find('\n', taken)) != std::string::npos; taken = end + 1) {
      if (!std::exchange(skips_line_, false)) take(std::string_view(piece).substr(taken, end - taken), offset_ + taken);
    }
    // No row is as long as a piece: what is goes by unread.
    if (taken == 0 && piece.size() == kPieceBytes) skips_line_ = true, taken = piece.size();
    offset_ += taken;
    if (piece.size() < kPieceBytes) return;
  }
}

void LongMetrics::take(std::string_view line, std::uint64_t offset) {
  try {
    row_.parse(line);
  } catch (const Error&) {
    return;
  }
  if (row_.step() <= last_step_) return;
  last_step_ = row_.step();
  if (rows_++ % kRowsPerBlock == 0) blocks_.push_back({row_.step(), offset});
  next_column_ = 0;
  for (const auto& [name, value] : row_.numbers())
    if (Column* known = column(name)) known->curve.add(row_.step(), value);
}

// Rows repeat their order, so the next one is mostly the next.
LongMetrics::Column* LongMetrics::column(std::string_view name) {
  std::size_t at = next_column_;
  if (at >= columns_.size() || columns_[at].name != name)
    for (at = 0; at < columns_.size() && columns_[at].name != name;) ++at;
  if (at == columns_.size()) {
    if (columns_.size() == kMostColumns) return nullptr;
    columns_.push_back({std::string(name), figure::ThinnedCurve(kOverviewPoints)});
  }
  next_column_ = at + 1;
  return &columns_[at];
}

std::vector<std::string> LongMetrics::columns() const {
  std::vector<std::string> names;
  for (const Column& column : columns_) names.push_back(column.name);
  return names;
}

std::pair<std::size_t, std::size_t> LongMetrics::blocks_of(double from, double to) const {
  const auto begins_later = [](double step, const Block& block) { return step < block.first_step; };
  const auto first = std::upper_bound(blocks_.begin(), blocks_.end(), from, begins_later);
  const auto last = std::upper_bound(blocks_.begin(), blocks_.end(), to, begins_later);
  const auto number = [&](auto place) { return static_cast<std::size_t>(place - blocks_.begin()); };
  return {first == blocks_.begin() ? 0 : number(first) - 1, number(last)};
}

std::uint64_t LongMetrics::end_of(std::size_t block) const {
  return block + 1 < blocks_.size() ? blocks_[block + 1].offset : offset_;
}

std::vector<double> LongMetrics::steps_to_show(const SeriesQuery& query) const {
  std::vector<double> steps;
  for (const std::string& name : query.columns) {
    const auto known = std::find_if(columns_.begin(), columns_.end(), [&](const Column& c) { return c.name == name; });
    if (known == columns_.end()) continue;
    std::vector<figure::Point> points = known->curve.points();
    std::erase_if(points, [&](const figure::Point& p) { return p.x < query.from || p.x > query.to; });
    for (const figure::Point& point : figure::thinned(points, query.points)) steps.push_back(point.x);
  }
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

Series LongMetrics::answer(const OpenFile& file, const SeriesQuery& query) const {
  const auto [first, last] = blocks_of(query.from, query.to);
  SeriesRows rows(query);
  const auto take_blocks = [&](std::size_t from, std::size_t to) {
    const std::uint64_t begin = blocks_[from].offset, end = end_of(to - 1);
    rows.take_lines(file.read(begin, static_cast<std::size_t>(end - begin)));
  };
  Series series;
  if (first < last && end_of(last - 1) - blocks_[first].offset <= kReadDirectly) {
    take_blocks(first, last);
    series = rows.thinned();
  } else if (first < last) {
    std::vector<double> steps = steps_to_show(query);
    std::vector<std::size_t> wanted;
    for (const double step : steps) wanted.push_back(blocks_of(step, step).first);
    for (const figure::Stretch& stretch : query.exact) {
      const auto [begin, end] = blocks_of(std::max(stretch.from, query.from), std::min(stretch.to, query.to));
      if (end - begin > query.points / kRowsPerBlock + 2) continue;
      for (std::size_t block = begin; block < end; ++block) wanted.push_back(block);
    }
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    for (const std::size_t block : wanted) take_blocks(block, block + 1);
    series = rows.only(steps);
  }
  series.offset = offset_;
  return series;
}

}  // namespace eureka::serve
