// What the program may assume of the place it prints to.
#pragma once

#include <string>

namespace eureka {

bool is_terminal(int descriptor);

// Color only on a terminal, and never when NO_COLOR is set or TERM is "dumb".
bool use_color(int descriptor);

int terminal_columns(int descriptor);
int terminal_rows(int descriptor);

// "48s", "3m 05s", "2h 07m"
std::string format_duration(double seconds);

}  // namespace eureka
