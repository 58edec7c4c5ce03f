#include "dwarf/cfi_table.h"

#include <elf.h>
#include <tsl/robin_map.h>

#include <algorithm>
#include <string>

#include "dwarf/cfi_program.h"
#include "dwarf/cfi_section.h"
#include "dwarf/cfi_sections.h"

namespace sonde {

/// Runs the programs in address order and interns the rules that they yield.
class CfiTableBuilder {
 public:
  explicit CfiTableBuilder(bool is_arm64) : is_arm64_(is_arm64) {
    table_.rules_.emplace_back();
    rule_of_.emplace(std::string(), 0);
  }

  CfiTable build(std::span<const CfiSection> sections, ByteOrder order) {
    struct Piece {
      const CfiEntry* entry;
      const CfiCommon* common;
    };
    std::vector<Piece> pieces;
    for (const CfiSection& section : sections) {
      table_.bad_entries_ += section.bad_entries;
      for (const CfiEntry& entry : section.entries)
        pieces.push_back({&entry, &section.commons[entry.common]});
    }
    // If two entries describe the same code, the section that comes first wins.
    std::ranges::stable_sort(pieces, {}, [](const Piece& piece) { return piece.entry->start; });
    if (!pieces.empty()) table_.base_ = pieces.front().entry->start;
    uint64_t end = table_.base_;
    for (const Piece& piece : pieces) {
      if (piece.entry->start < end || piece.entry->end - table_.base_ > UINT32_MAX) continue;
      if (piece.entry->start > end) add_row(end, 0);
      end = piece.entry->end;
      CfiProgram program(*piece.common, order, is_arm64_);
      bool good = program.run(*piece.entry, [&](uint64_t address, const CfiState& state) {
        add_row(address, rule_for(state, *piece.common));
      });
      if (!good) ++table_.bad_entries_;
    }
    if (!pieces.empty()) add_row(end, 0);
    table_.rows_.shrink_to_fit();
    return std::move(table_);
  }

 private:
  void add_row(uint64_t address, uint32_t rule) {
    auto start = static_cast<uint32_t>(address - table_.base_);
    auto& rows = table_.rows_;
    if (!rows.empty() && rows.back().start == start) rows.pop_back();
    if (!rows.empty() && rows.back().rule == rule) return;
    rows.push_back({start, rule});
  }

  /// Everything that distinguishes a rule, as bytes.
  std::string_view key_of(const CfiState& state, const CfiCommon& common) {
    key_.clear();
    auto put = [this](auto value) {
      key_.append(reinterpret_cast<const char*>(&value), sizeof value);
    };
    auto put_expression = [&](Bytes expression) {
      put(static_cast<uint32_t>(expression.size()));
      key_.append(as_text(expression));
    };
    put(state.cfa_from);
    put(state.cfa_register);
    put(common.return_register);
    put(static_cast<uint8_t>(common.is_signal_frame | (state.signs_return ? 2 : 0)));
    if (state.cfa_from == CfaFrom::kExpression)
      put_expression(state.cfa_expression);
    else
      put(state.cfa_offset);
    for (uint64_t left = state.touched; left != 0; left &= left - 1) {
      auto reg = static_cast<uint8_t>(__builtin_ctzll(left));
      const CfiState::Register& saved = state.registers[reg];
      put(reg);
      put(saved.how);
      put(saved.value);
      if (saved.how == SavedAs::kExpression || saved.how == SavedAs::kValueExpression)
        put_expression(saved.expression);
    }
    return key_;
  }

  uint32_t rule_for(const CfiState& state, const CfiCommon& common) {
    if (state.cfa_from == CfaFrom::kNothing) return 0;
    if (table_.rules_.size() == kMaxRules || table_.saved_.size() > kMaxSaved) {
      ++table_.bad_entries_;
      return 0;
    }
    auto [found, is_new] =
        rule_of_.try_emplace(std::string(key_of(state, common)), table_.rules_.size());
    if (is_new) table_.rules_.push_back(make_rule(state, common));
    return found->second;
  }

  UnwindRule make_rule(const CfiState& state, const CfiCommon& common) {
    UnwindRule rule;
    rule.cfa_from = state.cfa_from;
    rule.cfa_register = state.cfa_register;
    rule.return_register = common.return_register;
    rule.is_signal_frame = common.is_signal_frame;
    rule.signs_return = state.signs_return;
    rule.first_saved = static_cast<uint32_t>(table_.saved_.size());
    if (state.cfa_from == CfaFrom::kExpression)
      rule.cfa_value = keep(state.cfa_expression);
    else if (state.cfa_offset == static_cast<int32_t>(state.cfa_offset))
      rule.cfa_value = static_cast<int32_t>(state.cfa_offset);
    else
      return {};
    for (uint64_t left = state.touched; left != 0; left &= left - 1) {
      auto reg = static_cast<uint8_t>(__builtin_ctzll(left));
      const CfiState::Register& saved = state.registers[reg];
      if (saved.how == SavedAs::kSame) continue;
      int32_t value = static_cast<int32_t>(saved.value);
      if (saved.how == SavedAs::kExpression || saved.how == SavedAs::kValueExpression)
        value = keep(saved.expression);
      else if (value != saved.value)
        return {};
      table_.saved_.push_back({reg, saved.how, value});
      ++rule.saved_count;
    }
    return rule;
  }

  int32_t keep(Bytes expression) {
    auto offset = static_cast<uint32_t>(table_.expression_bytes_.size());
    table_.expression_bytes_.insert(table_.expression_bytes_.end(), expression.begin(),
                                    expression.end());
    table_.expressions_.push_back({offset, static_cast<uint32_t>(expression.size())});
    return static_cast<int32_t>(table_.expressions_.size() - 1);
  }

  // Ten times what the largest browser has. A few bytes of a damaged section can request a rule
  // that covers all registers.
  static constexpr size_t kMaxRules = size_t{1} << 20;
  static constexpr size_t kMaxSaved = size_t{1} << 23;

  CfiTable table_;
  tsl::robin_map<std::string, uint32_t> rule_of_;
  std::string key_;
  bool is_arm64_;
};

CfiTable CfiTable::build(const ElfFile& object, const ElfFile* debug) {
  CfiSections information(object, debug);
  bool is_arm64 = object.machine() == EM_AARCH64;
  std::vector<CfiSection> sections(information.sections().begin(), information.sections().end());
  if (is_arm64) sections.push_back(arm64_plt_information(object));
  return CfiTableBuilder(is_arm64).build(sections, object.order());
}

CfiTable CfiTable::build(std::span<const CfiSection::Source> sources, bool is_arm64) {
  std::vector<CfiSection> sections;
  sections.reserve(sources.size());
  for (const CfiSection::Source& source : sources) sections.push_back(CfiSection::read(source));
  ByteOrder order = sources.empty() ? kHostOrder : sources.front().order;
  return CfiTableBuilder(is_arm64).build(sections, order);
}

const UnwindRule* CfiTable::find(ElfAddr address) const {
  uint64_t offset = address.value - base_;
  if (address.value < base_ || offset > UINT32_MAX) return nullptr;
  auto above = std::upper_bound(rows_.begin(), rows_.end(), static_cast<uint32_t>(offset),
                                [](uint32_t at, const Row& row) { return at < row.start; });
  if (above == rows_.begin()) return nullptr;
  const UnwindRule& rule = rules_[std::prev(above)->rule];
  return rule.cfa_from == CfaFrom::kNothing ? nullptr : &rule;
}

}  // namespace sonde
