// Serializes a CfiTable, and restores it.
#include <algorithm>

#include "dwarf/cfi_table.h"

namespace sonde {
namespace {

constexpr size_t kRuleBytes = 16, kSavedBytes = 8;

void put(ByteBuilder& out, const UnwindRule& rule) {
  out.u8(static_cast<uint8_t>(rule.cfa_from));
  out.u8(rule.cfa_register);
  out.u8(rule.return_register);
  out.u8(static_cast<uint8_t>((rule.is_signal_frame ? 1 : 0) | (rule.signs_return ? 2 : 0)));
  out.u32(rule.saved_count);
  out.put(rule.cfa_value);
  out.u32(rule.first_saved);
}

UnwindRule get_rule(ByteCursor& in) {
  UnwindRule rule;
  rule.cfa_from = static_cast<CfaFrom>(in.u8());
  rule.cfa_register = in.u8();
  rule.return_register = in.u8();
  uint8_t flags = in.u8();
  rule.is_signal_frame = (flags & 1) != 0;
  rule.signs_return = (flags & 2) != 0;
  rule.saved_count = static_cast<uint8_t>(in.u32());
  rule.cfa_value = in.get<int32_t>();
  rule.first_saved = in.u32();
  return rule;
}

void put(ByteBuilder& out, const SavedRegister& saved) {
  out.u8(saved.reg);
  out.u8(static_cast<uint8_t>(saved.how));
  out.u16(0);
  out.put(saved.value);
}

SavedRegister get_saved(ByteCursor& in) {
  SavedRegister saved;
  saved.reg = in.u8();
  saved.how = static_cast<SavedAs>(in.u8());
  in.u16();
  saved.value = in.get<int32_t>();
  return saved;
}

template <typename T>
void put_raw(ByteBuilder& out, const std::vector<T>& items) {
  out.bytes({reinterpret_cast<const std::byte*>(items.data()), items.size() * sizeof(T)});
}

template <typename T>
void get_raw(ByteCursor& in, uint64_t count, std::vector<T>& items) {
  Bytes bytes = in.take(in.fits(count, sizeof(T)) ? count * sizeof(T) : UINT64_MAX);
  auto first = reinterpret_cast<const T*>(bytes.data());
  items.assign(first, first + bytes.size() / sizeof(T));
}

}  // namespace

std::vector<std::byte> CfiTable::pack() const {
  ByteBuilder out;
  out.u64(base_);
  out.u64(bad_entries_);
  for (size_t count :
       {rows_.size(), rules_.size(), saved_.size(), expressions_.size(), expression_bytes_.size()})
    out.u64(count);
  put_raw(out, rows_);
  for (const UnwindRule& rule : rules_) put(out, rule);
  for (const SavedRegister& saved : saved_) put(out, saved);
  put_raw(out, expressions_);
  out.bytes(expression_bytes_);
  Bytes bytes = out.view();
  return {bytes.begin(), bytes.end()};
}

std::optional<CfiTable> CfiTable::unpack(Bytes bytes) {
  CfiTable table;
  ByteCursor in(bytes);
  table.base_ = in.u64();
  table.bad_entries_ = in.u64();
  uint64_t rows = in.u64(), rules = in.u64(), saved = in.u64(), expressions = in.u64(),
           expression_bytes = in.u64();
  get_raw(in, rows, table.rows_);
  if (!in.fits(rules, kRuleBytes)) return std::nullopt;
  for (uint64_t i = 0; i < rules; ++i) table.rules_.push_back(get_rule(in));
  if (!in.fits(saved, kSavedBytes)) return std::nullopt;
  for (uint64_t i = 0; i < saved; ++i) table.saved_.push_back(get_saved(in));
  get_raw(in, expressions, table.expressions_);
  get_raw(in, expression_bytes, table.expression_bytes_);
  if (!in.ok() || in.left() > 0 || !table.is_sound()) return std::nullopt;
  return table;
}

/// Whether every index is in range.
bool CfiTable::is_sound() const {
  auto is_expression = [this](int32_t number) {
    return number >= 0 && static_cast<size_t>(number) < expressions_.size();
  };
  return std::ranges::is_sorted(rows_, {}, &Row::start) &&
         std::ranges::all_of(rows_, [&](const Row& row) { return row.rule < rules_.size(); }) &&
         std::ranges::all_of(
             rules_,
             [&](const UnwindRule& rule) {
               return rule.cfa_from <= CfaFrom::kExpression && rule.first_saved <= saved_.size() &&
                      rule.saved_count <= saved_.size() - rule.first_saved &&
                      (rule.cfa_from != CfaFrom::kExpression || is_expression(rule.cfa_value));
             }) &&
         std::ranges::all_of(saved_,
                             [&](const SavedRegister& saved) {
                               bool expression = saved.how == SavedAs::kExpression ||
                                                 saved.how == SavedAs::kValueExpression;
                               return saved.reg < kUnwindRegisters &&
                                      saved.how <= SavedAs::kValueExpression &&
                                      (!expression || is_expression(saved.value));
                             }) &&
         std::ranges::all_of(expressions_, [&](const Span& span) {
           return span.offset <= expression_bytes_.size() &&
                  span.size <= expression_bytes_.size() - span.offset;
         });
}

}  // namespace sonde
