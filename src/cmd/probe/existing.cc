// `probe -l` and `-d`: the probes that exist.
#include <algorithm>
#include <map>

#include "cmd/probe/options.h"
#include "event/print_fmt/tracefs.h"
#include "probe/events/probe_cache.h"
#include "probe/events/probe_events.h"
#include "probe/source/describe_code.h"
#include "store/build_id_cache.h"

namespace sonde {
namespace {

std::string event_name(const TracepointName& event) {
  return fmt::format("{}:{}", event.system, event.name);
}

/// Opens each object once: a list may have hundreds of probes of one.
class PlaceTexts {
 public:
  PlaceTexts(Env& env, const ProbeTarget& target) : env_(env), target_(target) {}

  /// "po_mid%return@app.c in /opt/app", "ovl_open in overlay"
  std::string text(const ProbePlace& place) {
    std::string module = module_of(place);
    const std::string& object = place.in_kernel() ? module : place.object;
    std::string where = place.in_kernel() ? kernel_place(place, module) : object_place(place);
    if (place.at_return)
      where.insert(std::min(where.find_first_of("+:@"), where.size()), "%return");
    return object.empty() ? where : fmt::format("{} in {}", where, object);
  }

 private:
  /// "overlay" of "overlay:ovl_open+8"; empty for the kernel itself and for programs.
  static std::string module_of(const ProbePlace& place) {
    if (!place.in_kernel()) return {};
    size_t colon = place.symbol.find(':');
    return colon == std::string::npos ? std::string() : place.symbol.substr(0, colon);
  }
  std::string object_place(const ProbePlace& place) {
    ProbeTarget target = target_;
    target.executable = place.object;
    const Result<ProbedCode>& code = opened(target, place.object);
    if (!code) return fmt::format("{:#x}", place.offset.value);
    return describe_place(*code, place.offset);
  }
  std::string kernel_place(const ProbePlace& place, const std::string& module) {
    std::string symbol = module.empty() ? place.symbol : place.symbol.substr(module.size() + 1);
    ProbeTarget target = target_;
    target.module = module;
    const Result<ProbedCode>& code = opened(target, "module " + module);
    return code ? describe_place(*code, symbol) : symbol;
  }
  const Result<ProbedCode>& opened(const ProbeTarget& target, const std::string& key) {
    auto known = codes_.find(key);
    if (known == codes_.end()) known = codes_.emplace(key, open_code(env_, target)).first;
    return known->second;
  }

  Env& env_;
  ProbeTarget target_;
  std::map<std::string, Result<ProbedCode>> codes_;
};

Result<std::vector<NameFilter>> parse_filters(const std::vector<std::string>& texts) {
  std::vector<NameFilter> filters;
  filters.reserve(texts.size());
  for (const std::string& text : texts) filters.push_back(TRY(NameFilter::parse(text)));
  return filters;
}

}  // namespace

Result<int> list_probes(Env& env, const ProbeOptions& options) {
  NameFilter filter = TRY(NameFilter::parse(*options.list));
  if (options.use_cache) {
    env.out.write_lines(probe_cache_text(build_id_directory(env), filter));
    return 0;
  }
  Tracefs tracefs(env.variable("PERF_DEBUGFS_DIR").value_or(""));
  PlaceTexts places(env, options.target);
  std::vector<std::string> lines;
  for (const ListedProbe& probe : TRY(ProbeEvents(tracefs.path()).all())) {
    if (!selects(filter, probe.event)) continue;
    std::string arguments;
    for (size_t i = 0; i < probe.place.arguments.size(); ++i)
      arguments +=
          fmt::format("{}{}", i == 0 ? " with " : " ", argument_name(probe.place.arguments[i], i));
    lines.push_back(fmt::format("  {:<20} (on {}{})\n", event_name(probe.event),
                                places.text(probe.place), arguments));
  }
  std::ranges::sort(lines);
  for (const std::string& line : lines) env.out.write(line);
  return 0;
}

namespace {

/// With -x those in that program, with -m those in that module; else all.
ProbeEvents::IsMeant removed_places(Env& env, const ProbeTarget& target) {
  if (!target.executable.empty()) {
    // A program that is gone has left its probes.
    Result<ProbedCode> code = open_code(env, target);
    return [path = code ? code->path() : target.executable](const ProbePlace& place) {
      return place.object == path;
    };
  }
  if (target.module.empty()) return [](const ProbePlace&) { return true; };
  return [prefix = target.module + ":"](const ProbePlace& place) {
    return place.in_kernel() && place.symbol.starts_with(prefix);
  };
}

}  // namespace

Result<int> remove_probes(Env& env, const ProbeOptions& options) {
  std::vector<NameFilter> filters = TRY(parse_filters(options.remove));
  std::vector<bool> hit(filters.size());
  Tracefs tracefs(env.variable("PERF_DEBUGFS_DIR").value_or(""));
  ProbeEvents events(tracefs.path());
  // What two filters select is removed by the first, and counts for both.
  ProbeEvents::IsMeant is_meant = removed_places(env, options.target);
  std::vector<ListedProbe> existing;
  if (!options.use_cache) existing = TRY(events.all());
  for (size_t i = 0; i < filters.size(); ++i) {
    if (options.use_cache) {
      for (const std::string& removed :
           TRY(remove_from_probe_cache(build_id_directory(env), filters[i]))) {
        if (!options.quiet) env.err.print("Removed cached event: {}\n", removed);
        hit[i] = true;
      }
      continue;
    }
    hit[i] = std::ranges::any_of(existing, [&](const ListedProbe& probe) {
      return selects(filters[i], probe.event) && is_meant(probe.place);
    });
    for (const TracepointName& removed : TRY(events.remove(filters[i], is_meant)))
      if (!options.quiet) env.err.print("Removed event: {}\n", event_name(removed));
  }
  for (size_t i = 0; i < filters.size(); ++i)
    if (!hit[i])
      return fail(ErrorCode::kNotFound, "\"{}\" does not hit any event: 'probe -l{}' shows them",
                  options.remove[i], options.use_cache ? " --cache" : "");
  return 0;
}

}  // namespace sonde
