// For tests: builds a perf.data in memory, in either byte order.
//
//   FileBuilder file(ByteOrder::kBig);
//   file.events = {event};
//   encode(CommRecord{…}, {}, file.data);
//   std::vector<std::byte> bytes = file.file();   // or file.pipe()
#pragma once

#include <vector>

#include "base/bytes.h"
#include "perfdata/header/event_table.h"
#include "perfdata/header/feature_encoder.h"
#include "perfdata/header/features.h"
#include "perfdata/records/attr_codec.h"
#include "perfdata/records/user_records.h"

namespace sonde {

struct FileBuilder {
  explicit FileBuilder(ByteOrder byte_order = kHostOrder) : order(byte_order), data(byte_order) {}

  ByteOrder order;
  std::vector<EventDesc> events;
  ByteBuilder data;
  Features features;
  uint32_t attr_size = abi::kAttrSizeVer8;
  size_t bitmap_word_size = 8;  // word size of the recording machine
  bool crashed = false;         // data size 0; feature bits but no features

  [[nodiscard]] std::vector<std::byte> file() const {
    constexpr size_t kHeaderSize = 104, kSection = 16;
    ByteBuilder ids(order), attrs(order);
    for (const EventDesc& event : events) {
      encode_attr(event.attr, attr_size, attrs);
      attrs.u64(kHeaderSize + ids.size());
      attrs.u64(event.ids.size() * 8);
      for (uint64_t id : event.ids) ids.u64(id);
    }
    size_t data_offset = kHeaderSize + ids.size() + attrs.size();
    ByteBuilder out(order);
    out.u64(0x32454c4946524550);  // "PERFILE2"
    out.u64(kHeaderSize);
    out.u64(attr_size + kSection);
    out.u64(kHeaderSize + ids.size());
    out.u64(attrs.size());
    out.u64(data_offset);
    out.u64(crashed ? 0 : data.size());
    out.zeros(kSection);
    put_bitmap(out);
    out.bytes(ids.view());
    out.bytes(attrs.view());
    out.bytes(data.view());
    if (!crashed) put_features(out);
    return {out.view().begin(), out.view().end()};
  }

  [[nodiscard]] std::vector<std::byte> pipe() const {
    ByteBuilder out(order);
    out.u64(0x32454c4946524550);
    out.u64(16);
    for (const EventDesc& event : events) {
      ByteBuilder ids(order);
      for (uint64_t id : event.ids) ids.u64(id);
      HeaderAttrRecord attr{event.attr, WordView(ids.view(), order)};
      attr.attr.size = attr_size;
      encode(attr, out);
    }
    for (uint32_t bit : features.present) {
      ByteBuilder section(order);
      encode_feature(bit, features, events, attr_size, section);
      encode(HeaderFeatureRecord{bit, section.view()}, out);
    }
    out.bytes(data.view());
    return {out.view().begin(), out.view().end()};
  }

 private:
  void put_bitmap(ByteBuilder& out) const {
    for (size_t base = 0; base < abi::kFeatureBits; base += bitmap_word_size * 8) {
      uint64_t word = 0;
      for (uint32_t bit : features.present)
        if (bit >= base && bit < base + bitmap_word_size * 8) word |= uint64_t{1} << (bit - base);
      if (bitmap_word_size == 4)
        out.u32(static_cast<uint32_t>(word));
      else
        out.u64(word);
    }
  }
  void put_features(ByteBuilder& out) const {
    ByteBuilder sections(order);
    uint64_t first = out.size() + features.present.size() * 16;
    for (uint32_t bit : features.present) {
      size_t start = sections.size();
      encode_feature(bit, features, events, attr_size, sections);
      out.u64(first + start);
      out.u64(sections.size() - start);
    }
    out.bytes(sections.view());
  }
};

}  // namespace sonde
