// For event_test.py: prints our interpretation of each line of standard input.
//
//   TEXT   an argument of -e: "=TEXT", then a line per event: name, tab, attr as in `evlist -v`;
//          or "!" and the error, whose lines are joined by "\n" written out
//   @HEX   the bytes of a perf_event_attr in the host's byte order: "=@HEX", then its name, tab
//          and attr
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iostream>
#include <string>

#include "base/text.h"
#include "event/parser/event_parser.h"
#include "event/pmu/attr_text.h"
#include "event/pmu/event_name.h"

namespace {

sonde::abi::EventAttr attr_of_hex(std::string_view hex) {
  std::string bytes;
  for (; hex.size() >= 2; hex.remove_prefix(2))
    bytes += static_cast<char>(sonde::parse_hex(hex.substr(0, 2)).value_or(0));
  sonde::abi::EventAttr attr;
  std::memcpy(&attr, bytes.data(), std::min(bytes.size(), sizeof attr));
  return attr;
}

std::string one_line(std::string_view text) {
  std::string line;
  for (char c : text) line += c == '\n' ? "\\n" : std::string(1, c);
  return line;
}

}  // namespace

int main() {
  sonde::PmuCatalog pmus;
  sonde::Tracefs tracefs;
  sonde::EventSources sources{.pmus = pmus, .tracefs = tracefs, .tool = "perf"};
  std::string line;
  while (std::getline(std::cin, line)) {
    fmt::print("={}\n", line);
    if (line.starts_with('@')) {
      sonde::abi::EventAttr attr = attr_of_hex(std::string_view(line).substr(1));
      fmt::print("{}\t{}\n", sonde::event_name(attr), sonde::attr_line(attr));
      continue;
    }
    auto events = sonde::parse_events(line, sources);
    if (!events) {
      fmt::print("!{}\n", one_line(events.error().message));
      continue;
    }
    for (const sonde::ParsedEvent& event : *events)
      fmt::print("{}\t{}\n", event.name, sonde::attr_line(event.attr));
  }
}
