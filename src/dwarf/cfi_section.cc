#include "dwarf/cfi_section.h"

#include <dwarf.h>

#include <tsl/robin_map.h>

#include <string_view>

#include "base/hashing/number_hash.h"
#include "elf/leb128.h"

namespace sonde {
namespace {

/// The framing of one entry: where it is, and what it belongs to.
struct EntryHeader {
  size_t offset = 0;  // of the length field
  Bytes body;         // after the id field
  size_t body_at = 0;
  size_t id_at = 0;
  uint64_t id = 0;
  bool is_64bit = false;
};

class SectionReader {
 public:
  explicit SectionReader(const CfiSection::Source& source) : source_(source) {}

  CfiSection read() {
    ByteCursor in(source_.bytes, source_.order);
    EntryHeader header;
    in.skip(source_.entry_at.value_or(0));
    while (next(in, header)) {
      if (is_common(header))
        (void)common_at(header.offset);
      else if (!read_entry(header))
        ++section_.bad_entries;
      if (source_.entry_at) break;
    }
    return std::move(section_);
  }

 private:
  /// False at the end: the terminator, or bytes that are not an entry.
  bool next(ByteCursor& in, EntryHeader& header) const {
    header = {};
    header.offset = in.position();
    uint64_t length = in.u32();
    if (length == UINT32_MAX) {
      header.is_64bit = true;
      length = in.u64();
    }
    if (!in.ok() || length == 0 || length > in.left()) return false;
    size_t start = in.position();
    ByteCursor body(in.take(length), source_.order);
    header.id_at = start;
    bool wide_id = header.is_64bit && source_.kind == CfiSection::Kind::kDebugFrame;
    header.id = wide_id ? body.u64() : body.u32();
    header.body_at = start + body.position();
    header.body = body.rest();
    return true;
  }

  [[nodiscard]] bool is_common(const EntryHeader& header) const {
    if (source_.kind == CfiSection::Kind::kEhFrame) return header.id == 0;
    return header.id == (header.is_64bit ? UINT64_MAX : UINT32_MAX);
  }

  /// The offset of `header`'s common entry.
  [[nodiscard]] uint64_t common_offset(const EntryHeader& header) const {
    return source_.kind == CfiSection::Kind::kEhFrame ? header.id_at - header.id : header.id;
  }

  std::optional<uint32_t> common_at(uint64_t offset) {
    auto known = common_by_offset_.find(offset);
    if (known != common_by_offset_.end()) return known->second;
    std::optional<uint32_t> index;
    if (offset < source_.bytes.size()) {
      ByteCursor in(source_.bytes, source_.order);
      in.skip(offset);
      EntryHeader header;
      CfiCommon common;
      if (next(in, header) && is_common(header) && read_common(header, common)) {
        index = static_cast<uint32_t>(section_.commons.size());
        section_.commons.push_back(common);
      } else {
        ++section_.bad_entries;
      }
    }
    common_by_offset_[offset] = index;
    return index;
  }

  bool read_common(const EntryHeader& header, CfiCommon& common) {
    ByteCursor in(header.body, source_.order);
    uint8_t version = in.u8();
    if (version != 1 && version != 3 && version != 4) return false;
    std::string_view rest = as_text(header.body.subspan(in.position()));
    std::string_view augmentation = rest.substr(0, rest.find('\0'));
    in.skip(augmentation.size() + 1);
    common.address_size = source_.address_size;
    if (version == 4) {
      common.address_size = in.u8();
      if (in.u8() != 0) return false;  // segment selectors
      if (common.address_size != 4 && common.address_size != 8) return false;
    }
    common.code_alignment = uleb128(in);
    common.data_alignment = sleb128(in);
    uint64_t return_register = version == 1 ? in.u8() : uleb128(in);
    if (return_register > UINT8_MAX) return false;
    common.return_register = static_cast<uint8_t>(return_register);
    common.pointer_encoding = DW_EH_PE_absptr;
    if (augmentation.starts_with('z')) {
      common.has_augmentation = true;
      uint64_t length = uleb128(in);
      if (length > in.left()) return false;
      size_t at = header.body_at + in.position();
      if (!read_augmentation(augmentation.substr(1), in.take(length), at, common)) return false;
    } else if (!augmentation.empty()) {
      return false;  // the length of its data is unknown
    }
    common.program = in.rest();
    return in.ok();
  }

