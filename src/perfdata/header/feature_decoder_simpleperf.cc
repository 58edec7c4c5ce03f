// simpleperf's own sections: the symbols of the objects (FILE as plain fields, FILE2 as protobuf)
// and facts about the recording as pairs of strings (META_INFO). Source: simpleperf's
// record_file_format.h and record_file.proto.
#include "perfdata/header/feature_decoder.h"

namespace sonde::feature {
namespace {

using File = SimpleperfFile;

std::string read_terminated(ByteCursor& in) {
  ByteCursor ahead = in;
  std::string text(ahead.fixed_string(ahead.left()));
  in.skip(text.size() + 1);
  return text;
}

File::Kind kind_of(uint64_t number) {
  return number <= static_cast<uint64_t>(File::Kind::kUnknown) ? static_cast<File::Kind>(number)
                                                               : File::Kind::kUnknown;
}

bool read_symbols(ByteCursor& in, File& file) {
  constexpr size_t kMinSymbolSize = 8 + 4 + 1;
  uint32_t count = in.u32();
  if (!in.fits(count, kMinSymbolSize)) return false;
  file.symbols.reserve(count);
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    uint64_t address = in.u64();
    uint32_t size = in.u32();
    file.symbols.push_back({address, size, read_terminated(in)});
  }
  return in.ok();
}

bool read_file_fields(ByteCursor in, File& file) {
  file.path = read_terminated(in);
  file.kind = kind_of(in.u32());
  file.min_address = in.u64();
  if (!read_symbols(in, file)) return false;
  if (file.kind == File::Kind::kDex) {
    uint32_t count = in.u32();
    if (!in.fits(count, sizeof(uint64_t))) return false;
    for (uint32_t i = 0; i < count; ++i) file.dex_offsets.push_back(in.u64());
  }
  bool has_offset = file.kind == File::Kind::kElf || file.kind == File::Kind::kKernelModule;
  // The earliest versions end before the offset.
  if (has_offset && in.left() >= sizeof(uint64_t)) file.min_address_offset = in.u64();
  return in.ok();
}

/// The parts of protobuf's wire format that FILE2 uses: varints and length-delimited fields.
class ProtoReader {
 public:
  explicit ProtoReader(Bytes message) : in_(message, ByteOrder::kLittle) {}

  /// Advances to the next field; false at the end or if the message is damaged.
  bool next() {
    if (in_.left() == 0) return false;
    uint64_t key = varint();
    number_ = key >> 3;
    switch (key & 7) {
      case 0:
        value_ = varint();
        break;
      case 1:
        value_ = in_.u64();
        break;
      case 2:
        bytes_ = in_.take(varint());
        break;
      case 5:
        value_ = in_.u32();
        break;
      default:
        damaged_ = true;
    }
    return ok();
  }
  [[nodiscard]] bool ok() const { return in_.ok() && !damaged_; }
  [[nodiscard]] uint64_t number() const { return number_; }
  [[nodiscard]] uint64_t value() const { return value_; }
  [[nodiscard]] Bytes bytes() const { return bytes_; }
  [[nodiscard]] std::string text() const { return std::string(as_text(bytes_)); }

  uint64_t varint() {
    uint64_t value = 0;
    for (uint32_t shift = 0; shift < 64; shift += 7) {
      uint8_t byte = in_.u8();
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    damaged_ = true;
    return 0;
  }
  [[nodiscard]] bool at_end() const { return in_.left() == 0; }

 private:
  ByteCursor in_;
  uint64_t number_ = 0, value_ = 0;
  Bytes bytes_;
  bool damaged_ = false;
};

bool read_proto_symbol(Bytes message, File& file) {
  File::Symbol symbol{};
  ProtoReader field(message);
  while (field.next()) {
    if (field.number() == 1) symbol.address = field.value();
    if (field.number() == 2) symbol.size = static_cast<uint32_t>(field.value());
    if (field.number() == 3) symbol.name = field.text();
  }
  file.symbols.push_back(std::move(symbol));
  return field.ok();
}

/// Repeated numbers are either one field each or packed into one field.
bool read_dex_offsets(Bytes message, File& file) {
  ProtoReader field(message);
  while (field.next()) {
    if (field.number() != 1) continue;
    if (field.bytes().empty()) {
      file.dex_offsets.push_back(field.value());
      continue;
    }
    ProtoReader packed(field.bytes());
    while (!packed.at_end()) file.dex_offsets.push_back(packed.varint());
    if (!packed.ok()) return false;
  }
  return field.ok();
}

bool read_single_offset(Bytes message, File& file) {
  ProtoReader field(message);
  while (field.next())
    if (field.number() == 1) file.min_address_offset = field.value();
  return field.ok();
}

bool read_file_proto(Bytes message, File& file) {
  bool parts_ok = true;
  file.kind = File::Kind::kKernel;  // protobuf omits zeros
  ProtoReader field(message);
  while (parts_ok && field.next()) {
    switch (field.number()) {
      case 1:
        file.path = field.text();
        break;
      case 2:
        file.kind = kind_of(field.value());
        break;
      case 3:
        file.min_address = field.value();
        break;
      case 4:
        parts_ok = read_proto_symbol(field.bytes(), file);
        break;
      case 5:
        parts_ok = read_dex_offsets(field.bytes(), file);
        break;
      case 6:
      case 7:
        parts_ok = read_single_offset(field.bytes(), file);
        break;
      default:
        break;
    }
  }
  return parts_ok && field.ok();
}

/// Both sections are a sequence of sized entries.
template <typename ReadEntry>
bool read_entries(ByteCursor& in, Features& features, const ReadEntry& read_entry) {
  while (in.left() > 0) {
    uint32_t size = in.u32();
    Bytes entry = in.take(size);
    File file;
    if (!in.ok() || !read_entry(entry, file)) return false;
    features.simpleperf_files.push_back(std::move(file));
  }
  return true;
}

}  // namespace

bool simpleperf_file(ByteCursor& in, Features& features) {
  return read_entries(in, features, [&](Bytes entry, File& file) {
    return read_file_fields(ByteCursor(entry, in.order()), file);
  });
}

bool simpleperf_file2(ByteCursor& in, Features& features) {
  return read_entries(in, features, read_file_proto);
}

bool simpleperf_meta_info(ByteCursor& in, Features& features) {
  while (in.left() > 0) {
    std::string key = read_terminated(in);
    features.simpleperf_meta.emplace_back(std::move(key), read_terminated(in));
  }
  return in.ok();
}

}  // namespace sonde::feature
