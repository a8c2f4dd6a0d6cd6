// `eureka detect` over several logs, and over one that grows.
#pragma once

#include <string>
#include <vector>

#include "cli/detected_log.h"

namespace eureka::cli {

// The logs that are meant: a directory that is no run itself stands for the runs below it, in order of their names.
std::vector<std::string> logs_in(const std::vector<std::string>& places);

// A line for each log and curve: the column asked for, or every accuracy and loss. A log that cannot be read is told
// and passed over. Exit code.
int detect_in_many(const std::vector<std::string>& logs, const CurveQuestion& question, bool json);

// Looks again whenever the file has changed, until it is stopped; says each moment once, when its new level has held.
int watch_log(const std::string& log, const CurveQuestion& question);

}  // namespace eureka::cli
