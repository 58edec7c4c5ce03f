#include "ftrace/graph_line.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace sonde {
namespace {

constexpr std::string_view kUnit = " us";

/// "+ 80.908 us": the mark only repeats the magnitude.
std::optional<uint64_t> parse_duration(std::string_view field) {
  constexpr uint64_t kNsPerUs = 1000;
  if (!field.ends_with(kUnit)) return std::nullopt;
  field.remove_suffix(kUnit.size());
  field = field.substr(std::min(field.find_first_of("0123456789"), field.size()));
  uint64_t us = 0, ns = 0;
  auto [point, error] = std::from_chars(field.data(), field.data() + field.size(), us);
  if (error != std::errc() || us > UINT64_MAX / kNsPerUs - 1) return std::nullopt;
  field.remove_prefix(static_cast<size_t>(point - field.data()));
  if (!field.empty() && field.front() != '.') return std::nullopt;
  uint64_t worth = kNsPerUs / 10;
  for (char digit : field.substr(std::min<size_t>(1, field.size()))) {
    if (digit < '0' || digit > '9') return std::nullopt;
    ns += static_cast<uint64_t>(digit - '0') * worth;
    worth /= 10;
  }
  return us * kNsPerUs + ns;
}

/// "} /* vfs_read [mod] = 0x10 */": the name.
std::string_view name_in_comment(std::string_view text) {
  constexpr std::string_view kOpen = "/* ", kClose = " */";
  size_t start = text.find(kOpen);
  if (start == std::string_view::npos || !text.ends_with(kClose)) return {};
  text = text.substr(start + kOpen.size());
  text.remove_suffix(std::min(text.size(), kClose.size()));
  for (std::string_view behind : {" = ", " <-", " ret="}) text = text.substr(0, text.find(behind));
  return text.starts_with("= ") || text.starts_with("ret=") || text.starts_with("<-")
             ? std::string_view()
             : trim(text);
}

void read_function(std::string_view text, GraphLine& line) {
  using enum GraphLine::Kind;
  text = trim(text);
  if (text.starts_with('}')) {
    line.kind = kReturn;
    line.name = name_in_comment(text);
    return;
  }
  size_t parenthesis = text.find('(');
  if (parenthesis == std::string_view::npos || parenthesis == 0 || text.starts_with("/*")) return;
  line.name = trim(text.substr(0, parenthesis));
  std::string_view code = trim(text.substr(0, text.find("/*", parenthesis)));
  if (code.ends_with('{'))
    line.kind = kEntry;
  else if (code.ends_with(';'))
    line.kind = kCall;
}

GraphLine lost_line(std::string_view line) {
  GraphLine lost;
  size_t start = line.find("[LOST ");
  if (start == std::string_view::npos) return lost;
  std::string_view count = line.substr(start + 6);
  std::string_view cpu = line.substr(4);
  (void)std::from_chars(cpu.data(), cpu.data() + cpu.size(), lost.cpu);
  auto end = std::from_chars(count.data(), count.data() + count.size(), lost.lost);
  if (end.ec == std::errc()) lost.kind = GraphLine::Kind::kLost;
  return lost;
}

/// "perf-ex-147   =>    <idle>-0"
void read_switch(std::string_view text, GraphLine& line) {
  constexpr std::string_view kArrow = " => ";
  size_t arrow = text.find(kArrow);
  if (arrow == std::string_view::npos) return;
  line.kind = GraphLine::Kind::kSwitch;
  line.from = trim(text.substr(0, arrow));
  line.to = trim(text.substr(arrow + kArrow.size()));
}

/// The CPU before the first parenthesis: " 0) ", "123.4 |   1)  ".
std::optional<size_t> read_cpu(std::string_view line, uint32_t& cpu) {
  size_t close = line.find(')');
  if (close == std::string_view::npos || close == 0) return std::nullopt;
  size_t start = close;
  while (start > 0 && line[start - 1] >= '0' && line[start - 1] <= '9') --start;
  auto end = std::from_chars(line.data() + start, line.data() + close, cpu);
  if (end.ec != std::errc()) return std::nullopt;
  return close + 1;
}

}  // namespace

GraphLine parse_graph_line(std::string_view text) {
  if (text.starts_with("CPU:")) return lost_line(text);
  GraphLine line;
  if (text.empty() || text.front() == '#') return line;
  std::optional<size_t> start = read_cpu(text, line.cpu);
  if (!start) return line;
  text.remove_prefix(*start);
  if (text.find('|') == std::string_view::npos) {
    read_switch(text, line);
    return line;
  }
  // The duration is the first column that is empty or ends with the unit.
  while (true) {
    size_t bar = text.find('|');
    if (bar == std::string_view::npos) return line;
    std::string_view field = trim(text.substr(0, bar));
    text.remove_prefix(bar + 1);
    line.duration_ns = parse_duration(field);
    if (field.empty() || line.duration_ns) break;
  }
  read_function(text, line);
  return line;
}

}  // namespace sonde
