#include "c2c/options.h"

#include <algorithm>
#include <utility>

namespace sonde::c2c {

Result<Display> parse_display(std::string_view word) {
  constexpr std::pair<std::string_view, Display> kWords[] = {{"tot", Display::kAllHitm},
                                                             {"lcl", Display::kLocalHitm},
                                                             {"rmt", Display::kRemoteHitm},
                                                             {"peer", Display::kPeer}};
  for (auto [name, display] : kWords)
    if (name == word) return display;
  return fail(ErrorCode::kUsage, "expects tot, lcl, rmt or peer, not '{}'", word);
}

Result<std::vector<RowField>> parse_row_fields(std::string_view words) {
  constexpr std::pair<std::string_view, RowField> kWords[] = {{"pid", RowField::kPid},
                                                              {"tid", RowField::kTid},
                                                              {"iaddr", RowField::kCode},
                                                              {"dso", RowField::kObject}};
  std::vector<RowField> fields;
  while (!words.empty()) {
    std::string_view word = words.substr(0, words.find(','));
    words.remove_prefix(std::min(words.size(), word.size() + 1));
    const auto* found =
        std::ranges::find(kWords, word, [](const auto& pair) { return pair.first; });
    if (found != std::end(kWords))
      fields.push_back(found->second);
    else if (word != "offset")
      return fail(ErrorCode::kUsage, "expects pid, tid, iaddr or dso, not '{}'", word);
  }
  return fields;
}

}  // namespace sonde::c2c
