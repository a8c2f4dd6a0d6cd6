// One curve of somebody's log, and what the detector finds in it: what `eureka detect` prints.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/curve_file.h"
#include "io/json.h"
#include "stats/detector.h"

namespace eureka::cli {

// How a curve is to be read; what is left out is guessed.
struct CurveQuestion {
  std::optional<std::string> column, step_column;
  std::optional<std::string> training_column;  // "none" looks at the one curve only
  std::optional<Direction> direction;
  std::optional<double> plateau_level, best_level;
};

// Where logs come from: a path, or "-" for standard input, which is read once.
class LogSource {
 public:
  explicit LogSource(std::string file);

  LoadedCurve curve(const std::optional<std::string>& column, const std::optional<std::string>& step_column) const;
  const std::string& name() const { return file_; }

 private:
  std::string file_;
  std::optional<std::string> text_;  // of standard input
};

struct DetectedLog {
  std::string file;
  LoadedCurve curve;
  std::vector<CurvePoint> points, training;
  std::optional<std::string> training_column;
  DetectorOptions options;
  Findings findings;
};

// Reads and looks. Throws Error(input).
DetectedLog detect_in(const LogSource& source, const CurveQuestion& question);

Json to_json(const DetectedLog& log);
// Picture, plateaus, moments.
void print_log(const DetectedLog& log);
// On standard error: how a console log was read, and what was left out of any log.
void tell_how_it_was_read(const DetectedLog& log);
std::string moment_line(const Moment& moment);

}  // namespace eureka::cli
