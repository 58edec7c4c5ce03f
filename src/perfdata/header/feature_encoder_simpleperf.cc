// simpleperf's own sections, in the form that feature_decoder_simpleperf.cc reads.
#include "perfdata/header/feature_encoder.h"

namespace sonde::feature {
namespace {

using File = SimpleperfFile;

void put_terminated(std::string_view text, ByteBuilder& out) {
  out.text(text);
  out.u8(0);
}

void put_fields(const File& file, ByteBuilder& out) {
  put_terminated(file.path, out);
  out.u32(static_cast<uint32_t>(file.kind));
  out.u64(file.min_address);
  out.u32(static_cast<uint32_t>(file.symbols.size()));
  for (const File::Symbol& symbol : file.symbols) {
    out.u64(symbol.address);
    out.u32(symbol.size);
    put_terminated(symbol.name, out);
  }
  if (file.kind == File::Kind::kDex) {
    out.u32(static_cast<uint32_t>(file.dex_offsets.size()));
    for (uint64_t offset : file.dex_offsets) out.u64(offset);
  }
  if (file.kind == File::Kind::kElf || file.kind == File::Kind::kKernelModule)
    out.u64(file.min_address_offset);
}

/// protobuf's wire format, as far as FILE2 uses it; zeros are omitted, as protobuf does.
class ProtoWriter {
 public:
  void number(uint32_t field, uint64_t value) {
    if (value == 0) return;
    varint(uint64_t{field} << 3);
    varint(value);
  }
  void bytes(uint32_t field, Bytes content) {
    constexpr uint64_t kLengthDelimited = 2;
    varint(uint64_t{field} << 3 | kLengthDelimited);
    varint(content.size());
    out_.bytes(content);
  }
  void text(uint32_t field, std::string_view content) {
    if (!content.empty()) bytes(field, as_bytes(content));
  }
  void varint(uint64_t value) {
    for (; value > 0x7f; value >>= 7) out_.u8(static_cast<uint8_t>(value | 0x80));
    out_.u8(static_cast<uint8_t>(value));
  }
  [[nodiscard]] Bytes view() const { return out_.view(); }

 private:
  ByteBuilder out_;
};

ProtoWriter symbol_message(const File::Symbol& symbol) {
  ProtoWriter message;
  message.number(1, symbol.address);
  message.number(2, symbol.size);
  message.text(3, symbol.name);
  return message;
}

ProtoWriter file_message(const File& file) {
  ProtoWriter message;
  message.text(1, file.path);
  message.number(2, static_cast<uint64_t>(file.kind));
  message.number(3, file.min_address);
  for (const File::Symbol& symbol : file.symbols) message.bytes(4, symbol_message(symbol).view());
  ProtoWriter part;
  if (file.kind == File::Kind::kDex) {
    ProtoWriter offsets;  // packed
    for (uint64_t offset : file.dex_offsets) offsets.varint(offset);
    if (!file.dex_offsets.empty()) part.bytes(1, offsets.view());
    message.bytes(5, part.view());
  } else if (file.kind == File::Kind::kElf || file.kind == File::Kind::kKernelModule) {
    part.number(1, file.min_address_offset);
    message.bytes(file.kind == File::Kind::kElf ? 6 : 7, part.view());
  }
  return message;
}

void put_entry(Bytes entry, ByteBuilder& out) {
  out.u32(static_cast<uint32_t>(entry.size()));
  out.bytes(entry);
}

}  // namespace

void put_simpleperf_files(const Features& features, ByteBuilder& out) {
  for (const File& file : features.simpleperf_files) {
    ByteBuilder entry(out.order());
    put_fields(file, entry);
    put_entry(entry.view(), out);
  }
}

void put_simpleperf_files2(const Features& features, ByteBuilder& out) {
  for (const File& file : features.simpleperf_files) put_entry(file_message(file).view(), out);
}

void put_simpleperf_meta(const Features& features, ByteBuilder& out) {
  for (const auto& [key, value] : features.simpleperf_meta) {
    put_terminated(key, out);
    put_terminated(value, out);
  }
}

}  // namespace sonde::feature
