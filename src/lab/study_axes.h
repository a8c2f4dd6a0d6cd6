// The points of a study's axes: every combination of their values.
#pragma once

#include <vector>

#include "lab/study.h"

namespace eureka {

// [axes] and [[axes.list]] of a document, multiplied out; the axis named first in the alphabet changes slowest. One
// point without a name when there are no axes. Throws Error(config) at the value that is wrong.
std::vector<StudyPoint> read_points(const ConfigDocument& document, const std::string& file_name);

}  // namespace eureka
