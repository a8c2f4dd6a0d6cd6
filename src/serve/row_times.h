// When the rows of a run were written. metrics.jsonl does not say, so that it can be repeated to the byte; the event
// files for TensorBoard do.
#pragma once

#include <optional>
#include <vector>

#include "serve/served_tree.h"

namespace eureka::serve {

// Seconds after the first row, for each of these steps, which ascend; pauses count. Nothing when the run has no event
// files, or very long ones. A step that none of them has takes the time of the one before.
std::optional<std::vector<double>> row_times(const OpenDirectory& run, const std::vector<double>& steps);

}  // namespace eureka::serve
