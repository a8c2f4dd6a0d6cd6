// The parts of eureka._core, one file each.
#pragma once

#include <nanobind/nanobind.h>

namespace eureka::python {

void bind_detect(nanobind::module_& module);
void bind_compare(nanobind::module_& module);
void bind_look(nanobind::module_& module);
void bind_kernels(nanobind::module_& module);
void bind_records(nanobind::module_& module);
void bind_watched_run(nanobind::module_& module);

}  // namespace eureka::python
