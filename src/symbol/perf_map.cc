#include "symbol/perf_map.h"

#include <elf.h>

#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "store/process_file.h"
#include "symbol/generated_name.h"

namespace sonde {
namespace {

constexpr size_t kMaxMapBytes = size_t{1} << 30;

/// Takes a hexadecimal number, with or without 0x, and the blanks after it from the front of
/// `line`.
std::optional<uint64_t> take_hex(std::string_view& line) {
  size_t end = std::min(line.find_first_of(" \t"), line.size());
  std::optional<uint64_t> number = parse_hex(line.substr(0, end));
  size_t next = line.find_first_not_of(" \t", end);
  line.remove_prefix(std::min(next, line.size()));
  return number;
}

}  // namespace

PerfMap PerfMap::parse(std::string given) {
  PerfMap map;
  SymbolTableBuilder builder;
  std::string& text = builder.keep(std::move(given));
  text.push_back('\n');  // so that the last line's NUL has a place
  for (size_t at = 0; at < text.size();) {
    size_t line_end = text.find('\n', at);
    std::string_view line(text.data() + at, line_end - at);
    at = line_end + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    std::optional<uint64_t> start = take_hex(line);
    std::optional<uint64_t> size = take_hex(line);
    if (!start || !size || line.empty() || line.front() == '\0') {
      ++map.bad_lines;
      continue;
    }
    line = line.substr(0, kMaxGeneratedName);
    size_t name = static_cast<size_t>(line.data() - text.data());
    text[name + make_generated_name_readable(&text[name], line.size())] = '\0';
    uint64_t end = *start + *size < *start ? UINT64_MAX : *start + *size;
    builder.add({.start = *start,
                 .end = end,
                 .name_chars = line.data(),
                 .type = STT_FUNC,
                 .binding = STB_GLOBAL});
  }
  builder.settle_last_wins();
  map.table = std::move(builder).build();
  return map;
}

Result<PerfMap> PerfMap::read(const std::string& path) {
  return parse(TRY(read_file(path, kMaxMapBytes)));
}

Result<PerfMap> PerfMap::read_of(pid_t pid, const std::string& path) {
  Fd file = TRY(open_process_file(path, pid));
  return parse(TRY(read_all(file.get(), path, kMaxMapBytes)));
}

std::optional<pid_t> innermost_pid(pid_t pid, const std::string& proc) {
  auto status = read_file(fmt::format("{}/{}/status", proc, pid));
  if (!status) return std::nullopt;
  for (std::string_view line : split(*status, '\n')) {
    if (!line.starts_with("NSpid:")) continue;
    std::string_view last = line.substr(line.find_last_of(" \t") + 1);
    if (auto number = parse_number(last)) return static_cast<pid_t>(*number);
  }
  return std::nullopt;
}

std::vector<std::string> perf_map_paths(pid_t pid, const std::string& proc,
                                        const std::string& tmp) {
  std::vector<std::string> paths;
  if (auto inner = proc.empty() ? std::nullopt : innermost_pid(pid, proc))
    paths.push_back(fmt::format("{}/{}/root/tmp/perf-{}.map", proc, pid, *inner));
  paths.push_back(fmt::format("{}/perf-{}.map", tmp, pid));
  return paths;
}

}  // namespace sonde
