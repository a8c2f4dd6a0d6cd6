#include "cli/figure_file.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "figure/pdf_painter.h"
#include "figure/png_painter.h"
#include "figure/svg_painter.h"

namespace eureka::cli {
namespace {

std::string painted(const ReportFigure& figure, const std::string& out) {
  const std::string kind = fs::path(out).extension().string();
  if (kind == ".csv") return figure.csv;
  const figure::Drawing drawing = figure.draw(figure::Titled::yes);
  if (kind == ".svg") return svg_file(drawing);
  if (kind == ".png") return png_bytes(rastered(drawing));
  if (kind == ".pdf") return pdf_file(drawing);
  throw Error(ErrorKind::usage, "a figure is written as .svg, .png or .pdf, its data as .csv", out,
              fmt::format("for example: {}.svg", figure.name));
}

}  // namespace

void write_figure(const ReportFigure& figure, const std::string& out) { atomic_write(out, painted(figure, out)); }

}  // namespace eureka::cli
