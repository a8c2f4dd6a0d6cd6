// One curve out of anybody's log.
//
//   LoadedCurve curve = load_curve("log.csv");                               column and steps are guessed
//   LoadedCurve curve = load_curve("runs/a", "val_loss", "epoch");           or named
//
// Reads CSV and its relatives (also the exports of TensorBoard and W&B, and Lightning's metrics.csv), JSONL, JSON
// arrays of objects, trainer_state.json of Hugging Face, histories of Keras, metrics of Sacred and MLflow, what
// programs print (io/console_log.h), TensorBoard event files or a directory of them, our own run directories, and any
// of the files packed by gzip. The kind is told from the content.
//
// Ensures: steps strictly increasing and finite; values as in the file, NaN and infinities included; at least one
// point. Of rows with the same step the last counts; when steps go back (a resumed run logged them again) the later
// rows replace the earlier ones from that step on.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"

namespace eureka {

struct LoadedCurve {
  std::string column;
  std::string step_column;  // "row" when the file has no steps and rows are counted from 1
  std::vector<double> steps;
  std::vector<double> values;
  std::vector<std::string> available_columns;  // every column of numbers but the step column
  std::size_t dropped_rows = 0;                // had a value but no usable step, or were torn at the end of the file
  std::size_t replaced_rows = 0;               // logged again later
  std::string note;                            // the two in words, "" when both are 0
  std::string line_like;                       // of what a program printed: a line of the column, '#' for its numbers
};

// Guesses when not told: the step column by its usual names (step, global_step, iteration, epoch, ...); the column as
// validation accuracy, accuracy, validation loss, loss, or the only one there is. A named one may be cut short as long
// as one column alone begins so. Throws Error(input) that says what was found instead: no such column (with the nearest
// name), nothing to choose by (with the names), no rows, not a log at all.
LoadedCurve load_curve(const fs::path& path, const std::optional<std::string>& column = {},
                       const std::optional<std::string>& step_column = {});

// Whether load_curve() finds a log in a directory: a run of ours, or event files in it or in its tb/.
bool is_log_directory(const fs::path& directory);

// The same of a file's content; `path` names it in errors and may tell its kind.
LoadedCurve curve_in(std::string text, const fs::path& path, const std::optional<std::string>& column = {},
                     const std::optional<std::string>& step_column = {});

}  // namespace eureka
