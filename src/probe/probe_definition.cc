#include "probe/probe_definition.h"

#include <elf.h>

#include <string>
#include <unordered_set>

#include "base/foreign/plain_name.h"
#include "base/text.h"
#include "elf/sdt_notes.h"
#include "probe/usdt/fetch_argument.h"

namespace sonde {
namespace {

bool has_control(std::string_view text) {
  return std::ranges::any_of(
      text, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
}

}  // namespace

std::string probe_definition(std::string_view group, std::string_view name,
                             const ProbePlace& place) {
  std::string text = fmt::format("{}:{}/{} ", place.at_return ? 'r' : 'p', group, name);
  if (place.in_kernel()) {
    text += place.symbol;
  } else {
    text += fmt::format("{}:{:#x}", place.object, place.offset.value);
    if (place.semaphore.value != 0) text += fmt::format("({:#x})", place.semaphore.value);
  }
  for (const std::string& argument : place.arguments) text += ' ' + argument;
  return text;
}

Result<> check_definition(std::string_view group, std::string_view name, const ProbePlace& place) {
  std::string_view where = place.in_kernel() ? place.symbol : place.object;
  if (where.contains(' ') || has_control(where))
    return fail(ErrorCode::kUnsupported,
                "no probe can be made in {}: the kernel's definitions of probes end at blanks and "
                "control characters: rename it, or probe a copy",
                printable_name(where));
  for (std::string_view part : {group, name})
    if (!is_plain_name(part))
      return fail(ErrorCode::kUnsupported,
                  "'{}' is no name for a probe: give one of letters, digits and '_'",
                  printable_name(part));
  for (std::string_view argument : place.arguments)
    if (has_control(argument))
      return fail(ErrorCode::kUnsupported,
                  "the argument '{}' of a probe has control characters: leave them out",
                  printable_name(argument));
  return {};
}

std::string event_fields(const ProbePlace& place) {
  std::string fields;
  for (std::string_view argument : place.arguments) {
    size_t type = argument.rfind(':');
    fields += argument.substr(0, argument.find('='));
    if (type != std::string_view::npos) fields += argument.substr(type);
    fields += ' ';
  }
  return fields;
}

Result<FileOffset> find_function(const ElfFile& file, std::string_view name) {
  std::optional<ElfAddr> found;
  for (SymbolSection table : {SymbolSection::kSymtab, SymbolSection::kDynsym})
    file.for_each_symbol(table, [&](const ElfSymbol& symbol) {
      bool is_code = symbol.type == STT_FUNC && symbol.section != SHN_UNDEF;
      if (!found && is_code && symbol.name == name) found = ElfAddr(symbol.value);
    });
  if (!found) return fail(ErrorCode::kNotFound, "{} has no function '{}'", file.name(), name);
  std::optional<FileOffset> offset = file.segments().offset_of(*found);
  if (!offset)
    return fail(ErrorCode::kUnsupported, "{}: function '{}' is not in any segment", file.name(),
                name);
  return *offset;
}

std::string SdtProbe::event_name() const {
  return fmt::format("sdt_{}:{}", provider, name);
}

bool SdtProbe::has_plain_name() const {
  return is_plain_name(provider) && is_plain_name(name);
}

Error names_not_plain(std::string_view object, const std::vector<std::string>& names) {
  std::string more = names.size() > 1 ? fmt::format(" and {} more", names.size() - 1) : "";
  return {ErrorCode::kUnsupported,
          fmt::format("{}: the USDT probe '{}'{} cannot be an event: only letters, digits and "
                      "'_', '.', ':', '-' may be in its name; 'list sdt_*:*@{}' shows the others",
                      printable_name(object), printable_name(names.front()), more,
                      printable_name(object))};
}

std::vector<SdtProbe> find_sdt_probes(const ElfFile& file, const std::string& path,
                                      std::string_view provider, std::string_view name) {
  std::vector<SdtProbe> found;
  // A place may occur in several notes: the compiler duplicates code.
  std::unordered_set<std::string> known;
  for (const SdtNote& note : sdt_notes(file)) {
    if (!glob_match(provider, note.provider) || !glob_match(name, note.name)) continue;
    std::optional<FileOffset> offset = file.segments().offset_of(note.location);
    if (!offset) continue;
    SdtProbe probe{.provider = std::string(note.provider),
                   .name = std::string(note.name),
                   .place = {.object = path, .offset = *offset}};
    if (note.semaphore.value != 0)
      probe.place.semaphore = file.segments().offset_of(note.semaphore).value_or(FileOffset(0));
    size_t number = 0;
    for (std::string_view operand : split_operands(note.arguments)) {
      ++number;
      if (std::optional<std::string> fetch = fetch_argument(operand, file.machine()))
        probe.place.arguments.push_back(fmt::format("arg{}={}", number, *fetch));
      else
        probe.not_fetched.emplace_back(operand);
    }
    std::string key = fmt::format("{} {} {} {}", probe.name, probe.place.offset.value,
                                  probe.place.semaphore.value, note.arguments);
    if (known.insert(std::move(key)).second) found.push_back(std::move(probe));
  }
  return found;
}

}  // namespace sonde
