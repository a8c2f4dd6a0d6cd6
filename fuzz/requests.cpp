// What `eureka serve` reads from whoever asks it, and the rows it streams.
#include <fmt/format.h>

#include "base/error.h"
#include "fuzz/targets.h"
#include "serve/guard.h"
#include "serve/request_target.h"
#include "serve/series.h"

namespace eureka::fuzz {
namespace {

using namespace serve;

// The first line of a request; its bytes are also tried as each header that is looked at.
void request(std::string_view bytes) {
  const std::string_view host = without_port(bytes);
  EUREKA_CHECK(host.size() <= bytes.size(), "a name is a part of the header");
  is_local_host(bytes);
  cookie_value(bytes, "eureka_8384");
  if (is_entry_id(bytes) && bytes != ".")
    EUREKA_CHECK(bytes.front() != '/' && bytes.front() != '.' && bytes.find("/.") == std::string_view::npos &&
                     bytes.find("//") == std::string_view::npos && bytes.back() != '/',
                 "an id leads downwards only");
  const std::optional<RequestTarget> target = parse_request_target(bytes);
  if (!target) return;
  EUREKA_CHECK(target->path.front() == '/' && target->path.find("..") == std::string::npos, "a path is plain");
  std::string again = target->path;
  for (const auto& [name, value] : target->parameters)
    again += fmt::format("{}{}={}", again == target->path ? '?' : '&', percent_encoded(name), percent_encoded(value));
  const std::optional<RequestTarget> read = parse_request_target(again);
  // Encoded it may be too long, and a parameter without name and value is none.
  EUREKA_CHECK(!read || read->parameters.size() <= target->parameters.size(), "what was read can be read again");
  for (const auto& [name, value] : target->parameters)
    if (read && !(name.empty() && value.empty())) EUREKA_CHECK(read->find(name) == target->find(name), "to the same");
}

// Whatever pieces a growing file is read in, its rows are the same.
void metrics_rows(std::string_view bytes) {
  const SeriesQuery query{.columns = {"a", "val_accuracy"}, .points = 8, .exact = {{3, 5}}};
  SeriesRows whole(query), pieces(query);
  const std::size_t end = whole.take_lines(bytes);
  const std::size_t first = pieces.take_lines(bytes.substr(0, bytes.size() / 3));
  EUREKA_CHECK(first + pieces.take_lines(bytes.substr(first)) == end, "all whole lines are read");
  const Series a = whole.thinned(), b = pieces.thinned();
  EUREKA_CHECK(a.steps == b.steps && a.columns.size() == 2 && a.columns[0].size() == a.steps.size(),
               "and are the same");
}

}  // namespace

std::vector<FuzzTarget> request_targets() { return {{"request", request}, {"metrics_rows", metrics_rows}}; }

}  // namespace eureka::fuzz
