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

void choose_branch_history(const Options& o, const EventTable& events, SessionOptions& session) {
  report::ReportOptions rows;
  rows.call_graph = o.call_graph;
  rows.children = false;  // which would turn the chains around
  report::choose_branch_history(rows, events, session);
}

Result<> check_branch_history(const Options& o, const Session& session) {
  if (!o.call_graph.branch_history) return {};
  auto any_sample_has = [&](uint64_t bits) {
    return std::ranges::any_of(session.events().all(),
                               [bits](const EventDesc& event) { return event.attr.samples(bits); });
  };
  if (!any_sample_has(abi::kSampleBranchStack))
    return fail(ErrorCode::kFailed,
                "-g branch: the samples have no branches; record them with c2c record -- -b");
  if (any_sample_has(abi::kSampleStackUser))
    return fail(ErrorCode::kFailed,
                "-g branch: branches are not put into call chains from copied stacks; record with "
                "--call-graph fp, or leave it out");
  return {};
}

}  // namespace sonde::c2c
