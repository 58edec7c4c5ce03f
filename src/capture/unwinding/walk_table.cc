#include "capture/unwinding/walk_table.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "elf/leb128.h"

namespace sonde {
namespace {

/// DWARF 5, section 7.7.1.
enum Opcode : uint8_t {
  kDeref = 0x06,
  kAnd = 0x1a,
  kPlus = 0x22,
  kPlusConstant = 0x23,
  kShiftLeft = 0x24,
  kGreaterOrEqual = 0x2a,
  kLiteral = 0x30,  // up to +31
  kRegister = 0x70  // plus an offset; up to +31
};
constexpr uint8_t kNumbers = 32;

/// "register + offset", as most expressions begin.
struct RegisterSum {
  uint8_t reg;
  int32_t offset;
};
std::optional<RegisterSum> register_sum(ByteCursor& in, const walk_machine& machine) {
  if (in.left() == 0) return std::nullopt;
  auto number = static_cast<uint8_t>(in.u8() - kRegister);
  int64_t offset = sleb128(in);
  if (number >= machine.registers || offset != static_cast<int32_t>(offset) || !in.ok())
    return std::nullopt;
  return RegisterSum{number, static_cast<int32_t>(offset)};
}

std::optional<uint8_t> literal(ByteCursor& in) {
  auto number = static_cast<uint8_t>(in.u8() - kLiteral);
  return in.ok() && number < kNumbers ? std::optional(number) : std::nullopt;
}

/// What follows "rsp + offset" for x86's PLT entries: 8 more after the entry's push, which is at
/// the same byte of each entry of 16 bytes: (rip & 15) >= N, shifted by 3.
std::optional<uint8_t> plt_position(ByteCursor& in, const walk_machine& machine) {
  std::optional<RegisterSum> ip = register_sum(in, machine);
  if (!ip || ip->reg != machine.return_address || machine.has_link_register || ip->offset != 0)
    return std::nullopt;
  if (literal(in) != 15 || in.u8() != kAnd) return std::nullopt;
  std::optional<uint8_t> position = literal(in);
  if (!position || in.u8() != kGreaterOrEqual || literal(in) != 3 || in.u8() != kShiftLeft)
    return std::nullopt;
  return in.u8() == kPlus && in.ok() && in.left() == 0 ? position : std::nullopt;
}

bool set_cfa(Bytes expression, const walk_machine& machine, walk_rule& rule) {
  ByteCursor in(expression);
  std::optional<RegisterSum> sum = register_sum(in, machine);
  if (!sum) return false;
  rule.cfa_base = sum->reg;
  rule.value = sum->offset;
  rule.cfa = WALK_CFA_PLUS;
  if (in.left() == 0) return true;
  ByteCursor rest = in;
  if (std::optional<uint8_t> position = plt_position(rest, machine)) {
    rule.cfa = WALK_CFA_PLT;
    rule.extra = *position;
    return true;
  }
  if (in.u8() != kDeref) return false;
  rule.cfa = WALK_CFA_DEREF;
  if (in.left() == 0) return true;
  if (in.u8() != kPlusConstant) return false;
  uint64_t more = uleb128(in);
  rule.extra = static_cast<int32_t>(more);
  return in.ok() && in.left() == 0 && more <= INT32_MAX;
}

/// Refers to a register other than the CFA; there is one per rule.
bool set_base(uint8_t reg, walk_rule& rule) {
  if (rule.base != WALK_NO_BASE && rule.base != reg) return false;
  rule.base = reg;
  return true;
}

bool set_saved(const CfiTable& table, const SavedRegister& from, const walk_machine& machine,
               walk_rule& rule, walk_saved& saved) {
  saved.reg = from.reg;
  saved.value = from.value;
  switch (from.how) {
    case SavedAs::kAtCfa:
      saved.how = WALK_AT_CFA;
      return true;
    case SavedAs::kCfaPlus:
      saved.how = WALK_IS_CFA;
      return true;
    case SavedAs::kInRegister:
      saved.how = WALK_IS_BASE;
      saved.value = 0;
      return from.value >= 0 && from.value < machine.registers &&
             set_base(static_cast<uint8_t>(from.value), rule);
    case SavedAs::kExpression:
    case SavedAs::kValueExpression: {
      ByteCursor in(table.expression(from.value));
      std::optional<RegisterSum> sum = register_sum(in, machine);
      if (!sum || in.left() > 0) return false;
      saved.how = from.how == SavedAs::kExpression ? WALK_AT_BASE : WALK_IS_BASE;
      saved.value = sum->offset;
      return set_base(sum->reg, rule);
    }
    case SavedAs::kUndefined:
      saved.how = WALK_LOST;
      return true;
    case SavedAs::kSame:
      break;
  }
  return false;
}

walk_rule end_of_chain(uint8_t why) {
  walk_rule rule{};
  rule.flags = why;
  rule.base = WALK_NO_BASE;
  return rule;
}

}  // namespace

walk_rule walk_rule_of(const CfiTable& table, const UnwindRule& from, const walk_machine& machine) {
  const walk_rule not_expressible = end_of_chain(WALK_NOT_EXPRESSIBLE);
  walk_rule rule = end_of_chain(from.is_signal_frame ? WALK_SIGNAL_FRAME : 0);
  if (from.return_register != machine.return_address) return not_expressible;
  if (from.cfa_from == CfaFrom::kExpression) {
    if (!set_cfa(table.expression(from.cfa_value), machine, rule)) return not_expressible;
  } else {
    if (from.cfa_register >= machine.registers) return not_expressible;
    rule.cfa_base = from.cfa_register;
    rule.value = from.cfa_value;
  }
  bool finds_return = machine.has_link_register != 0;
  for (const SavedRegister& saved : table.saved(from)) {
    if (saved.reg >= machine.registers || saved.how == SavedAs::kSame) continue;
    bool is_return = saved.reg == machine.return_address;
    if (is_return && saved.how == SavedAs::kUndefined) return end_of_chain(WALK_IS_OUTERMOST);
    if (rule.saved_count == WALK_MOST_SAVED ||
        !set_saved(table, saved, machine, rule, rule.saved[rule.saved_count]))
      return not_expressible;
    ++rule.saved_count;
    finds_return |= is_return;
  }
  return finds_return ? rule : not_expressible;
}

WalkRules::WalkRules(const walk_machine& machine) : machine_(machine) {
  rules_.push_back(walk_rule{});
  (void)number_of(end_of_chain(WALK_NOT_EXPRESSIBLE));
}

uint32_t WalkRules::number_of(const walk_rule& rule) {
  std::string_view key(reinterpret_cast<const char*>(&rule), sizeof rule);
  if (auto known = numbers_.find(key); known != numbers_.end()) return known->second;
  if (rules_.size() == WALK_RULES) return kNotExpressible;
  auto number = static_cast<uint32_t>(rules_.size());
  numbers_.emplace(key, number);
  rules_.push_back(rule);
  return number;
}

void WalkRules::adopt(const WalkRules& others, std::span<walk_row> rows) {
  std::vector<uint32_t> numbers = {0};
  for (const walk_rule& rule : others.added(1)) numbers.push_back(number_of(rule));
  for (walk_row& row : rows) row.rule = numbers[row.rule];
}

std::vector<walk_row> walk_rows(const CfiTable& table, const SegmentMap& segments,
                                WalkRules& rules) {
  struct Piece {
    uint64_t start;
    uint32_t rule;
  };
  std::vector<Piece> pieces;
  std::unordered_map<const UnwindRule*, uint32_t> numbers;
  pieces.reserve(table.row_count());
  table.for_each_row([&](ElfAddr start, const UnwindRule* rule) {
    auto [known, is_new] = numbers.try_emplace(rule, 0);
    if (is_new && rule != nullptr)
      known->second = rules.number_of(walk_rule_of(table, *rule, rules.machine()));
    pieces.push_back({start.value, known->second});
  });
  std::vector<ElfSegment> code;
  for (const ElfSegment& segment : segments.segments())
    if (segment.executable && segment.offset.value + segment.file_size <= UINT32_MAX)
      code.push_back(segment);
  std::ranges::sort(code, {}, [](const ElfSegment& segment) { return segment.offset.value; });
  std::vector<walk_row> rows;
  auto add = [&](uint64_t offset, uint32_t rule) {
    auto start = static_cast<uint32_t>(offset);
    if (!rows.empty() && rows.back().start >= start) rows.pop_back();
    if (rows.empty() || rows.back().start < start) rows.push_back({start, rule});
  };
  for (const ElfSegment& segment : code) {
    uint64_t begin = segment.addr.value, end = begin + segment.file_size;
    auto next = std::ranges::upper_bound(pieces, begin, {}, &Piece::start);
    add(segment.offset.value, next == pieces.begin() ? 0 : std::prev(next)->rule);
    for (; next != pieces.end() && next->start < end; ++next)
      add(segment.offset.value + next->start - begin, next->rule);
    add(segment.offset.value + segment.file_size, 0);
  }
  if (rows.size() > WALK_MOST_ROWS) rows.clear();
  return rows;
}

uint32_t usual_frame_bytes(std::span<const walk_row> rows, const WalkRules& rules, uint64_t start,
                           uint64_t end) {
  std::map<uint32_t, uint64_t> code_bytes;  // by rule
  auto row = std::ranges::upper_bound(rows, start, {}, &walk_row::start);
  if (row != rows.begin()) --row;
  for (; row != rows.end() && row->start < end; ++row) {
    uint64_t next = std::next(row) == rows.end() ? end : std::next(row)->start;
    code_bytes[row->rule] += std::min(next, end) - std::max<uint64_t>(row->start, start);
  }
  auto usual = std::ranges::max_element(code_bytes, {}, [](const auto& one) { return one.second; });
  if (usual == code_bytes.end()) return 0;
  const walk_rule& rule = rules.added(usual->first).front();
  bool is_counted =
      rule.cfa == WALK_CFA_PLUS && rule.cfa_base == rules.machine().stack_pointer && rule.value > 0;
  return is_counted ? static_cast<uint32_t>(rule.value) : 0;
}

}  // namespace sonde
