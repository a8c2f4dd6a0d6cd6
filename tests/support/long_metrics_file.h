// A metrics file longer than memory should be for it, and how much memory this process has had.
#pragma once

#include <fmt/format.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace eureka {

inline constexpr int kLongRows = 10'000'000;

// Step i has 0.5 + (i % 40) / 100 for val_accuracy.
inline void write_long_metrics(const std::filesystem::path& file) {
  std::ofstream stream(file, std::ios::binary);
  fmt::memory_buffer lines;
  for (int i = 0; i < kLongRows; ++i) {
    fmt::format_to(std::back_inserter(lines), "{{\"step\":{},\"val_accuracy\":0.{},\"val_loss\":1.25}}\n", i,
                   50 + i % 40);
    if (lines.size() < (1 << 20) && i + 1 < kLongRows) continue;
    stream.write(lines.data(), static_cast<std::streamsize>(lines.size()));
    lines.clear();
  }
}

inline long peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

}  // namespace eureka
