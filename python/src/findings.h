// What the detector found, as Python knows it.
#pragma once

#include <nanobind/nanobind.h>

#include "stats/detector.h"

namespace eureka::python {

nanobind::dict dict_of(const Findings& findings);

}  // namespace eureka::python
