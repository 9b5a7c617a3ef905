// Bar charts as SVG.

#ifndef CLIENTS_CLI_SCAN_SVG_CHART_H_
#define CLIENTS_CLI_SCAN_SVG_CHART_H_

#include <string>
#include <vector>

namespace bimbackup::cli::scan {

// A bar, and what stands beside it.
struct ChartBar {
  std::string label;
  // At least 0; bars are as long as this says.
  double value = 0;
  std::string text;
};

// A whole SVG document: horizontal bars under a title, over a note. It needs
// no style sheet and is readable on white and on black.
std::string BarChartSvg(const std::string& title,
                        const std::vector<ChartBar>& bars,
                        const std::string& note);

}  // namespace bimbackup::cli::scan

#endif  // CLIENTS_CLI_SCAN_SVG_CHART_H_
