#include "script/field_texts.h"

#include "perfdata/records/trace_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstring>
#include <ctime>
#include <iterator>

namespace sonde::script {
namespace {

std::string_view branch_type_name(uint32_t type) {
  constexpr std::string_view kNames[] = {"",         "COND", "UNCOND",  "IND",    "CALL",
                                         "IND_CALL", "RET",  "SYSCALL", "SYSRET", "COND_CALL",
                                         "COND_RET", "ERET", "IRQ",     "SERROR", "NO_TX"};
  return type < std::size(kNames) ? kNames[type] : std::string_view();
}

/// The eight digits of a number as characters, the first one in the lowest byte.
uint64_t hex_digits(uint32_t value) {
  uint64_t x = (uint64_t{value} & 0xffff) << 32 | value >> 16;
  x = (x & 0x0000ff000000ff00) >> 8 | (x & 0x000000ff000000ff) << 16;
  x = (x & 0x00f000f000f000f0) >> 4 | (x & 0x000f000f000f000f) << 8;
  uint64_t letters = (x + 0x0606060606060606) >> 4 & 0x0101010101010101;  // 1 for ten and more
  return x + 0x3030303030303030 + letters * ('a' - '0' - 10);
}

/// Blanks instead of the first characters.
uint64_t with_blanks(uint64_t characters, int blanks) {
  uint64_t mask = blanks >= 8 ? ~uint64_t{0} : (uint64_t{1} << 8 * blanks) - 1;
  return (characters & ~mask) | (0x2020202020202020 & mask);
}

}  // namespace

void append_number(std::string& out, uint64_t value, size_t width, char pad) {
  fmt::format_int digits(value);
  if (digits.size() < width) out.append(width - digits.size(), pad);
  out.append(digits.data(), digits.size());
}

void append_task_id(std::string& out, uint32_t id) {
  auto number = static_cast<int32_t>(id);
  if (number >= 0)
    append_number(out, id, 5);
  else
    fmt::format_to(std::back_inserter(out), "{:5}", number);
}

void append_padded(std::string& out, std::string_view text, size_t width) {
  if (text.size() < width) out.append(width - text.size(), ' ');
  out += text;
}

void append_cpu(std::string& out, uint32_t cpu) {
  out += '[';
  if (cpu != UINT32_MAX)
    append_number(out, cpu, 3, '0');
  else
    out += "-01";  // perf's -1 in three columns
  out += "] ";
}

void append_time(std::string& out, uint64_t ns, bool nanoseconds) {
  constexpr uint32_t kSecond_ns = 1'000'000'000;
  constexpr size_t kWidth = 5;  // "%12s" of seconds, point and six digits
  fmt::format_int seconds(ns / kSecond_ns);
  auto rest_ns = static_cast<uint32_t>(ns % kSecond_ns);
  // The leading 1 keeps the zeros after it, and becomes the point.
  fmt::format_int fraction(nanoseconds ? kSecond_ns + rest_ns : (kSecond_ns + rest_ns) / 1000);
  constexpr size_t kMostDigits = 20;
  char text[kMostDigits + 1 + 9 + 2];
  size_t blanks = kWidth - std::min(seconds.size(), kWidth);
  std::fill_n(text, blanks, ' ');
  char* end = std::copy_n(seconds.data(), seconds.size(), text + blanks);
  char* point = end;
  end = std::copy_n(fraction.data(), fraction.size(), end);
  *point = '.';
  *end++ = ':';
  *end++ = ' ';
  out.append(text, static_cast<size_t>(end - text));
}

void put_hex16(char* to, uint64_t value) {
  int blanks = std::countl_zero(value | 1) / 4;
  uint64_t words[] = {
      with_blanks(hex_digits(static_cast<uint32_t>(value >> 32)), blanks),
      with_blanks(hex_digits(static_cast<uint32_t>(value)), std::max(blanks, 8) - 8)};
  if constexpr (std::endian::native == std::endian::big)
    for (uint64_t& word : words) word = std::byteswap(word);
  std::memcpy(to, words, sizeof words);
}

void append_hex16(std::string& out, uint64_t value) {
  char text[16];
  put_hex16(text, value);
  out.append(text, sizeof text);
}

void append_misc(std::string& out, uint32_t type, uint16_t misc) {
  constexpr std::string_view kModes = " KUHGg";
  size_t begin = out.size();
  size_t mode = misc & abi::kMiscCpuModeMask;
  if (mode != 0 && mode < kModes.size()) out += kModes[mode];
  switch (type) {
    case abi::kRecordMmap:
    case abi::kRecordMmap2:
      if ((misc & abi::kMiscMmapData) != 0) out += 'M';
      break;
    case abi::kRecordComm:
      if ((misc & abi::kMiscCommExec) != 0) out += 'E';
      break;
    case abi::kRecordSwitch:
    case abi::kRecordSwitchCpuWide:
      if ((misc & abi::kMiscSwitchOut) == 0) break;
      out += 'S';
      if ((misc & abi::kMiscSwitchOutPreempt) != 0) out += 'p';
      break;
    default:
      break;
  }
  out.append(6 - (out.size() - begin), ' ');
}

void append_registers(const SampleRegs& regs, abi::Arch arch, std::string& out) {
  if (regs.words.empty()) return;
  auto to = std::back_inserter(out);
  fmt::format_to(to, " ABI:{} ", regs.abi);
  size_t word = 0;
  for (unsigned bit = 0; bit < 64; ++bit) {
    if ((regs.mask >> bit & 1) == 0) continue;
    std::string name(abi::register_name(arch, bit));
    for (char& c : name) c = static_cast<char>(std::toupper(c));
    if (word < regs.words.size()) fmt::format_to(to, "{:>5}:{:#x} ", name, regs.words[word]);
    ++word;
  }
}

void append_time_of_day(uint64_t ns_since_epoch, bool nanoseconds, std::string& out) {
  auto seconds = static_cast<time_t>(ns_since_epoch / 1'000'000'000);
  uint64_t fraction = ns_since_epoch % 1'000'000'000;
  tm local{};
  char text[32];
  ::localtime_r(&seconds, &local);
  out.append(text, std::strftime(text, sizeof text, "%F %H:%M:%S.", &local));
  append_number(out, nanoseconds ? fraction : fraction / 1000, nanoseconds ? 9 : 6, '0');
  out += ' ';
}

void append_page_size(uint64_t bytes, std::string& out) {
  constexpr const char* kUnits[] = {"B", "K", "M", "G"};
  out += ' ';
  if (bytes == 0) {
    out += "N/A";
    return;
  }
  size_t unit = 0;
  while (unit + 1 < std::size(kUnits) && bytes >= 1024 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++unit;
  }
  fmt::format_to(std::back_inserter(out), "{}{}", bytes, kUnits[unit]);
}

void append_bpf_output(Bytes raw, std::string& out) {
  auto to = std::back_inserter(out);
  out += '\n';
  bool printable = true;
  bool ended = false;
  for (size_t line = 0; line < raw.size(); line += 8) {
    fmt::format_to(to, "{:>17} {:04x}:", line == 0 ? "BPF output:" : "", line);
    std::string characters;
    for (size_t i = line; i < line + 8; ++i) {
      if (i >= raw.size()) {
        out += "   ";
        characters += ' ';
        continue;
      }
      auto byte = static_cast<unsigned char>(raw[i]);
      bool shown = std::isprint(byte) != 0;
      fmt::format_to(to, " {:02x}", byte);
      characters += shown ? static_cast<char>(byte) : '.';
      if (byte == 0) ended = true;
      if (byte != 0 && (ended || !shown)) printable = false;
    }
    fmt::format_to(to, "  {}\n", characters);
  }
  if (printable && ended) {
    std::string_view text = as_text(raw);
    fmt::format_to(to, "{:>17} \"{}\"\n", "BPF string:", text.substr(0, text.find('\0')));
  }
}

void append_trace_flags(uint32_t flags, std::string& out) {
  struct Name {
    uint32_t flags;
    std::string_view text;
  };
  static constexpr Name kNames[] = {
      {kTraceBranch | kTraceCall, "call"},
      {kTraceBranch | kTraceReturn, "return"},
      {kTraceBranch | kTraceConditional, "jcc"},
      {kTraceBranch, "jmp"},
      {kTraceBranch | kTraceCall | kTraceInterrupt, "int"},
      {kTraceBranch | kTraceReturn | kTraceInterrupt, "iret"},
      {kTraceBranch | kTraceCall | kTraceSyscall, "syscall"},
      {kTraceBranch | kTraceReturn | kTraceSyscall, "sysret"},
      {kTraceBranch | kTraceAsync, "async"},
      {kTraceBranch | kTraceCall | kTraceAsync | kTraceInterrupt, "hw int"},
      {kTraceBranch | kTraceAbort, "tx abrt"},
      {kTraceBranch | kTraceBegin, "tr strt"},
      {kTraceBranch | kTraceEnd, "tr end"},
  };
  constexpr size_t kWidth = 22;
  auto name_of = [](uint32_t wanted) -> std::string_view {
    for (const Name& name : kNames)
      if (name.flags == wanted) return name.text;
    return {};
  };
  bool in_transaction = (flags & kTraceInTransaction) != 0;
  bool is_masked = (flags & kTraceMasked) != 0, changes = (flags & kTraceMaskChanges) != 0;
  flags &= ~(kTraceInTransaction | kTraceMasked | kTraceMaskChanges);
  std::string text(name_of(flags));
  if (text.empty() && (flags & kTraceBegin) != 0)
    text = fmt::format("tr strt {}", name_of(flags & ~kTraceBegin));
  if (text.empty() && (flags & kTraceEnd) != 0)
    text = fmt::format("tr end  {}", name_of(flags & ~kTraceEnd));
  std::string state =
      fmt::format("{}{}{}", in_transaction ? "x" : "", is_masked ? "D" : "", changes ? "t" : "");
  if (!state.empty())
    text = text.empty() ? state : fmt::format("{:<15}{:>6}", text, fmt::format("({})", state));
  fmt::format_to(std::back_inserter(out), "  {:<{}}", text, kWidth);
}

void append_branch_flags(const abi::BranchEntry& branch, std::string& out) {
  char prediction = branch.predicted() ? 'P' : branch.mispredicted() ? 'M' : '-';
  fmt::format_to(std::back_inserter(out), "/{}/{}/{}/{}/{} ", prediction,
                 branch.in_tx() ? 'X' : '-', branch.aborted() ? 'A' : '-', branch.cycles(),
                 branch_type_name(branch.branch_type()));
}

}  // namespace sonde::script
