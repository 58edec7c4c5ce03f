#include "event/parser/event_breakpoint.h"

#include "base/text.h"
#include "event/parser/event_modifiers.h"

namespace sonde {
namespace {

constexpr std::string_view kAccessLetters = "rwx";  // by bit in perf_event_attr.bp_type
constexpr uint32_t kReadWrite = 3;
constexpr uint32_t kExecute = 4;
constexpr std::string_view kExpectedAccess = "expected access: r, w or x";

/// The length of an execution breakpoint: one `long`.
constexpr uint64_t kExecuteLength = sizeof(long);
constexpr uint64_t kWatchLength = 4;

/// "rw" as perf_event_attr.bp_type; nothing if a letter is unknown or repeated.
std::optional<uint32_t> parse_access(std::string_view letters) {
  uint32_t bits = 0;
  for (char letter : letters) {
    size_t bit = kAccessLetters.find(letter);
    if (bit == std::string_view::npos || (bits & (1u << bit)) != 0) return std::nullopt;
    bits |= 1u << bit;
  }
  return letters.empty() ? std::nullopt : std::optional(bits);
}

}  // namespace

Result<> parse_breakpoint(std::string_view text, const EventErrors& errors, ParsedEvent& event) {
  std::vector<std::string_view> parts = split(text, ':');
  std::string_view where = parts[1];
  size_t slash = where.find('/');
  std::optional<uint64_t> address = parse_number(where.substr(0, slash));
  if (!address) return errors.fail(where, "expected an address");
  if (parts.size() > 4) return errors.fail(parts[4], "parser error");

  size_t next = 2;
  uint32_t access = kReadWrite;
  if (parts.size() > next)
    if (std::optional<uint32_t> given = parse_access(parts[next])) {
      access = *given;
      ++next;
    }
  uint64_t length = access == kExecute ? kExecuteLength : kWatchLength;
  if (slash != std::string_view::npos) {
    std::optional<uint64_t> given = parse_number(where.substr(slash + 1));
    if (!given) return errors.fail(where.substr(slash + 1), "expected a length");
    length = *given;
  }
  event.attr.type = abi::kTypeBreakpoint;
  event.attr.bp_addr = *address;
  event.attr.bp_len = length;
  event.attr.bp_type = access;
  if (parts.size() > next + 1) return errors.fail(parts[next], kExpectedAccess);
  if (parts.size() == next) return {};
  if (!modifiers_are_valid(parts[next]))
    return errors.fail(parts[next], next == 2 ? kExpectedAccess : "Bad modifier");
  apply_event_modifiers(parts[next], event);
  return {};
}

}  // namespace sonde
