// Small pictures side by side, each with what there is to know of it: a person can check a rule at a glance.
//
//   write_png("sheet.png", draw_contact_sheet(cells, {.title = "digit-pair", .columns = 4}));
#pragma once

#include <string>
#include <vector>

#include "report/picture.h"

namespace eureka {

struct SheetFrame {
  int left = 0, top = 0, width = 0, height = 0;  // in pixels of the small picture
  Rgb color{};
};

struct SheetCell {
  RgbImage picture;
  std::vector<SheetFrame> frames;
  std::vector<std::string> lines;  // the first one stands out
};

struct SheetOptions {
  std::vector<std::string> title;  // lines above everything
  int columns = 4;
  int zoom = 3;
};

RgbImage draw_contact_sheet(const std::vector<SheetCell>& cells, const SheetOptions& options);

}  // namespace eureka