  bool read_augmentation(std::string_view letters, Bytes data, size_t at, CfiCommon& common) {
    ByteCursor in(data, source_.order);
    for (char letter : letters) {
      switch (letter) {
        case 'R':
          common.pointer_encoding = in.u8();
          break;
        case 'P': {
          uint8_t encoding = in.u8();
          (void)pointer(in, encoding, at, common.address_size);
          break;
        }
        case 'L':
          in.u8();
          break;
        case 'S':
          common.is_signal_frame = true;
          break;
        case 'B':  // arm64: return addresses are signed with key B
        case 'G':  // arm64: tagged stack
          break;
        default:
          return in.ok();  // the rest is not needed for unwinding, and its length is known
      }
    }
    return in.ok();
  }

  bool read_entry(const EntryHeader& header) {
    std::optional<uint32_t> common = common_at(common_offset(header));
    if (!common) return false;
    const CfiCommon& shared = section_.commons[*common];
    ByteCursor in(header.body, source_.order);
    auto start = pointer(in, shared.pointer_encoding, header.body_at, shared.address_size);
    // The size is encoded like the start, but is not relative to anything.
    auto size = pointer(in, shared.pointer_encoding & 0x0f, header.body_at, shared.address_size);
    if (!start || !size) return false;
    if (shared.has_augmentation) in.skip(uleb128(in));
    if (!in.ok()) return false;
    if (*size == 0 || *start == 0) return true;  // discarded by the linker
    if (*start + *size < *start) return false;
    bool is_wanted = !source_.only_at || *source_.only_at - *start < *size;
    if (is_wanted) section_.entries.push_back({*start, *start + *size, *common, in.rest()});
    return true;
  }

  /// A pointer in one of the DW_EH_PE_* encodings; `at` is the offset of the cursor's first byte in
  /// the section. Nullopt if it cannot be resolved here.
  std::optional<uint64_t> pointer(ByteCursor& in, uint8_t encoding, size_t at,
                                  uint8_t address_size) const {
    if (encoding == DW_EH_PE_omit) return std::nullopt;
    uint64_t place = source_.addr + at + in.position();
    uint64_t value = 0;
    switch (encoding & 0x0f) {
      case DW_EH_PE_absptr:
        value = address_size == 4 ? in.u32() : in.u64();
        break;
      case DW_EH_PE_uleb128:
        value = uleb128(in);
        break;
      case DW_EH_PE_sleb128:
        value = static_cast<uint64_t>(sleb128(in));
        break;
      case DW_EH_PE_udata2:
        value = in.u16();
        break;
      case DW_EH_PE_sdata2:
        value = static_cast<uint64_t>(int64_t{static_cast<int16_t>(in.u16())});
        break;
      case DW_EH_PE_udata4:
        value = in.u32();
        break;
      case DW_EH_PE_sdata4:
        value = static_cast<uint64_t>(int64_t{static_cast<int32_t>(in.u32())});
        break;
      case DW_EH_PE_udata8:
      case DW_EH_PE_sdata8:
        value = in.u64();
        break;
      default:
        return std::nullopt;
    }
    switch (encoding & 0x70) {
      case DW_EH_PE_absptr:
        break;
      case DW_EH_PE_pcrel:
        value += place;
        break;
      default:  // relative to text, data or function: no current linker writes it here
        return std::nullopt;
    }
    if (address_size == 4) value &= UINT32_MAX;
    if (!in.ok() || (encoding & DW_EH_PE_indirect) != 0) return std::nullopt;
    return value;
  }

  const CfiSection::Source& source_;
  CfiSection section_;
  tsl::robin_map<uint64_t, std::optional<uint32_t>, NumberHash> common_by_offset_;
};

}  // namespace

CfiSection CfiSection::read(const Source& source) {
  return SectionReader(source).read();
}

}  // namespace sonde
