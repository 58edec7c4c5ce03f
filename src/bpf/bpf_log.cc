#include "bpf/bpf_log.h"

#include <cerrno>
#include <cstring>

#include <bpf/libbpf.h>

#include <cstdarg>
#include <cstdio>
#include <span>
#include <vector>

#include "base/text.h"

namespace sonde {
namespace {

// libbpf's callback has no context argument, so the text it fills belongs to the thread.
thread_local std::string collected;
thread_local libbpf_print_fn_t before = nullptr;

int collect(libbpf_print_level level, const char* format, va_list arguments) {
  if (level == LIBBPF_DEBUG) return 0;
  // The verifier's log arrives as one message, which may be long.
  va_list again;
  va_copy(again, arguments);
  int size = std::vsnprintf(nullptr, 0, format, arguments);
  if (size > 0) {
    size_t before_size = collected.size();
    collected.resize(before_size + static_cast<size_t>(size) + 1);
    (void)std::vsnprintf(collected.data() + before_size, static_cast<size_t>(size) + 1, format,
                         again);
    collected.pop_back();
  }
  va_end(again);
  return size;
}

/// The verifier's last statement about the program, before its statistics.
std::string_view verifiers_verdict(std::string_view text) {
  size_t begin = text.find("-- BEGIN PROG LOAD LOG --");
  if (begin == std::string_view::npos) return {};
  std::string_view last;
  std::vector<std::string_view> lines = split(text.substr(begin), '\n');
  for (std::string_view line : std::span(lines).subspan(1)) {
    if (line.starts_with("-- END") || line.starts_with("processed ")) break;
    if (!trim(line).empty()) last = trim(line);
  }
  return last;
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
  std::string_view verdict = verifiers_verdict(collected);
  return verdict.empty() ? found : fmt::format("{}: {}", found, verdict);
}

std::unexpected<Error> bpf_refused(const BpfLog& log, std::string_view action,
                                   std::string_view program) {
  int error = errno;
  std::string cause = log.cause();
  return fail(error == EPERM || error == EACCES ? ErrorCode::kPermission : ErrorCode::kUnsupported,
              "cannot {} {}: {}{}{}", action, program, std::strerror(error),
              cause.empty() ? "" : ": ", cause);
}

}  // namespace sonde
