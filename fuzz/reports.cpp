// Readers of what is to be shown: it may have holes, be torn or come from somebody else, and a page is made of it all
// the same.
#include <cmath>

#include "base/embedded.h"
#include "fuzz/fuzzed_directory.h"
#include "fuzz/memory_file.h"
#include "fuzz/targets.h"
#include "lab/study_record.h"
#include "report/condition_section.h"
#include "report/metrics_reader.h"
#include "report/report_source.h"

namespace eureka::fuzz {
namespace {

const Catalog& catalog() {
  static const Catalog instance(declarations::files()[0].text);
  return instance;
}

void study_record(std::string_view bytes) {
  allow_errors([&] {
    const StudyRecord record = parse_study_record(bytes, "fuzz");
    EUREKA_CHECK(!record.points.empty() && !record.arms.empty(), "a study has points and arms");
    for (const RecordedArm& arm : record.arms) {
      EUREKA_CHECK(arm.point < record.points.size() && record.find(arm.name, arm.point) != nullptr, "arms are found");
      arm.number("speedup");
      arm.interval("speedup");
    }
    for (const RecordedTrial& trial : record.trials) {
      EUREKA_CHECK(trial.point < record.points.size(), "a trial belongs to a point");
      EUREKA_CHECK(!(fs::path("/study") / trial.directory).lexically_relative("/study").string().starts_with(".."),
                   "a trial lies in its study");
      record.event_of(trial);
    }
  });
}

// After a byte of options.
void metrics_reader(std::string_view bytes) {
  if (bytes.empty()) return;
  const auto first = static_cast<unsigned char>(bytes[0]);
  bytes.remove_prefix(1);
  constexpr std::size_t kMostPoints = 40;
  MetricsReader reader(kMostPoints,
                       (first & 1) != 0 ? std::vector<figure::Stretch>{{10, 20}} : std::vector<figure::Stretch>{},
                       (first & 2) != 0);
  const MemoryFile file(bytes);
  reader.read(file.path());
  reader.problems();
  for (const RunCurve& curve : reader.take_curves()) {
    EUREKA_CHECK(reader.rows() > 0 && !curve.points.empty(), "curves come from rows");
    for (std::size_t i = 1; i < curve.points.size(); ++i)
      EUREKA_CHECK(curve.points[i - 1].x <= curve.points[i].x, "a curve goes on");
  }
}

// What `eureka condition --json` printed.
void condition(std::string_view bytes) {
  allow_errors([&] {
    const MemoryFile file(bytes);
    page_html({condition_section(file.path())});
  });
}

// The page of a run, of a study or of looks.
void report(std::string_view bytes) {
  const FuzzedDirectory directory(bytes);
  allow_errors([&] { page_html(read_sections({directory.path()}, catalog())); });
}

}  // namespace

std::vector<FuzzTarget> report_targets() {
  return {
      {"study_record", study_record}, {"metrics_reader", metrics_reader}, {"condition", condition}, {"report", report}};
}

}  // namespace eureka::fuzz
