// A probe's definition (the first line), and the object that it is to be put into (the rest):
// whatever they say, what would be written to tracefs is one line that reads back as the same
// probe, with names that the kernel takes; likewise what the cache keeps of the object's USDT
// probes.
#include <filesystem>

#include "base/check.h"
#include "base/text.h"
#include "fuzz/allowance.h"
#include "fuzz/fuzz_target.h"
#include "fuzz/own_folder.h"
#include "probe/events/probe_events.h"
#include "probe/events/probe_names.h"
#include "probe/source/plan_probes.h"
#include "probe/source/source_listing.h"
#include "probe/source/variable_listing.h"
#include "probe/usdt/plan_usdt.h"
#include "probe/usdt/sdt_cache_text.h"

namespace {

using namespace sonde;

bool is_one_word(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c != 0x7f; });
}

void check_definition(std::string_view line) {
  CHECK(line.find_first_of("\n\r\t") == std::string_view::npos);
  Result<ListedProbe> listed = parse_listed_probe(line);
  CHECK(listed);
  CHECK(is_one_word(listed->event.system) && is_one_word(listed->event.name));
  CHECK(probe_definition(listed->event.system, listed->event.name, listed->place) == line);
}

void check_named(const RequestedProbe& request, const std::vector<ProbePlan>& plans) {
  ProbeNames names({}, true);
  auto named = names.name(request, plans);
  if (!named) return;
  CHECK(named->size() == plans.size());
  for (const NamedProbe& probe : *named)
    check_definition(probe_definition(probe.event.system, probe.event.name, probe.place));
}

void plan(std::string_view definition, const ProbedCode& code, const std::string& path) {
  PlanOptions options{.max_probes = 32, .with_externs = true, .with_ranges = true};
  StringSink listing;
  (void)write_source_lines(code, definition, false, listing);
  auto request = parse_probe(definition);
  if (!request) return;
  if (request->sdt_name.empty()) {
    auto plans = plan_probes(*request, code, options);
    if (plans) check_named(*request, *plans);
    (void)list_variables(*request, code, options, NameFilter());
  } else if (auto plans = plan_usdt(*request, {.object = path})) {
    check_named(*request, *plans);
  }
}

}  // namespace

FUZZ_TARGET(probe_plan)(const uint8_t* data, size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  size_t end = input.find('\n');
  if (end == std::string_view::npos) {
    (void)parse_probe(input);
    return 0;
  }
  static const OwnFolder folder;
  std::string path = folder.file("object", as_bytes(input.substr(end + 1)));
  spend(size, {.bytes_per_byte = 1024, .free_bytes = size_t{32} << 20}, [&] {
    std::string cached = sdt_cache_text(path, path);
    for (std::string_view line : split(cached, '\n'))
      if (!line.empty() && !line.starts_with('%')) check_definition(line);
    CodeSearch search;
    search.finder.debug_root = search.finder.proc = folder.path() + "/nothing";
    if (auto code = ProbedCode::open({.executable = path}, search))
      plan(input.substr(0, end), *code, path);
  });
  return 0;
}
