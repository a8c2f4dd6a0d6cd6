// Says in plain words what the comparison of an arm with its baseline found; negative results too. docs/statistics.md
// lists every sentence with its rule.
#pragma once

#include <string>

#include "stats/arm_comparison.h"

namespace eureka {

struct Verdict {
  VerdictKind kind = VerdictKind::baseline;
  std::string text;
};

// Whether the waiting times of the two say anything about each other: not where the arm learns without a moment, nor
// where neither has the event.
bool waiting_times_compare(const ArmSummary& arm, const ArmSummary& baseline, const ComparisonOptions& options);

Verdict baseline_verdict(const std::string& name, const ArmSummary& summary, double horizon,
                         const ComparisonOptions& options);
Verdict arm_verdict(const std::string& name, const ArmSummary& arm, const std::string& baseline_name,
                    const ArmSummary& baseline, const ArmComparison& comparison, double horizon,
                    const ComparisonOptions& options);

}  // namespace eureka
