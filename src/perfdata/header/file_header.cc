#include "perfdata/header/file_header.h"

#include <algorithm>

#include "abi/record_names.h"
#include "perfdata/header/file_layout.h"
#include "perfdata/records/attr_codec.h"

namespace sonde {
namespace {

constexpr std::string_view kMagic = "PERFILE2";
constexpr std::string_view kSwappedMagic = "2ELIFREP";
constexpr std::string_view kOldMagic = "PERFFILE";
constexpr size_t kOldHeaderSize = 72;  // without the feature bitmap
constexpr ByteOrder kOtherOrder =
    kHostOrder == ByteOrder::kLittle ? ByteOrder::kBig : ByteOrder::kLittle;

FileSection read_section(ByteCursor& in) {
  uint64_t offset = in.u64();
  return {offset, in.u64()};
}

/// The part of a section that is inside the file.
Bytes inside(Bytes file, FileSection section) {
  if (section.offset > file.size()) return {};
  return file.subspan(section.offset,
                      std::min<uint64_t>(section.size, file.size() - section.offset));
}

bool fits(Bytes file, FileSection section) {
  return section.offset <= file.size() && section.size <= file.size() - section.offset;
}

/// The old magic is the same in both byte orders; the size tells them apart.
std::optional<ByteOrder> order_of(Bytes file) {
  std::string_view magic = as_text(file.first(kMagic.size()));
  if (magic == kMagic) return ByteOrder::kLittle;
  if (magic == kSwappedMagic) return ByteOrder::kBig;
  if (magic != kOldMagic) return std::nullopt;
  auto size = load<uint64_t>(file.data() + kMagic.size(), kHostOrder);
  return size <= kFileHeaderSize ? kHostOrder : kOtherOrder;
}

std::vector<uint32_t> set_bits(Bytes bitmap, ByteOrder order, size_t word_size) {
  std::vector<uint32_t> bits;
  ByteCursor in(bitmap, order);
  for (uint32_t base = 0; base < abi::kFeatureBits; base += static_cast<uint32_t>(word_size * 8)) {
    uint64_t word = word_size == 4 ? in.u32() : in.u64();
    for (; word != 0; word &= word - 1)
      bits.push_back(base + static_cast<uint32_t>(std::countr_zero(word)));
  }
  return bits;
}

ptrdiff_t unknown_bits(const std::vector<uint32_t>& bits) {
  return std::ranges::count_if(bits, [](uint32_t bit) {
    return bit < abi::kFeatureSimpleperfStart && abi::feature_name(bit).empty();
  });
}

FeatureTable table_for(const std::vector<uint32_t>& bits, const FileHeader& header, Bytes file,
                       uint64_t table_offset) {
  FeatureTable table;
  FileSection place{table_offset, bits.size() * kSectionSize};
  table.plausible = fits(file, place);
  ByteCursor in(inside(file, place), header.order);
  table.end = table_offset + place.size;
  for (uint32_t bit : bits) {
    FileSection section = read_section(in);
    // What the end of the file cut off is no empty section.
    if (!in.ok()) section = {.offset = UINT64_MAX, .size = 0};
    table.entries.push_back({bit, section});
    if (!in.ok() || !fits(file, section))
      table.plausible = false;
    else
      table.end = std::max(table.end, section.offset + section.size);
  }
  return table;
}

}  // namespace

Result<FileHeader> parse_file_header(Bytes file, const std::string& name) {
  auto not_ours = [&](std::string_view why) {
    return fail(ErrorCode::kCorrupt, "{}: incompatible file format: {}", name, why);
  };
  if (file.size() < kPipeHeaderSize) return not_ours("it is too short for a perf.data file");
  auto order = order_of(file);
  if (!order) return not_ours("it does not begin like a perf.data file");

  FileHeader header;
  header.order = *order;
  header.version = as_text(file.first(kMagic.size())) == kOldMagic ? 1 : 2;
  ByteCursor in(file.subspan(kMagic.size()), header.order);
  header.size = in.u64();
  header.is_pipe = header.size == kPipeHeaderSize;
  if (header.is_pipe) return header;
  if (header.size < kOldHeaderSize) return not_ours("its header has an unknown size");
  header.attr_size = in.u64();
  header.attrs = read_section(in);
  header.data = read_section(in);
  header.event_types = read_section(in);
  if (!in.ok()) return not_ours("its header is cut off");
  if (header.size >= kFileHeaderSize) {
    header.feature_bitmap = in.take(abi::kFeatureBits / 8);
    if (!in.ok()) return not_ours("its header is cut off");
  }
  if (header.attr_size < abi::kAttrSizeVer0 + kSectionSize)
    return not_ours("its events have an unknown size");
  return header;
}

void read_attrs(const FileHeader& header, Bytes file, EventTable& events, LossLedger& losses) {
  Bytes attrs = inside(file, header.attrs);
  auto damaged = [&] { losses.add(LossKind::k_bad_feature, 1, "an event's attr"); };
  if (attrs.size() < header.attrs.size || header.attrs.size % header.attr_size != 0) damaged();
  uint64_t id_bytes = 0;  // sections that share bytes must not add up to more than the file
  for (; attrs.size() >= header.attr_size; attrs = attrs.subspan(header.attr_size)) {
    size_t room = header.attr_size - kSectionSize;
    auto attr = decode_attr(attrs.first(room), header.order);
    if (!attr) {
      damaged();
      continue;
    }
    ByteCursor section(attrs.subspan(room, kSectionSize), header.order);
    FileSection ids = read_section(section);
    if (!fits(file, ids) || ids.size > file.size() - id_bytes) {
      damaged();
      ids = {};
    }
    id_bytes += ids.size;
    EventDesc event;
    event.attr = *attr;
    ByteCursor in(inside(file, ids), header.order);
    while (in.left() >= sizeof(uint64_t)) event.ids.push_back(in.u64());
    events.add(std::move(event));
  }
}

void read_event_types(const FileHeader& header, Bytes file, SetupCollector& setup) {
  constexpr size_t kNameSize = 64;
  ByteCursor in(inside(file, header.event_types), header.order);
  while (in.left() >= sizeof(uint64_t) + kNameSize) {
    uint64_t config = in.u64();
    setup.add_tracepoint_name(config, in.fixed_string(kNameSize));
  }
}

FeatureTable read_feature_table(const FileHeader& header, Bytes file, uint64_t table_offset) {
  if (header.feature_bitmap.empty()) return {{}, true, table_offset};
  auto bits = [&](size_t word_size) {
    return set_bits(header.feature_bitmap, header.order, word_size);
  };
  // In little-endian files the word size makes no difference.
  bool narrow = header.order == ByteOrder::kBig && unknown_bits(bits(4)) < unknown_bits(bits(8));
  return table_for(bits(narrow ? 4 : 8), header, file, table_offset);
}

}  // namespace sonde
