// meta.json: how a run stands, and facts about the program and the machine. Not part of what is repeated bit by bit.
#pragma once

#include <cstdint>
#include <string>

#include "base/files.h"
#include "train/records/run_status.h"

namespace eureka {

struct RunMeta {
  std::string version;  // of the eureka that wrote the run last
  std::string commit;   // of its sources; empty: written before this was kept
  std::string command;  // that began or continued it last
  std::string started;  // for the first time: 2026-11-18T20:15:00Z
  std::string ended;    // empty while it runs
  RunStatus status = RunStatus::running;
  std::int64_t seed = 0;
  std::string host;
  std::string processor;
  std::int64_t cores = 0;
  std::string engine;
  std::string instructions;
  std::int64_t threads = 1;    // of each process
  std::int64_t processes = 1;  // that shared its batches, in the last session
  std::string device;
  std::int64_t updates_done = 0;
  double seconds_of_last_session = 0;
  std::int64_t memory_bytes = 0;  // that it was said to need; 0: unknown
  std::int64_t disk_bytes = 0;    // of its files, without this one; 0: while it runs
  std::string why_not_fused;      // empty when it is, or when the reference engine was asked for
};

// The whole text of meta.json.
std::string to_text(const RunMeta& meta);

// Throws Error(input) at `where` that names the field which is missing or of another type.
RunMeta parse_meta(std::string_view text, const std::string& where);

RunMeta read_meta(const fs::path& run_directory);

// "eureka 0.1.0", or "an unknown eureka" where no meta.json can be read: for saying who wrote what cannot be
// understood.
std::string writer_of(const fs::path& run_directory);

}  // namespace eureka
