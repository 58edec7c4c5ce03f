#include "event/pmu/pfm.h"

#include <dlfcn.h>
#include <perfmon/pfmlib_perf_event.h>

#include <algorithm>

#include "base/nearest_names.h"
#include "base/text.h"
#include "event/parser/event_error.h"

namespace sonde {
namespace {

constexpr const char* kLibrary = "libpfm.so.4";

/// The library's functions that are used.
struct Pfm {
  decltype(&::pfm_initialize) initialize = nullptr;
  decltype(&::pfm_strerror) strerror = nullptr;
  decltype(&::pfm_get_os_event_encoding) encode = nullptr;
  decltype(&::pfm_get_pmu_info) pmu_info = nullptr;
  decltype(&::pfm_get_event_info) event_info = nullptr;
  decltype(&::pfm_get_event_attr_info) attribute_info = nullptr;
  decltype(&::pfm_get_event_next) next_event = nullptr;
};

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

Result<Pfm> load() {
  // Never closed: pointers to its texts are returned.
  void* library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return fail(ErrorCode::kUnsupported, "libpfm4 was not found: install it, or use -e\n({})",
                ::dlerror());
  Pfm pfm;
  bool complete = find(library, "pfm_initialize", pfm.initialize) &&
                  find(library, "pfm_strerror", pfm.strerror) &&
                  find(library, "pfm_get_os_event_encoding", pfm.encode) &&
                  find(library, "pfm_get_pmu_info", pfm.pmu_info) &&
                  find(library, "pfm_get_event_info", pfm.event_info) &&
                  find(library, "pfm_get_event_attr_info", pfm.attribute_info) &&
                  find(library, "pfm_get_event_next", pfm.next_event);
  if (!complete) return fail(ErrorCode::kUnsupported, "{} is incomplete", kLibrary);
  if (int error = pfm.initialize(); error != PFM_SUCCESS)
    return fail(ErrorCode::kUnsupported, "libpfm4 cannot be initialized: {}", pfm.strerror(error));
  return pfm;
}

std::vector<PfmEvent> events_of_this_machine(const Pfm& pfm);

/// Suggestions for a name that the library does not know, and the command that lists them.
std::string help_with(const Pfm& pfm, std::string_view word, std::string_view tool) {
  std::vector<std::string> known;
  std::string wanted(word.substr(0, word.find(':')));
  bool with_pmu = word.find("::") != std::string_view::npos;
  if (with_pmu) wanted = word;
  for (const PfmEvent& event : events_of_this_machine(pfm)) {
    known.push_back(with_pmu ? event.name : event.name.substr(event.pmu.size() + 2));
    if (!with_pmu) known.back().erase(std::min(known.back().find(':'), known.back().size()));
  }
  std::string nearest = did_you_mean(nearest_names(wanted, known));
  return fmt::format("{}{}Run '{} list pfm' for a list of valid events", nearest,
                     nearest.empty() ? "" : "\n", tool);
}

Result<ParsedEvent> encode(const Pfm& pfm, std::string_view word, std::string_view tool) {
  ParsedEvent event;
  event.name = word;
  // The structure is the kernel's, whichever header declares it.
  event.attr.exclude_guest = 1;
  pfm_perf_encode_arg_t argument{};
  argument.size = sizeof argument;
  argument.attr = reinterpret_cast<perf_event_attr*>(&event.attr);
  argument.cpu = -1;
  int error = pfm.encode(event.name.c_str(), PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &argument);
  if (error != PFM_SUCCESS)
    return fail(ErrorCode::kBadEvent, "failed to parse event {} : {}\n{}", word,
                pfm.strerror(error), help_with(pfm, word, tool));
  if (argument.cpu >= 0) event.terms.cpus = {argument.cpu};
  return event;
}

void add_event(const Pfm& pfm, const pfm_event_info_t& info, std::string_view pmu,
               std::vector<PfmEvent>& found) {
  std::string name = fmt::format("{}::{}", pmu, info.name);
  bool has_masks = false;
  for (int i = 0; i < info.nattrs; ++i) {
    pfm_event_attr_info_t attribute{};
    attribute.size = sizeof attribute;
    if (pfm.attribute_info(info.idx, i, PFM_OS_PERF_EVENT_EXT, &attribute) != PFM_SUCCESS ||
        attribute.type != PFM_ATTR_UMASK)
      continue;
    has_masks = true;
    found.push_back({fmt::format("{}:{}", name, attribute.name), pmu, attribute.desc});
  }
  if (!has_masks) found.push_back({std::move(name), pmu, info.desc});
}

constexpr size_t kNoGroup = SIZE_MAX;

/// Makes the events from `first` on a group.
Result<> close_group(std::vector<ParsedEvent>& events, size_t& first) {
  if (first == kNoGroup) return fail(ErrorCode::kBadEvent, "--pfm-events: '}}' closes no group");
  if (first == events.size()) return fail(ErrorCode::kBadEvent, "--pfm-events: an empty group");
  for (size_t i = first; i < events.size(); ++i) events[i].leader = static_cast<uint32_t>(first);
  first = kNoGroup;
  return {};
}

std::vector<PfmEvent> events_of_this_machine(const Pfm& pfm) {
  std::vector<PfmEvent> found;
  int number = 0;
  pfm_for_all_pmus(number) {
    pfm_pmu_info_t pmu{};
    pmu.size = sizeof pmu;
    auto which = static_cast<pfm_pmu_t>(number);
    if (pfm.pmu_info(which, &pmu) != PFM_SUCCESS || !pmu.is_present) continue;
    for (int i = pmu.first_event; i != -1; i = pfm.next_event(i)) {
      pfm_event_info_t info{};
      info.size = sizeof info;
      if (pfm.event_info(i, PFM_OS_PERF_EVENT_EXT, &info) != PFM_SUCCESS) continue;
      add_event(pfm, info, pmu.name, found);
    }
  }
  return found;
}

}  // namespace

Result<std::vector<PfmEvent>> pfm_catalog() {
  return events_of_this_machine(TRY(load()));
}

Result<std::vector<ParsedEvent>> parse_pfm_events(std::string_view text, std::string_view tool) {
  Pfm pfm = TRY(load());
  std::vector<ParsedEvent> events;
  size_t group = kNoGroup;
  for (std::string_view word : split(text, ',')) {
    word = trim(word);
    if (word.starts_with('{')) {
      if (group != kNoGroup)
        return fail(ErrorCode::kBadEvent, "--pfm-events: groups cannot be nested");
      group = events.size();
      word.remove_prefix(1);
    }
    bool closes = word.ends_with('}');
    if (closes) word.remove_suffix(1);
    if (word.find_first_of("{}") != std::string_view::npos)
      return fail(ErrorCode::kBadEvent, "--pfm-events: a misplaced brace in '{}'", word);
    if (word.empty() && !closes)
      return fail(ErrorCode::kBadEvent, "--pfm-events: an empty name in '{}'", text);
    if (!word.empty()) {
      events.push_back(TRY(encode(pfm, word, tool)));
      events.back().leader = static_cast<uint32_t>(events.size() - 1);
    }
    if (closes) TRY(close_group(events, group));
  }
  if (group != kNoGroup) return fail(ErrorCode::kBadEvent, "--pfm-events: '{{' is not closed");
  return events;
}

}  // namespace sonde
