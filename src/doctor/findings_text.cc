#include "doctor/findings_text.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace sonde::doctor {

bool show(const std::vector<Finding>& findings, Sink& out) {
  constexpr std::array<std::string_view, 3> kStates = {"ok", "in part", "no"};
  size_t width = 0;
  for (const Finding& finding : findings) width = std::max(width, finding.subject.size());
  for (const Finding& finding : findings) {
    out.print("  {:<7}  {:<{}}  {}\n", kStates.at(static_cast<size_t>(finding.state)),
              finding.subject, width, finding.what);
    if (!finding.remedy.empty()) out.print("           {:<{}}  > {}\n", "", width, finding.remedy);
  }
  return std::ranges::none_of(
      findings, [](const Finding& finding) { return finding.state == Finding::State::kMissing; });
}

}  // namespace sonde::doctor
