// The numbers in what a program prints while it trains: nanoGPT, Keras, Lightning's bars, dictionaries of Hugging
// Face's Trainer, or anybody's print().
//
//   iter 100: loss 2.3100, time 23.45ms                      iter, loss, time
//   step 250: train loss 2.1, val loss 2.2                   step, train loss, val loss
//   {'eval_loss': '2.31', 'epoch': 1.0}                      eval_loss, epoch
//   Epoch 3/10 [...] - loss: 1.2 - val_accuracy: 0.5         Epoch, loss, val_accuracy
//
// A number belongs to the words just before it. A line of nothing but a count of steps ("Epoch 3/10") counts for the
// lines after it too. Dates, clock times, numbers without words and the colors of terminals are passed over.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "io/jsonl.h"

namespace eureka {

struct ConsoleLog {
  JsonTable table;
  // A line that each column was read from, with '#' for its numbers: what a user should see before trusting it.
  std::map<std::string, std::string> line_like;
};

// Whether a good part of the first lines name numbers, and not of steps alone.
bool looks_like_console_log(std::string_view text);

ConsoleLog parse_console_log(std::string_view text);

}  // namespace eureka
