#include "bpf/program_section.h"

#include <algorithm>

#include "base/text.h"

namespace sonde {
namespace {

using Kind = ProgramSection::Kind;

bool is_word(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

/// "main", "main+0x10", "main%return"
Result<> parse_place(std::string_view place, ProgramSection& section) {
  size_t percent = place.find('%');
  if (percent != std::string_view::npos) {
    if (place.substr(percent + 1) != "return")
      return fail(ErrorCode::kBadEvent, "'{}': only %return is supported", place);
    section.at_return = true;
    place = place.substr(0, percent);
  }
  size_t plus = place.find('+');
  if (plus != std::string_view::npos) {
    std::optional<uint64_t> offset = parse_number(place.substr(plus + 1));
    if (!offset) return fail(ErrorCode::kBadEvent, "'{}' has no number after '+'", place);
    section.offset = *offset;
    place = place.substr(0, plus);
  }
  if (place.find(':') != std::string_view::npos || place.find('@') != std::string_view::npos)
    return fail(ErrorCode::kUnsupported,
                "'{}': probes at source lines are not supported: name a function", place);
  if (place.empty()) return fail(ErrorCode::kBadEvent, "a probe needs a function");
  section.function = place;
  return {};
}

/// An event name made from a function name ("foo.part.0").
std::string event_name_of(std::string_view function) {
  std::string name(function);
  for (char& c : name)
    if (!is_word({&c, 1})) c = '_';
  return name;
}

/// perf's form: settings terminated by ';', then a definition as for `probe`. Probes of a run never
/// meet another of their name, so force= has nothing to decide.
Result<ProgramSection> parse_probe(std::string_view text) {
  ProgramSection section{.kind = Kind::kProbe};
  while (true) {
    text = trim(text);
    size_t end = text.find(';');
    if (end == std::string_view::npos) break;
    std::string_view setting = trim(text.substr(0, end));
    size_t equals = setting.find('=');
    std::string_view key = trim(setting.substr(0, equals));
    std::string_view value =
        equals == std::string_view::npos ? std::string_view() : trim(setting.substr(equals + 1));
    if (key == "exec")
      section.object = value;
    else if (key == "module")
      section.module = value;
    else if (key == "inlines")
      section.no_inlines = value.starts_with('n') || value.starts_with('0');
    else if (key != "force")
      return fail(ErrorCode::kBadEvent,
                  "'{}' is not one of exec=, module=, inlines=, force=", setting);
    text.remove_prefix(end + 1);
  }
  if (text.empty()) return fail(ErrorCode::kBadEvent, "a probe needs a function");
  section.definition = text;
  return section;
}

/// "kprobe/tcp_sendmsg+8", "uretprobe//usr/bin/x:main"
Result<ProgramSection> parse_libbpf_probe(std::string_view place, bool user, bool at_return) {
  ProgramSection section{.kind = Kind::kProbe};
  if (user) {
    size_t colon = place.rfind(':');
    if (colon == std::string_view::npos)
      return fail(ErrorCode::kBadEvent, "'{}': expected PATH:FUNCTION", place);
    section.object = place.substr(0, colon);
    place = place.substr(colon + 1);
  }
  TRY(parse_place(place, section));
  section.at_return |= at_return;
  section.event = event_name_of(section.function);
  return section;
}

}  // namespace

Result<ProgramSection> parse_program_section(std::string_view name) {
  auto after = [&](std::string_view prefix) {
    return name.starts_with(prefix) ? name.substr(prefix.size()) : std::string_view();
  };
  for (std::string_view prefix : {"tracepoint/", "tp/"}) {
    std::string_view rest = after(prefix);
    size_t slash = rest.find('/');
    if (rest.empty() || slash == std::string_view::npos) continue;
    return ProgramSection{.kind = Kind::kTracepoint,
                          .system = std::string(rest.substr(0, slash)),
                          .event = std::string(rest.substr(slash + 1))};
  }
  struct Form {
    std::string_view prefix;
    bool user, at_return;
  };
  constexpr Form kForms[] = {{"kprobe/", false, false},
                             {"kretprobe/", false, true},
                             {"uprobe/", true, false},
                             {"uretprobe/", true, true}};
  for (const Form& form : kForms)
    if (std::string_view rest = after(form.prefix); !rest.empty())
      return parse_libbpf_probe(rest, form.user, form.at_return);
  for (std::string_view prefix : {"raw_tp/", "raw_tracepoint/", "raw_tp.w/", "tp_btf/", "usdt/",
                                  "fentry/", "fexit/", "uprobe.multi/", "kprobe.multi/"})
    if (name.starts_with(prefix)) return ProgramSection{.kind = Kind::kAttachedByLibbpf};
  size_t colon = name.find(':');
  if (colon != std::string_view::npos && is_word(name.substr(0, colon)) &&
      name.find_first_of("=;% \n") == std::string_view::npos)
    return ProgramSection{.kind = Kind::kTracepoint,
                          .system = std::string(name.substr(0, colon)),
                          .event = std::string(name.substr(colon + 1))};
  if (name.find('=') != std::string_view::npos) return parse_probe(name);
  return fail(ErrorCode::kBadEvent,
              "section '{}' is not one of SYSTEM:EVENT, NAME=FUNCTION, tracepoint/…, kprobe/…, "
              "uprobe/…, raw_tp/…",
              name);
}

}  // namespace sonde
