// How a run stands.
#pragma once

#include <array>

namespace eureka {

enum class RunStatus { running, finished, diverged, interrupted, failed };
constexpr auto enum_names(RunStatus) { return std::array{"running", "finished", "diverged", "interrupted", "failed"}; }
inline const char* status_name(RunStatus status) { return enum_names(status)[static_cast<std::size_t>(status)]; }

}  // namespace eureka
