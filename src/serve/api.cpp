#include "serve/api.h"

#include <fmt/format.h>

#include <algorithm>

#include "figure/svg_painter.h"
#include "report/report_source.h"
#include "serve/index_json.h"
#include "serve/plain_page.h"
#include "serve/ways_out.h"

namespace eureka::serve {
namespace {

constexpr std::size_t kCacheBytes = 32 << 20, kLongFiles = 4, kKeptSections = 6;
// Worked out at the same time.
constexpr std::size_t kQuickAtATime = 4, kSlowAtATime = 2;

// The query in a form in which equal questions are equal.
std::string key_of(const RequestTarget& target) {
  std::string key = target.path;
  for (const auto& [name, value] : target.parameters)
    key += fmt::format("&{}={}", percent_encoded(name), percent_encoded(value));
  return key;
}

// A file by itself, or for the page: without the title, in the colors of the page.
Answer svg_answer(const ReportFigure& figure, bool for_page) {
  Answer answer = text_answer(kSvg, for_page ? svg_element(figure.draw(figure::Titled::no), figure.name + "/title")
                                             : svg_file(figure.draw(figure::Titled::yes)));
  answer.policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; sandbox";
  return answer;
}

// What the script of a page draws anew; data: null where it cannot.
Answer script_answer(const ReportFigure& figure) {
  return text_answer(kJson, fmt::format("{{\"name\":{},\"title\":{},\"caption\":{},\"data\":{}}}",
                                        json_text(figure.name), json_text(figure.title), json_text(figure.caption),
                                        figure.draw.data ? figure.draw.data() : "null"));
}

}  // namespace

Api::Api(const ServedTree& tree, RunIndex& index, const Catalog& catalog)
    : tree_(tree),
      index_(index),
      catalog_(catalog),
      quick_(kCacheBytes, kQuickAtATime),
      slow_(kCacheBytes, kSlowAtATime) {}

Answer Api::answer(const RequestTarget& target) {
  if (target.path == "/api/index") return index_answer(target);
  if (target.path == "/plain") {
    const Snapshot now = index_.snapshot();
    return quick_.get("/plain", now->stamp, [&] { return plain_page(*now, tree_.name()); });
  }
  const auto cached = [&](bool is_slow, auto work_out) {
    const Asked one = asked(target);
    const bool is_long = one.entry->run && one.entry->run->metrics.offset > kReadDirectly;
    AnswerCache& cache = is_slow || is_long ? slow_ : quick_;
    return cache.get(key_of(target), one.version, [&] { return work_out(one); });
  };
  if (target.path == "/api/run") return cached(false, [&](const Asked& one) { return run_answer(one); });
  if (target.path == "/api/series") return cached(false, [&](const Asked& one) { return series_answer(one, target); });
  if (target.path == "/api/group") return cached(true, [&](const Asked& one) { return group_answer(one, target); });
  if (target.path == "/api/study") return cached(true, [&](const Asked& one) { return study_answer(one); });
  if (target.path == "/api/figure") return cached(true, [&](const Asked& one) { return figure_answer(one, target); });
  if (target.path == "/report") return cached(true, [&](const Asked& one) { return report_answer(one); });
  throw Refusal(404, "there is no such page", "begin at /");
}

Api::Asked Api::asked(const RequestTarget& target) {
  const auto id = target.find("id");
  if (!id) throw Refusal(400, "no id is given", "ids are those of /api/index: ?id=...");
  if (!is_entry_id(*id)) throw Refusal(400, "this is no id", "ids are those of /api/index, percent-encoded");
  Asked asked{index_.snapshot_with(*id), nullptr, 0};
  asked.entry = asked.index->find(*id);
  if (asked.entry == nullptr) throw Refusal(404, "there is no such run or study", "/api/index lists those that are");
  asked.version = version_of(*asked.index, *asked.entry);
  return asked;
}

// Versions only grow, so a sum of the newest one and the number of runs tells every change.
std::uint64_t Api::version_of(const IndexSnapshot& index, const IndexEntry& entry) const {
  if (entry.run) return entry.run->version;
  std::uint64_t newest = entry.of_study->version, runs = 0;
  for (const IndexEntry& one : index.entries)
    if (one.run && one.study == entry.id) ++runs, newest = std::max(newest, one.run->version);
  return newest << 20 | runs;
}

Answer Api::index_answer(const RequestTarget& target) {
  const Snapshot now = index_.snapshot();
  const std::string stamp = std::to_string(now->stamp);
  if (target.find("since") == stamp) return json_answer({{"unchanged", true}, {"stamp", stamp}});
  return quick_.get("/api/index", now->stamp, [&] { return json_answer(index_json(*now, tree_)); });
}

std::shared_ptr<Api::LongFile> Api::long_file(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto known =
      std::find_if(long_files_.begin(), long_files_.end(), [&](const auto& one) { return one.first == id; });
  if (known != long_files_.end())
    long_files_.splice(long_files_.begin(), long_files_, known);
  else
    long_files_.emplace_front(id, std::make_shared<LongFile>());
  if (long_files_.size() > kLongFiles) long_files_.pop_back();
  return long_files_.front().second;
}

Series Api::series_of(const IndexEntry& run, SeriesQuery query) {
  const auto directory = tree_.open(run.id);
  const auto file = directory ? directory->open("metrics.jsonl") : std::nullopt;
  if (!file) return {{}, std::vector<std::vector<double>>(query.columns.size()), 0};
  if (run.run->rise_from && run.run->rise_to) {
    const double room = std::max(*run.run->rise_to - *run.run->rise_from, 1.0) * 2;
    query.exact.push_back({*run.run->rise_from - room, *run.run->rise_to + room});
  }
  if (file->stamp().bytes <= kReadDirectly) return read_series(*file, query);
  const std::shared_ptr<LongFile> known = long_file(run.id);
  const std::lock_guard lock(known->mutex);
  known->metrics.read_on(*file);
  return known->metrics.answer(*file, query);
}

std::vector<std::string> Api::columns_of(const IndexEntry& run) {
  const auto directory = tree_.open(run.id);
  const auto file = directory ? directory->open("metrics.jsonl") : std::nullopt;
  if (!file) return {};
  if (file->stamp().bytes <= kReadDirectly) {
    LongMetrics metrics;
    metrics.read_on(*file);
    return metrics.columns();
  }
  const std::shared_ptr<LongFile> known = long_file(run.id);
  const std::lock_guard lock(known->mutex);
  known->metrics.read_on(*file);
  return known->metrics.columns();
}

fs::path Api::readable_path(const Asked& asked) const {
  refuse_ways_out(tree_, *asked.entry);
  return tree_.path(asked.entry->id);
}

std::shared_ptr<const std::vector<PageSection>> Api::sections_of(const Asked& asked) {
  {
    const std::lock_guard lock(mutex_);
    const auto known = std::find_if(sections_.begin(), sections_.end(), [&](const KeptSections& one) {
      return one.id == asked.entry->id && one.version == asked.version;
    });
    if (known != sections_.end()) return known->sections;
  }
  auto sections = std::make_shared<const std::vector<PageSection>>(read_sections({readable_path(asked)}, catalog_));
  const std::lock_guard lock(mutex_);
  sections_.push_front({asked.entry->id, asked.version, sections});
  if (sections_.size() > kKeptSections) sections_.pop_back();
  return sections;
}

Answer Api::figure_answer(const Asked& asked, const RequestTarget& target) {
  const auto sections = sections_of(asked);
  const std::string name = target.find("name").value_or("list");
  Json list = Json::array();
  for (const PageSection& section : *sections)
    for (const PageBlock& block : section.blocks) {
      if (!block.figure) continue;
      if (block.figure->name == name)
        return target.find("for") == "script" ? script_answer(*block.figure)
                                              : svg_answer(*block.figure, target.find("for") == "page");
      list.push_back(
          {{"name", block.figure->name}, {"title", block.figure->title}, {"caption", block.figure->caption}});
    }
  if (name == "list") return json_answer({{"id", asked.entry->id}, {"figures", list}});
  throw Refusal(404, "there is no such figure", "name=list tells those that are");
}

Answer Api::report_answer(const Asked& asked) {
  Answer page = text_answer(kHtml, page_html(*sections_of(asked)));
  // The page says itself what it may load: nothing from anywhere.
  page.policy = "base-uri 'none'; connect-src 'none'; form-action 'none'; frame-ancestors 'none'";
  return page;
}

}  // namespace eureka::serve
