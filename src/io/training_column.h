// Which column of a log is the training side of a validation column, by its name.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace eureka {

// "val_accuracy": "train_accuracy" or "accuracy" (Keras); "eval/loss": "train/loss" or "loss"; "Validation error":
// "Training error". Nothing where the name does not speak of validation, or no column has the other name.
std::optional<std::string> training_column_of(const std::string& column, const std::vector<std::string>& available);

}  // namespace eureka
