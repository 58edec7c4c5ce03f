#include "bpf/bpf_log.h"

#include <bpf/libbpf.h>

#include <array>
#include <cstdarg>
#include <cstdio>

#include "base/text.h"

namespace sonde {
namespace {

// libbpf's callback has no room for an owner, so the text it fills belongs to the thread.
thread_local std::string collected;
thread_local libbpf_print_fn_t before = nullptr;

int collect(libbpf_print_level level, const char* format, va_list arguments) {
  if (level == LIBBPF_DEBUG) return 0;
  std::array<char, 1024> line{};
  int size = std::vsnprintf(line.data(), line.size(), format, arguments);
  if (size > 0) collected += line.data();
  return size;
}

}  // namespace

BpfLog::BpfLog() {
  collected.clear();
  before = libbpf_set_print(collect);
}

BpfLog::~BpfLog() {
  libbpf_set_print(before);
}

const std::string& BpfLog::text() const {
  return collected;
}

std::string BpfLog::cause() const {
  std::string found;
  for (std::string_view line : split(collected, '\n'))
    if (!trim(line).empty() && !line.starts_with("-- ") && found.empty()) found = trim(line);
  return found;
}

}  // namespace sonde
