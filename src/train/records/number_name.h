// The names under which a row of metrics holds what diagnostics say.
//
//   parse_number_name("attention/entropy/layer0/head1")      diagnostic, number, layer and head
//   parse_number_name("gradients/norm/q/layer0")             and a part: "q"
//   parse_number_name("val_loss")                            nothing: it is the run's own
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace eureka {

struct NumberName {
  std::string diagnostic;
  std::string number;
  // Where in the model; each empty where the number is not of a certain one.
  std::string part;   // "q", "embedding", whatever is neither a layer nor a head
  std::string layer;  // "layer0"
  std::string head;   // "head1"

  bool operator==(const NumberName&) const = default;
};

std::optional<NumberName> parse_number_name(std::string_view name);

}  // namespace eureka
