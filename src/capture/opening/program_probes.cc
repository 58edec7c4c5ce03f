#include "capture/opening/program_probes.h"

#include <algorithm>
#include <span>

#include "elf/elf_file.h"
#include "probe/programs/argument_prologue.h"
#include "probe/requested_probe.h"
#include "probe/source/plan_probes.h"

namespace sonde {
namespace {

/// libbpf's syntax: a symbol.
Result<ProgramProbe> probe_of_symbol(const ProgramSection& section) {
  ProbePlace place{.object = section.object, .at_return = section.at_return};
  if (place.in_kernel()) {
    place.symbol = section.function;
    if (section.offset != 0) place.symbol += fmt::format("+{}", section.offset);
  } else {
    ElfFile file = TRY(ElfFile::open(section.object));
    place.offset = TRY(find_function(file, section.function)) + section.offset;
  }
  return ProgramProbe{section.event, {std::move(place)}, {}};
}

PrologueSetting prologue_setting(const ProbedCode& code) {
  return {.machine = code.machine(), .symbol_address = [&code](std::string_view name) {
            return code.symbols().address_of(name.substr(name.find(':') + 1));
          }};
}

bool is_same(std::span<const bpf_insn> one, std::span<const bpf_insn> other) {
  return std::ranges::equal(std::as_bytes(one), std::as_bytes(other));
}

}  // namespace

Result<std::vector<ProgramProbe>> plan_program_probes(
    const ProgramSection& section, const CodeSearch& search,
    const std::function<void(std::string_view)>& note) {
  if (section.kind != ProgramSection::Kind::kProbe) return std::vector<ProgramProbe>();
  if (section.definition.empty()) return std::vector{TRY(probe_of_symbol(section))};
  RequestedProbe request = TRY(parse_probe(section.definition));
  if (!request.group.empty() || !request.sdt_name.empty())
    return fail(ErrorCode::kUnsupported,
                "'{}': a program's section names an event without a group, and a place in code; "
                "usdt/PATH:PROVIDER:NAME is for probes of the program itself",
                request.text);
  ProbedCode code =
      TRY(ProbedCode::open({.executable = section.object, .module = section.module}, search));
  std::vector<ProgramProbe> probes;
  for (ProbePlan& plan : TRY(plan_probes(request, code, {.no_inlines = section.no_inlines}))) {
    if (note)
      for (const std::string& text : plan.notes) note(text);
    // A return's event has the given name, without "__return".
    std::string event = request.event.empty() ? plan.event : request.event;
    std::vector<bpf_insn> prologue = TRY(argument_prologue(plan.place, prologue_setting(code)));
    auto same = std::ranges::find_if(probes, [&](const ProgramProbe& probe) {
      return probe.event == event && is_same(probe.prologue, prologue);
    });
    if (same == probes.end()) same = probes.insert(same, {event, {}, std::move(prologue)});
    same->places.push_back(std::move(plan.place));
  }
  return probes;
}

}  // namespace sonde
