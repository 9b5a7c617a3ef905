#include "clients/cli/scan/svg_chart.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace bimbackup::cli::scan {
namespace {

// Lengths in pixels.
constexpr int kWidth = 860;
constexpr int kLabelWidth = 260;
constexpr int kTextWidth = 170;
constexpr int kTop = 50;
constexpr int kRow = 26;
constexpr int kBar = 18;
constexpr int kMargin = 12;

std::string Escaped(const std::string& text) {
  return absl::StrReplaceAll(
      text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

std::string Text(double x, double y, const std::string& attributes,
                 const std::string& text) {
  return absl::StrFormat("<text x=\"%.1f\" y=\"%.1f\" %s>%s</text>\n", x, y,
                         attributes, Escaped(text));
}

std::string Row(const ChartBar& bar, double longest, int y) {
  const double room = kWidth - kLabelWidth - kTextWidth - 2 * kMargin;
  // Bars that are too short to see are shown all the same.
  const double width =
      longest > 0 ? std::max(1.0, room * bar.value / longest) : 1.0;
  const double baseline = y + kBar - 4.5;
  return absl::StrCat(
      Text(kMargin + kLabelWidth - 8, baseline, "text-anchor=\"end\"",
           bar.label),
      absl::StrFormat("<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" "
                      "rx=\"2\" fill=\"#3b82c4\"/>\n",
                      kMargin + kLabelWidth, y, width, kBar),
      Text(kMargin + kLabelWidth + width + 8, baseline, "", bar.text));
}

}  // namespace

std::string BarChartSvg(const std::string& title,
                        const std::vector<ChartBar>& bars,
                        const std::string& note) {
  double longest = 0;
  for (const ChartBar& bar : bars) longest = std::max(longest, bar.value);
  const int height =
      kTop + kRow * static_cast<int>(bars.size()) + kRow + kMargin;
  std::string svg = absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
      "width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
      "font-size=\"13\" fill=\"#808080\">\n",
      kWidth, height, kWidth, height);
  absl::StrAppend(&svg, Text(kMargin, 28, "font-size=\"16\"", title));
  int y = kTop;
  for (const ChartBar& bar : bars) {
    absl::StrAppend(&svg, Row(bar, longest, y));
    y += kRow;
  }
  absl::StrAppend(&svg, Text(kMargin, y + 18, "font-size=\"11\"", note),
                  "</svg>\n");
  return svg;
}

}  // namespace bimbackup::cli::scan
