#include "event/parser/event_modifiers.h"

#include <algorithm>

namespace sonde {
namespace {

/// The first of u, k, h excludes all three; each letter then includes its own again.
void begin_exclusion(abi::EventAttr& attr) {
  if (attr.exclude_user || attr.exclude_kernel || attr.exclude_hv) return;
  attr.exclude_user = attr.exclude_kernel = attr.exclude_hv = 1;
}

void begin_host_guest(ParsedEvent& event) {
  if (event.host_guest_given) return;
  event.host_guest_given = true;
  event.attr.exclude_host = event.attr.exclude_guest = 1;
}

void leave_guests_out(ParsedEvent& event) {
  if (!event.host_guest_given) event.attr.exclude_guest = 1;
}

bool apply(char letter, bool is_leader, ParsedEvent& event) {
  abi::EventAttr& attr = event.attr;
  switch (letter) {
    case 'u':
      begin_exclusion(attr);
      leave_guests_out(event);
      attr.exclude_user = 0;
      event.exclude_given = true;
      break;
    case 'k':
      begin_exclusion(attr);
      attr.exclude_kernel = 0;
      event.exclude_given = true;
      break;
    case 'h':
      begin_exclusion(attr);
      attr.exclude_hv = 0;
      event.exclude_given = true;
      break;
    case 'G':
      begin_host_guest(event);
      attr.exclude_guest = 0;
      break;
    case 'H':
      begin_host_guest(event);
      attr.exclude_host = 0;
      break;
    case 'I':
      attr.exclude_idle = 1;
      break;
    case 'p':
      if (attr.precise_ip == 3) return false;
      attr.precise_ip = (attr.precise_ip + 1u) & 3u;
      leave_guests_out(event);
      break;
    case 'P':
      event.precise_max = true;
      break;
    case 'S':
      event.sample_read = true;
      break;
    case 'D':
      if (is_leader) attr.pinned = 1;
      break;
    case 'e':
      if (is_leader) attr.exclusive = 1;
      break;
    case 'W':
      event.weak_group = true;
      break;
    case 'b':
      event.bpf_counter = true;
      break;
    case 'X':
      event.keep_group = true;
      break;
    default:
      return false;
  }
  return true;
}

}  // namespace

bool modifiers_are_valid(std::string_view letters) {
  constexpr std::string_view kLetters = "ukhGHIpPSDeWbX";
  for (char letter : letters) {
    if (kLetters.find(letter) == std::string_view::npos) return false;
    if (std::ranges::count(letters, letter) > (letter == 'p' ? 3 : 1)) return false;
  }
  return !letters.empty();
}

void apply_event_modifiers(std::string_view letters, ParsedEvent& event) {
  event.attr.exclude_guest = 0;
  for (char letter : letters) apply(letter, true, event);
}

bool apply_group_modifiers(std::string_view letters, bool is_leader, ParsedEvent& event) {
  return std::ranges::all_of(letters, [&](char letter) { return apply(letter, is_leader, event); });
}

}  // namespace sonde
