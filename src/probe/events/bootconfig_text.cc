#include "probe/events/bootconfig_text.h"

#include <algorithm>

namespace sonde {
namespace {

/// What follows the name in a definition. SYMBOL%return is the form without "r:" in front.
std::string boot_place(const ProbePlace& place) {
  std::string text = place.symbol;
  if (place.at_return) {
    if (text.ends_with("+0")) text.resize(text.size() - 2);
    text += "%return";
  }
  for (const std::string& argument : place.arguments) text += ' ' + argument;
  return text;
}

/// A value ends at its own quote.
std::string quoted(const std::string& text) {
  char quote = text.find('\'') == std::string::npos ? '\'' : '"';
  return quote + text + quote;
}

}  // namespace

Result<std::string> bootconfig_text(const std::vector<NamedProbe>& probes) {
  std::vector<std::pair<std::string, std::string>> events;
  for (const NamedProbe& probe : probes) {
    if (!probe.place.in_kernel())
      return fail(ErrorCode::kUnsupported,
                  "--bootconfig is for probes of the kernel: at boot there is no {}",
                  probe.place.object);
    auto known =
        std::ranges::find(events, probe.event.name, &std::pair<std::string, std::string>::first);
    if (known == events.end())
      events.emplace_back(probe.event.name, quoted(boot_place(probe.place)));
    else
      known->second += ", " + quoted(boot_place(probe.place));
  }
  std::string text;
  for (const auto& [name, places] : events)
    text += fmt::format("ftrace.event.kprobes.{}.probes = {}\n", name, places);
  return text;
}

}  // namespace sonde
