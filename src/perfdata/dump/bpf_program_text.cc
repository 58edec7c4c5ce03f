#include "perfdata/dump/bpf_program_text.h"

#include <optional>
#include <string>

#include "base/text.h"

namespace sonde {
namespace {

/// Type names in BTF (Documentation/bpf/btf.rst), by type id.
class TypeNames {
 public:
  TypeNames(Bytes btf, ByteOrder order) : order_(order) {
    constexpr size_t kHeader = 24;
    if (btf.size() < kHeader) return;
    size_t header = u32(btf, 4);
    size_t types = header + u32(btf, 8), types_size = u32(btf, 12);
    size_t strings = header + u32(btf, 16);
    if (types > btf.size() || types_size > btf.size() - types || strings > btf.size()) return;
    strings_ = as_text(btf.subspan(strings));
    types_ = btf.subspan(types, types_size);
  }

  /// Empty if there is none.
  [[nodiscard]] std::string_view of(uint32_t id) const {
    size_t at = 0;
    for (uint32_t i = 1; at + kType <= types_.size(); ++i) {
      if (i == id) return string_at(u32(types_, at));
      at += kType + extra_bytes(u32(types_, at + 4));
    }
    return {};
  }

 private:
  static constexpr size_t kType = 12;

  /// The size of what follows the fixed part of a type, by kind.
  static size_t extra_bytes(uint32_t info) {
    size_t members = info & 0xffff;
    switch (info >> 24 & 0x1f) {
      case 1:   // integer
      case 14:  // variable
      case 17:  // declaration tag
        return 4;
      case 3:  // array
        return 12;
      case 4:   // struct
      case 5:   // union
      case 15:  // section
      case 19:  // 64-bit enumeration
        return members * 12;
      case 6:   // enumeration
      case 13:  // prototype
        return members * 8;
      default:
        return 0;
    }
  }
  [[nodiscard]] std::string_view string_at(size_t at) const {
    if (at >= strings_.size()) return {};
    std::string_view rest = strings_.substr(at);
    return rest.substr(0, rest.find('\0'));
  }
  [[nodiscard]] uint32_t u32(Bytes bytes, size_t at) const {
    return load<uint32_t>(&bytes[at], order_);
  }

  ByteOrder order_;
  Bytes types_;
  std::string_view strings_;
};

/// struct bpf_prog_info (include/uapi/linux/bpf.h) followed by its arrays; their addresses became
/// offsets when it was stored.
class Program {
 public:
  Program(Bytes stored, ByteOrder order) : order_(order) {
    constexpr size_t kHeader = 16, kUpToTags = 192;
    if (stored.size() < kHeader) return;
    size_t info_size = load<uint32_t>(&stored[0], order);
    if (info_size < kUpToTags || info_size > stored.size() - kHeader) return;
    info_ = stored.subspan(kHeader, info_size);
    data_ = stored.subspan(kHeader + info_size);
  }

  void write(Sink& out, const Features& features) const {
    if (info_.empty()) return;
    uint32_t functions = u32(104);
    if (functions == 0 || functions != u32(108) || functions != u32(180)) return;
    Bytes addresses = array(112, uint64_t{functions} * 8);
    Bytes lengths = array(120, uint64_t{functions} * 4);
    Bytes tags = array(184, uint64_t{functions} * 8);
    if (addresses.empty() || lengths.empty() || tags.empty()) return;
    std::optional<TypeNames> types = types_of(features);
    if (functions > 1) out.print("# bpf_prog_info {}:\n", u32(4));
    for (uint32_t i = 0; i < functions; ++i) {
      if (functions == 1)
        out.print("# bpf_prog_info {}: ", u32(4));
      else
        out.print("# \tsub_prog {}: ", i);
      out.print("bpf_prog_{}{} addr {:#x} size {}\n", to_hex(as_text(tags.subspan(i * 8, 8))),
                name(i, functions, types), load<uint64_t>(&addresses[i * 8], order_),
                load<uint32_t>(&lengths[i * 4], order_));
    }
  }

 private:
  [[nodiscard]] std::optional<TypeNames> types_of(const Features& features) const {
    uint32_t id = u32(128);
    for (const auto& [known, btf] : features.bpf_btf)
      if (id != 0 && known == id) return TypeNames(btf, order_);
    return std::nullopt;
  }
  [[nodiscard]] std::string name(uint32_t function, uint32_t functions,
                                 const std::optional<TypeNames>& types) const {
    std::string_view found;
    if (types) {
      size_t size = u32(132);
      Bytes infos = array(136, uint64_t{u32(144)} * size);
      if (size >= 8 && infos.size() / size > function)
        found = types->of(load<uint32_t>(&infos[function * size + 4], order_));
    } else if (function == 0 && functions == 1) {
      found = as_text(info_.subspan(64, 16));
      found = found.substr(0, found.find('\0'));
    } else {
      found = "F";
    }
    return found.empty() ? "" : fmt::format("_{}", found);
  }
  [[nodiscard]] uint32_t u32(size_t at) const { return load<uint32_t>(&info_[at], order_); }
  /// Empty if it is not within the stored data.
  [[nodiscard]] Bytes array(size_t at, uint64_t size) const {
    uint64_t offset = load<uint64_t>(&info_[at], order_);
    if (offset > data_.size() || size > data_.size() - offset) return {};
    return data_.subspan(offset, size);
  }

  ByteOrder order_;
  Bytes info_, data_;
};

}  // namespace

void write_bpf_programs(Sink& out, const Features& features, ByteOrder order) {
  for (const BpfProgram& program : features.bpf_programs)
    Program(program.info, order).write(out, features);
}

}  // namespace sonde
