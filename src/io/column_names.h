// What people mean by the names of columns in their logs.
//
//   curve_likeness(words_of("Val/topAcc1"))      4: a validation accuracy
//   step_likeness("trainer/global_step")         above 0: a count of steps
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace eureka {

// "Val/topAcc1" -> {"val", "top", "acc1"}: words as people separate them, in lower case.
std::vector<std::string> words_of(std::string_view name);

// A time or a date: neither a curve nor a count of steps.
bool is_clock(const std::vector<std::string>& words);

// Higher is more usual; 0 for a name that is no count of steps.
int step_likeness(std::string_view name);

// 4 validation accuracy, 3 accuracy, 2 validation loss, 1 loss, 0 something else.
int curve_likeness(const std::vector<std::string>& words);

}  // namespace eureka
