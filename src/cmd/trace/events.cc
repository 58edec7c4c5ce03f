// What -e, --filter and -G of `trace` select: system calls by name, glob and group, and events of
// every other kind.
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"
#include "capture/opening/event_selection.h"
#include "cmd/trace/flags.h"
#include "event/parser/event_parser.h"
#include "event/vendor/vendor_events.h"
#include "trace/arguments/syscall_table.h"

namespace sonde {
namespace {

/// Splits "open,close,net:*queue/nr=3,max-stack=16/" at commas outside an event's terms and outside
/// groups.
std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  size_t from = 0;
  bool in_terms = false;
  int depth = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    char c = i < text.size() ? text[i] : ',';
    if (c == '/') in_terms = !in_terms;
    if (c == '{') ++depth;
    if (c == '}') --depth;
    bool ends = i == text.size() || (c == ',' && !in_terms && depth <= 0);
    if (!ends) continue;
    words.push_back(text.substr(from, i - from));
    from = i + 1;
  }
  return words;
}

constexpr SyscallAbi kHostAbi =
#if defined(__aarch64__)
    SyscallAbi::kArm64;
#else
    SyscallAbi::kX86_64;
#endif

}  // namespace

Result<> TraceFlags::add_word(std::string_view word, bool negated, std::string& events) {
  bool is_event = word.find_first_of(":/{@") != std::string_view::npos;
  std::vector<const Syscall*> found;
  if (!is_event) found = SyscallTable::get().match(word, kHostAbi);
  if (found.empty() && !is_event && (has_glob(word) || word.starts_with('%') || negated))
    return fail(ErrorCode::kBadEvent, "-e {}: no system call or group has that name; groups are {}",
                word, fmt::join(SyscallTable::group_names(), ", "));
  if (found.empty()) {
    if (negated)
      return fail(ErrorCode::kBadEvent, "-e !{}: only system calls can be left out", word);
    events += events.empty() ? "" : ",";
    events += word;
    return {};
  }
  names_calls_ = true;
  options_.calls.all = false;
  for (const Syscall* call : found)
    for (SyscallAbi abi :
         {SyscallAbi::kX86_64, SyscallAbi::kI386, SyscallAbi::kArm64, SyscallAbi::kArm})
      if (call->number(abi) >= 0)
        options_.calls.calls.push_back({abi, static_cast<uint32_t>(call->number(abi))});
  return {};
}

/// perf's rule: a leading ! applies to all names, of every -e.
Result<> TraceFlags::add_events(const std::string& text, Env& env) {
  std::string_view list = text;
  bool negated = list.starts_with('!');
  if (negated) list.remove_prefix(1);
  options_.calls.invert |= negated;
  std::string events;
  for (std::string_view word : split_words(list)) {
    word = trim(word);
    if (!word.empty()) TRY(add_word(word, negated, events));
  }
  options_.chooses = true;
  if (events.empty()) return {};
  if (!options_.input.empty()) {
    for (std::string_view word : split_words(events))
      options_.recorded_events.emplace_back(word.substr(0, word.find('/')));
    return {};
  }
  PmuCatalog pmus;
  Tracefs tracefs(env.variable("PERF_DEBUGFS_DIR").value_or(""));
  VendorEvents vendor(env);
  EventSources sources{.pmus = pmus, .tracefs = tracefs, .tool = env.tool, .vendor = &vendor};
  return parse_events(events, sources, options_.record.events);
}

/// Before any event it applies to all; after an event, to that -e only.
Result<> TraceFlags::add_cgroup(const std::string& name) {
  EventList& events = options_.record.events;
  if (events.empty()) {
    options_.cgroup_of_all = name;
    return {};
  }
  std::vector<std::string>& cgroups = options_.record.cgroups;
  cgroups.resize(events.size(), options_.cgroup_of_all);
  uint32_t last = events[events.size() - 1].option;
  for (size_t i = 0; i < events.size(); ++i)
    if (events[i].option == last) cgroups[i] = name;
  return {};
}

}  // namespace sonde
