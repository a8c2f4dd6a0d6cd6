// Who computes this: facts about the program, the process and the machine, for records that people read.
#pragma once

#include <string>
#include <string_view>

namespace eureka {

// Of the sources this was built from, as git names it, "-dirty" where they had changes; "unknown" outside of git.
std::string_view build_commit();

// As it was typed, quoted where a shell needs it; "unknown" where the system does not tell.
std::string command_line();

// "AMD EPYC 7763 64-Core Processor"; "unknown" where the system does not tell.
std::string processor_name();

std::string host_name();

// "2026-11-18T20:15:00Z"
std::string utc_now();

}  // namespace eureka
