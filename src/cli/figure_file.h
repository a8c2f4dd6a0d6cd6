// A figure as a file of its own.
#pragma once

#include <string>

#include "report/report_figure.h"

namespace eureka::cli {

// By the end of the file's name: .svg, .png or .pdf, and .csv for the data. Throws Error(usage) for any other.
void write_figure(const ReportFigure& figure, const std::string& out);

}  // namespace eureka::cli
