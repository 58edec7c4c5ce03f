// Values with names: flags, enumerators, signals.
#include "trace/arguments/arg_context.h"

namespace sonde {

void print_flags(ArgContext& context) {
  // An unsigned long in mmap and mount, an int elsewhere: bits above the int have no meaning
  // anywhere.
  append_flags(context, context.arg().words, static_cast<uint32_t>(context.value));
}

void print_choice(ArgContext& context) {
  append_choice(context, context.arg().words, static_cast<uint32_t>(context.value));
}

void append_signal(std::string& out, uint64_t signal) {
  constexpr uint64_t kFirstRealtime = 32, kCount = 64;
  std::string_view name = word_of(WordSet::k_signal, signal);
  if (!name.empty()) {
    out += name;
  } else if (signal >= kFirstRealtime && signal <= kCount) {
    out += signal == kFirstRealtime ? "SIGRTMIN" : "SIGRT_";
    if (signal != kFirstRealtime) append_unsigned(out, signal - kFirstRealtime);
  } else {
    append_decimal(out, static_cast<int32_t>(signal));
  }
}

void print_signal(ArgContext& context) {
  auto signal = static_cast<uint32_t>(context.value);
  size_t before = context.out.size();
  append_signal(context.out, signal);
  constexpr std::string_view kPrefix = "SIG";
  bool has_prefix = std::string_view(context.out).substr(before).starts_with(kPrefix);
  if (context.is_perf() && !context.style.show_prefixes && has_prefix)
    context.out.erase(before, kPrefix.size());
}

void print_access(ArgContext& context) {
  auto mode = static_cast<uint32_t>(context.value);
  if (!context.is_perf() || context.style.show_prefixes)
    return append_full_flags(context.out, WordSet::k_access, mode);
  // perf's format: letters.
  constexpr uint32_t kRead = 4, kWrite = 2, kExecute = 1;
  if (mode == 0) context.out += 'F';
  if ((mode & kRead) != 0) context.out += 'R';
  if ((mode & kWrite) != 0) context.out += 'W';
  if ((mode & kExecute) != 0) context.out += 'X';
  uint32_t left = mode & ~(kRead | kWrite | kExecute);
  if (left == 0) return;
  if (left != mode) context.out += '|';
  append_hex(context.out, left);
}

void print_socket_family(ArgContext& context) {
  constexpr uint32_t kUnix = 1;
  auto family = static_cast<uint32_t>(context.value);
  if (context.is_perf() && family == kUnix)
    context.out += context.style.show_prefixes ? "AF_LOCAL" : "LOCAL";  // perf's word for it
  else
    append_choice(context, WordSet::k_socket_family, family);
}

}  // namespace sonde
