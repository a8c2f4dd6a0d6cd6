// What only the engine or the task can tell of a config (widths that do not fit, a device or a data set that is not
// there), told before the first trial runs.
#pragma once

#include "lab/study_cost.h"
#include "lab/study_plan.h"

namespace eureka {

// Makes the model of each arm at each point once, and one sample for it, in a process of its own, so that neither torch
// nor the memory of the models stays in this one. Throws Error(config) that names the arm. Trials that have ended are
// not looked at. The machine must have memory for `slots` of them at a time. With `continued`, the config of the runs
// that are continued, an arm must also keep the shape of its model.
// Returns what the arms that were looked at cost, measured by a few steps of each, where there is time for it.
ArmCosts check_trials(const Study& study, const std::vector<Trial>& trials, std::size_t slots,
                      const RunConfig* continued = nullptr);

}  // namespace eureka
