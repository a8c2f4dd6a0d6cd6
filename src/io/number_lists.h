// Logs that hold a list for each column instead of an object for each row.
//
//   {"loss": [2.3, 1.9], "val_loss": [2.4, 2.1]}                                        a history of Keras, by epoch
//   {"train.loss": {"steps": [10, 20], "values": [2.3, 1.9], "timestamps": [...]}}      metrics.json of Sacred
#pragma once

#include <string>
#include <vector>

#include "io/jsonl.h"

namespace eureka {

struct NumberList {
  std::string name;  // keys joined with '.'
  std::vector<double> values;
};

// Lists with steps of their own meet in one column of steps; the others are counted from 1 in a column "epoch".
JsonTable columns_of_lists(const std::vector<NumberList>& lists);

}  // namespace eureka
