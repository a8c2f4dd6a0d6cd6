// One run, drawn.
#pragma once

#include <vector>

#include "report/report_figure.h"
#include "report/run_data.h"
#include "train/records/number_name.h"

namespace eureka {

// Its metric with plateaus and moments, its losses, and what its diagnostics saw, as far as there are any.
std::vector<ReportFigure> run_figures(const RunData& run);

// One figure for each diagnostic, with a panel for each of its numbers in each layer and a line for each head.
std::vector<ReportFigure> diagnostic_figures(const RunData& run);

// The data of some curves: column,step,value.
std::string columns_csv(const std::vector<const RunCurve*>& curves);

// "share of log(keys)"; nothing for a number of a later eureka.
std::string unit_of(const NumberName& number);

}  // namespace eureka
