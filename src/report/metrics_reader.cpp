#include "report/metrics_reader.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>

namespace eureka {
namespace {

constexpr std::size_t kMostColumns = 20'000;
constexpr std::size_t kPieceBytes = 1 << 20, kMostLineBytes = 8 << 20;

}  // namespace

// Piece by piece: neither a long file nor a long line is ever held whole.
void MetricsReader::read(const fs::path& file) {
  if (!fs::is_regular_file(file)) throw Error(ErrorKind::input, "is no regular file", file.string());
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw Error(ErrorKind::input, "cannot be opened", file.string());
  std::string piece(kPieceBytes, '\0'), line;
  std::size_t number = 1;
  bool is_too_long = false;
  while (stream.read(piece.data(), static_cast<std::streamsize>(piece.size())), stream.gcount() > 0) {
    std::string_view rest(piece.data(), static_cast<std::size_t>(stream.gcount()));
    for (std::size_t end; (end = rest.find('\n')) != std::string_view::npos; ++number) {
      line += rest.substr(0, end);
      if (is_too_long)
        count_unreadable(number, "the line is too long for a row of metrics");
      else
        take(line, number);
      line.clear();
      is_too_long = false;
      rest.remove_prefix(end + 1);
    }
    if (line.size() + rest.size() > kMostLineBytes)
      is_too_long = true, line.clear();
    else
      line += rest;
  }
  is_torn_ = !line.empty() || is_too_long;
}

void MetricsReader::take(std::string_view line, std::size_t number) {
  try {
    row_.parse(line);
    if (!goes_on(row_.step())) return;
    for (const auto& [name, value] : row_.numbers()) add(name, row_.step(), value);
  } catch (const Error& error) {
    count_unreadable(number, error.what());
  }
}

void MetricsReader::count_unreadable(std::size_t number, const std::string& reason) {
  if (unreadable_++ == 0) first_unreadable_ = number, first_reason_ = reason;
}

bool MetricsReader::goes_on(double step) {
  if (step <= last_step_) {
    ++backwards_;
    return false;
  }
  last_step_ = step;
  ++rows_;
  next_column_ = 0;
  return true;
}

void MetricsReader::add(std::string_view name, double step, double value) {
  if (judges_rather(name, metric_)) {
    metric_ = name;
    if (only_metric_) columns_.clear();
  }
  if (only_metric_ && name != metric_) return;
  std::size_t at = next_column_;
  if (at >= columns_.size() || columns_[at].name != name)
    for (at = 0; at < columns_.size() && columns_[at].name != name;) ++at;
  if (at == columns_.size()) {
    if (columns_.size() == kMostColumns) return;
    columns_.push_back({std::string(name), figure::ThinnedCurve(most_points_, exact_)});
  }
  next_column_ = at + 1;
  if (!std::isfinite(value)) ++columns_[at].not_finite;
  columns_[at].curve.add(step, value);
}

std::vector<RunCurve> MetricsReader::take_curves() {
  std::vector<RunCurve> curves;
  for (const Column& column : columns_) curves.push_back({column.name, column.curve.points()});
  return curves;
}

std::vector<std::string> MetricsReader::problems() const {
  std::vector<std::string> found;
  if (is_torn_) found.emplace_back("the last line of metrics.jsonl is torn, and left out");
  if (rows_ == 0) found.emplace_back("metrics.jsonl has no rows yet: there are no curves");
  if (unreadable_ > 0)
    found.push_back(fmt::format("{} line{} of metrics.jsonl cannot be read and {} left out; the first is line {}: {}",
                                unreadable_, unreadable_ == 1 ? "" : "s", unreadable_ == 1 ? "is" : "are",
                                first_unreadable_, first_reason_));
  if (backwards_ > 0)
    found.push_back(fmt::format("{} row{} of metrics.jsonl went back to a step that was there already, and {} left out",
                                backwards_, backwards_ == 1 ? "" : "s", backwards_ == 1 ? "is" : "are"));
  std::string names;
  std::size_t bad = 0;
  for (const Column& column : columns_)
    if (column.not_finite > 0 && ++bad <= 3)
      names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", column.name, column.not_finite);
  if (bad > 0)
    found.push_back(fmt::format("values that are no numbers, shown as gaps: {}{}", names,
                                bad > 3 ? fmt::format(" and {} more columns", bad - 3) : ""));
  return found;
}

}  // namespace eureka
