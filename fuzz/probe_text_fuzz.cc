// Untrusted texts around probes: the dynamic linker's cache, operands in SDT notes, sections of BPF
// objects, terms for their maps, arguments for them, definitions of probes, paths of functions,
// filters of names, and the files that keep them.
#include <elf.h>

#include <cstddef>
#include <cstdint>

#include "bpf/map_setting.h"
#include "bpf/program_section.h"
#include "fuzz/fuzz_target.h"
#include "probe/events/probe_cache.h"
#include "probe/events/probe_events.h"
#include "probe/programs/argument_prologue.h"
#include "probe/requested_probe.h"
#include "probe/source/function_path.h"
#include "probe/usdt/fetch_argument.h"
#include "probe/usdt/library_search.h"

FUZZ_TARGET(probe_text)(const uint8_t* data, size_t size) {
  using namespace sonde;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  for (std::string_view operand : split_operands(text))
    for (uint16_t machine : {uint16_t{EM_X86_64}, uint16_t{EM_AARCH64}}) {
      std::optional<std::string> fetched = fetch_argument(operand, machine);
      // What goes to tracefs must be one word of printable characters.
      if (fetched && fetched->find_first_of(" \t\n\0", 0, 4) != std::string::npos) __builtin_trap();
    }
  (void)parse_program_section(text);
  for (bool in_kernel : {false, true}) {
    ProbePlace place{.object = in_kernel ? "" : "/bin/x", .arguments = {std::string(text)}};
    (void)argument_prologue(place, {.machine = EM_X86_64, .symbol_address = [](std::string_view) {
                                      return uint64_t{1};
                                    }});
  }
  if (plain_function_path(text).size() > size || last_of_path(text).size() > size) __builtin_trap();
  (void)parse_library_cache(as_bytes(text));
  if (auto probe = parse_probe(text))
    // Nothing of it may end a line of tracefs.
    for (const std::string& part : {probe->function, probe->event, probe->group})
      if (part.find('\n') != std::string::npos) __builtin_trap();
  if (auto filter = NameFilter::parse(text)) (void)filter->matches("name_1");
  (void)parse_listed_probe(text);
  (void)with_cached_probe(text, "f", {});
  size_t equals = text.find('=');
  if (equals != std::string_view::npos)
    if (auto setting = parse_map_setting(text.substr(0, equals), text.substr(equals + 1)))
      (void)setting->covers(3);
  return 0;
}
