// eureka._core: what the package has of the layers in C++. Python's own files give it names, types and defaults.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "base/error.h"
#include "bindings.h"

namespace nb = nanobind;

namespace {

const char* kind_name(eureka::ErrorKind kind) {
  switch (kind) {
    case eureka::ErrorKind::usage:
      return "usage";
    case eureka::ErrorKind::config:
      return "config";
    case eureka::ErrorKind::input:
      return "input";
    case eureka::ErrorKind::output:
      return "output";
    case eureka::ErrorKind::failed:
      return "failed";
  }
  return "failed";
}

// eureka.Error, with the parts a program may want to know.
void raise_error(const eureka::Error& error) {
  const nb::object type = nb::module_::import_("eureka._error").attr("Error");
  const nb::object value = type(error.what(), kind_name(error.kind()), error.where(), error.hint());
  PyErr_SetObject(type.ptr(), value.ptr());
}

}  // namespace

NB_MODULE(_core, module) {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const eureka::Error& error) {
      raise_error(error);
    }
  });
  module.attr("version") = EUREKA_VERSION;
  eureka::python::bind_detect(module);
  eureka::python::bind_compare(module);
  eureka::python::bind_look(module);
  eureka::python::bind_kernels(module);
  eureka::python::bind_records(module);
  eureka::python::bind_watched_run(module);
}
