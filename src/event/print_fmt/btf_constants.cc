#include "event/print_fmt/btf_constants.h"

#include <algorithm>
#include <vector>

#include "base/file.h"

namespace sonde {
namespace {

constexpr uint16_t kMagic = 0xeb9f;

enum BtfKind : uint32_t {
  kInteger = 1,
  kArray = 3,
  kStruct = 4,
  kUnion = 5,
  kEnum = 6,
  kFunctionPrototype = 13,
  kVariable = 14,
  kDataSection = 15,
  kDeclarationTag = 17,
  kEnum64 = 19,
};

/// Bytes after the 12 that every type has.
uint64_t size_of_rest(uint32_t kind, uint64_t count) {
  switch (kind) {
    case kInteger:
    case kVariable:
    case kDeclarationTag:
      return 4;
    case kArray:
      return 12;
    case kStruct:
    case kUnion:
    case kDataSection:
    case kEnum64:
      return 12 * count;
    case kEnum:
    case kFunctionPrototype:
      return 8 * count;
    default:
      return 0;
  }
}

/// The wanted enumerators, by string offset of the name, so that most of the pass only compares
/// integers.
class Wanted {
 public:
  Wanted(std::string_view strings, std::span<const std::string> names) {
    for (const std::string& name : names) {
      std::string needle = '\0' + name + '\0';
      size_t at = strings.find(needle);
      if (at != std::string_view::npos) offsets_.emplace_back(static_cast<uint32_t>(at + 1), &name);
    }
    std::ranges::sort(offsets_);
  }
  [[nodiscard]] const std::string* find(uint32_t offset) const {
    auto found = std::ranges::lower_bound(offsets_, offset, {}, &Entry::first);
    return found == offsets_.end() || found->first != offset ? nullptr : found->second;
  }
  [[nodiscard]] bool empty() const { return offsets_.empty(); }

 private:
  using Entry = std::pair<uint32_t, const std::string*>;
  std::vector<Entry> offsets_;
};

void read_enumerators(ByteCursor& cursor, uint32_t kind, uint32_t count, bool is_signed,
                      const Wanted& wanted, Constants& found) {
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t name = cursor.u32();
    uint64_t value = cursor.u32();
    if (kind == kEnum64) value |= uint64_t{cursor.u32()} << 32;
    if (!cursor.ok()) return;
    if (const std::string* text = wanted.find(name)) {
      auto number = static_cast<int64_t>(value);
      if (kind == kEnum && is_signed) number = static_cast<int32_t>(value);
      found.emplace(*text, number);
    }
  }
}

}  // namespace

Result<Constants> btf_constants(Bytes btf, std::span<const std::string> names) {
  Constants found;
  ByteOrder order = kHostOrder;
  if (btf.size() >= 2 && load<uint16_t>(btf.data(), order) != kMagic)
    order = order == ByteOrder::kLittle ? ByteOrder::kBig : ByteOrder::kLittle;
  ByteCursor header(btf, order);
  uint16_t magic = header.u16();
  header.skip(2);  // version, flags
  uint64_t header_size = header.u32();
  uint64_t type_offset = header_size + header.u32();
  uint64_t type_size = header.u32();
  uint64_t string_offset = header_size + header.u32();
  uint64_t string_size = header.u32();
  if (!header.ok() || magic != kMagic || type_offset > btf.size() || string_offset > btf.size() ||
      type_size > btf.size() - type_offset || string_size > btf.size() - string_offset)
    return fail(ErrorCode::kCorrupt, "not a BTF file");
  Wanted wanted(as_text(btf.subspan(string_offset, string_size)), names);
  ByteCursor types(btf.subspan(type_offset, type_size), order);
  while (types.left() > 0 && !wanted.empty()) {
    types.skip(4);
    uint32_t info = types.u32();
    types.skip(4);
    if (!types.ok()) break;
    uint32_t kind = info >> 24 & 31;
    uint32_t count = info & 0xffff;
    if (kind == kEnum || kind == kEnum64)
      read_enumerators(types, kind, count, info >> 31 != 0, wanted, found);
    else
      types.skip(size_of_rest(kind, count));
  }
  return found;
}

PrintProgram compile_with_btf(const TracepointFormat& format, const PrintTarget& target,
                              const std::string& btf_path) {
  PrintProgram program = PrintProgram::compile(format, target);
  if (program.unresolved().empty()) return program;
  auto btf = read_file(btf_path);
  if (!btf) return program;
  auto constants = btf_constants(as_bytes(*btf), program.unresolved());
  if (!constants || constants->empty()) return program;
  PrintTarget informed = target;
  informed.constant = [&](std::string_view name) -> std::optional<int64_t> {
    auto known = constants->find(name);
    if (known != constants->end()) return known->second;
    return target.constant ? target.constant(name) : std::nullopt;
  };
  return PrintProgram::compile(format, informed);
}

}  // namespace sonde
