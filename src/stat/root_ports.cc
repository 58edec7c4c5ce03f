#include "stat/root_ports.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <set>

#include "base/file.h"
#include "base/text.h"

namespace sonde {
namespace {

constexpr std::string_view kPmuPrefix = "uncore_iio_";
constexpr std::string_view kDiePrefix = "die";

struct Metric {
  std::string_view title;
  unsigned event, umask;
};
// Intel's uncore reference manuals: DATA_REQ_OF_CPU is 0x83, DATA_REQ_BY_CPU 0xc0; MEM_READ is unit
// mask 4, MEM_WRITE 1. All parts of the stack (ch_mask) and all kinds of requests (fc_mask).
constexpr Metric kMetrics[kRootPortMetrics] = {{"Inbound Read(MB)", 0x83, 0x04},
                                               {"Inbound Write(MB)", 0x83, 0x01},
                                               {"Outbound Read(MB)", 0xc0, 0x04},
                                               {"Outbound Write(MB)", 0xc0, 0x01}};

std::optional<uint32_t> number(std::string_view text, int base, uint32_t most) {
  uint32_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size() || value > most) return std::nullopt;
  return value;
}

std::optional<uint32_t> number_after(std::string_view prefix, std::string_view name) {
  if (!name.starts_with(prefix)) return std::nullopt;
  return number(name.substr(prefix.size()), 10, UINT32_MAX);
}

/// "0000:3a"; blanks around it are the kernel's newline.
std::optional<RootPort> parse_port(std::string_view text) {
  constexpr uint32_t kMaxBus = 0xff;
  constexpr int kHex = 16;
  text = trim(text);
  size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  auto domain = number(text.substr(0, colon), kHex, UINT32_MAX);
  auto bus = number(text.substr(colon + 1), kHex, kMaxBus);
  if (!domain || !bus) return std::nullopt;
  return RootPort{.domain = *domain, .bus = *bus};
}

std::vector<std::string> entries_of(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator at(directory, error), end; !error && at != end;
       at.increment(error))
    names.push_back(at->path().filename());
  return names;
}

void add_ports_of(uint32_t pmu, const std::string& directory, std::vector<RootPort>& ports) {
  constexpr size_t kMaxSize = 4096;
  for (const std::string& name : entries_of(directory)) {
    std::optional<uint32_t> die = number_after(kDiePrefix, name);
    if (!die) continue;
    Result<std::string> text = read_file(fmt::format("{}/{}", directory, name), kMaxSize);
    std::optional<RootPort> port = text ? parse_port(*text) : std::nullopt;
    if (!port) continue;
    port->pmu = pmu;
    port->die = *die;
    ports.push_back(*port);
  }
}

}  // namespace

Result<std::vector<RootPort>> read_root_ports(const std::string& devices) {
  std::vector<RootPort> ports;
  for (const std::string& name : entries_of(devices))
    if (std::optional<uint32_t> pmu = number_after(kPmuPrefix, name))
      add_ports_of(*pmu, fmt::format("{}/{}", devices, name), ports);
  if (ports.empty())
    return fail(ErrorCode::kBadEvent,
                "no PCIe root ports can be measured: {} has no {}*/{}*, which Linux has for Intel "
                "servers from Skylake on",
                devices, kPmuPrefix, kDiePrefix);
  std::ranges::sort(ports);
  return ports;
}

bool names_root_ports(std::string_view text) {
  return std::ranges::all_of(split(text, ','),
                             [](std::string_view part) { return parse_port(part).has_value(); });
}

Result<std::vector<RootPort>> choose_root_ports(const std::vector<RootPort>& ports,
                                                std::string_view names) {
  if (names.empty()) return ports;
  std::vector<RootPort> chosen;
  for (std::string_view part : split(names, ',')) {
    std::optional<RootPort> wanted = parse_port(part);
    if (!wanted)
      return fail(ErrorCode::kBadEvent,
                  "'{}' is not a root port: write domain and bus, like 0000:3d (`iostat list`)",
                  part);
    auto found = std::ranges::find(ports, wanted->name(), &RootPort::name);
    if (found == ports.end())
      return fail(ErrorCode::kBadEvent,
                  "there is no root port {}; `iostat list` has those there are", wanted->name());
    if (std::ranges::find(chosen, *found) == chosen.end()) chosen.push_back(*found);
  }
  return chosen;
}

std::string root_port_list(std::span<const RootPort> ports) {
  std::string text;
  for (const RootPort& port : ports)
    text += fmt::format("S{}-{}{}<{}>\n", port.die, kPmuPrefix, port.pmu, port.name());
  return text;
}

std::string_view root_port_title(size_t metric) {
  return kMetrics[metric].title;
}

std::string root_port_events(std::span<const RootPort> ports) {
  std::set<uint32_t> pmus;
  for (const RootPort& port : ports) pmus.insert(port.pmu);
  std::vector<std::string> groups;
  for (uint32_t pmu : pmus) {
    std::vector<std::string> events;
    for (const Metric& metric : kMetrics)
      events.push_back(fmt::format("{}{}/event={:#04x},umask={:#04x},ch_mask=0xF,fc_mask=0x07/",
                                   kPmuPrefix, pmu, metric.event, metric.umask));
    groups.push_back("{" + join(events, ",") + "}");
  }
  return join(groups, ",");
}

}  // namespace sonde
