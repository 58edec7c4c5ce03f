#include "probe/source/fetch_text.h"

#include <elf.h>
#include <fmt/format.h>

#include <array>

#include "base/text.h"

namespace sonde {

FetchText FetchText::of_register(std::string name) {
  FetchText made;
  made.base_ = std::move(name);
  return made;
}

FetchText FetchText::of_constant(int64_t value) {
  FetchText made;
  made.kind_ = Kind::kConstant;
  made.offset_ = value;
  return made;
}

FetchText FetchText::of_symbol(std::string base, int64_t offset) {
  FetchText made;
  made.kind_ = Kind::kSymbol;
  made.base_ = std::move(base);
  made.offset_ = offset;
  return made;
}

FetchText FetchText::of_file_offset(uint64_t offset) {
  FetchText made;
  made.kind_ = Kind::kFileOffset;
  made.offset_ = static_cast<int64_t>(offset);
  return made;
}

void FetchText::follow(int64_t offset, bool user) {
  if (!is_address_) return steps_.push_back({offset, user});
  is_address_ = false;
  move(offset);
}

void FetchText::move(int64_t offset) {
  int64_t& last = steps_.empty() ? offset_ : steps_.back().offset;
  last = static_cast<int64_t>(static_cast<uint64_t>(last) + static_cast<uint64_t>(offset));
}

std::string FetchText::text() const {
  std::string text = base_;
  if (kind_ == Kind::kConstant) text = fmt::format("\\{}", offset_);
  if (kind_ == Kind::kSymbol) text = fmt::format("{}{:+}", base_, offset_);
  if (kind_ == Kind::kFileOffset) text = fmt::format("@+{:#x}", offset_);
  for (const Step& step : steps_)
    text = fmt::format(
        "{}{}{}({})", step.offset < 0 ? '-' : '+', step.user ? "u" : "",
        step.offset < 0 ? -static_cast<uint64_t>(step.offset) : static_cast<uint64_t>(step.offset),
        text);
  return text;
}

std::optional<std::string> fetch_register(uint64_t number, uint16_t machine) {
  // The x86-64 psABI, figure 3.36; DWARF for the Arm 64-bit Architecture, section 4.1.
  static constexpr std::array<const char*, 16> kX86 = {
      "%ax", "%dx", "%cx",  "%bx",  "%si",  "%di",  "%bp",  "%sp",
      "%r8", "%r9", "%r10", "%r11", "%r12", "%r13", "%r14", "%r15"};
  if (machine == EM_X86_64)
    return number < kX86.size() ? std::optional(kX86[number]) : std::nullopt;
  if (machine != EM_AARCH64 || number > 31) return std::nullopt;
  return number == 31 ? "%sp" : fmt::format("%x{}", number);
}

std::string fetch_name(const RequestedArgument& argument) {
  if (!argument.name.empty()) return argument.name;
  std::string name;
  for (const RequestedMember& member : argument.members)
    if (member.kind != RequestedMember::Kind::kIndex) name = member.name;
  if (!name.empty()) return name;
  size_t scope = argument.what.rfind("::");
  name = scope == std::string::npos ? argument.what : argument.what.substr(scope + 2);
  if (argument.members.empty() && !argument.type.empty()) name += "_" + argument.type;
  for (char& c : name)
    if (!is_ascii_digit(c) && c != '_' && (to_ascii_lower(c) < 'a' || to_ascii_lower(c) > 'z'))
      c = '_';
  return name;
}

std::optional<BitFieldFetch> bit_field_fetch(uint64_t first_bit, uint32_t bits, uint64_t size) {
  if (bits == 0 || bits > 64) return std::nullopt;
  auto within = [&](uint64_t offset, uint64_t bytes) -> std::optional<BitFieldFetch> {
    uint64_t shift = first_bit - offset * 8;
    if (shift + bits > bytes * 8) return std::nullopt;
    return BitFieldFetch{offset, fmt::format("b{}@{}/{}", bits, shift, bytes * 8)};
  };
  if (size == 1 || size == 2 || size == 4 || size == 8)
    if (auto found = within(first_bit / 8 / size * size, size)) return found;
  return within(first_bit / 8, 8);
}

bool is_string_type(std::string_view type) {
  return type == "string" || type == "ustring";
}

bool is_bare_type(std::string_view type) {
  return type == "x" || type == "u" || type == "s";
}

}  // namespace sonde
