#include "pt/packet.h"

#include <gtest/gtest.h>

#include "pt/trace_builder.h"

namespace sonde::pt {
namespace {

std::string text_of(std::initializer_list<uint8_t> raw) {
  std::vector<std::byte> bytes;
  for (uint8_t byte : raw) bytes.push_back(std::byte{byte});
  Packet packet;
  if (!read_packet(bytes, packet)) return "no packet";
  std::string text;
  append_text(packet, text);
  return fmt::format("{}:{}", packet.size, text);
}

// The bytes and texts are of a dump by perf 6.1.
TEST(Packet, TextsAreThoseOfPerf) {
  EXPECT_EQ(text_of({0x99, 0x20}), "2:MODE.TSX TXAbort:0 InTX:0");
  EXPECT_EQ(text_of({0x99, 0x01}), "2:MODE.Exec IF:0 64");
  EXPECT_EQ(text_of({0x7d, 0x00, 0xd3, 0x60, 0xb9, 0xff, 0xff}), "7:FUP 0xffffb960d300");
  EXPECT_EQ(text_of({0x02, 0x43, 0x00, 0x34, 0xd4, 0x3f, 0, 0}), "8:PIP 0x1fea1a00 (NR=0)");
  EXPECT_EQ(text_of({0x19, 0xe8, 0xcf, 0xd2, 0x4c, 0xbc, 0, 0}), "8:TSC 0xbc4cd2cfe8");
  EXPECT_EQ(text_of({0x02, 0x73, 0x3c, 0xb2, 0, 0x30, 0}), "7:TMA CTC 0xb23c FC 0x30");
  EXPECT_EQ(text_of({0x02, 0x03, 0x1d, 0}), "4:CBR 0x1d");
  EXPECT_EQ(text_of({0xee}), "1:TNT TTNTTT (6)");
  EXPECT_EQ(text_of({0x0a}), "1:TNT NT (2)");
  EXPECT_EQ(text_of({0x2d, 0xdc, 0x21}), "3:TIP 0x21dc");
  EXPECT_EQ(text_of({0x01}), "1:TIP.PGD no ip");
  EXPECT_EQ(text_of({0x59, 0x48}), "2:MTC 0x48");
  EXPECT_EQ(text_of({0x02, 0xf3}), "2:OVF");
  EXPECT_EQ(text_of({0x02, 0x43, 0x00}), "no packet");
  EXPECT_EQ(text_of({0x02, 0xff}), "no packet");
  EXPECT_EQ(text_of({0xb1, 0, 0, 0, 0, 0, 0}), "no packet");
}

TEST(Packet, DumpKeepsPaddingOnTheLineOfAShorterPacket) {
  std::vector<std::byte> bytes(13);
  bytes[0] = std::byte{0x01};
  StringSink out;
  put_packets(bytes, out);
  EXPECT_EQ(out.text(),
            ".  00000000:  01 00 00 00 00 00 00 00                         TIP.PGD no ip\n"
            ".  00000008:  00 00 00 00 00                                  PAD\n");
}

TEST(Packet, EventTracePacketsTellTypeAndVector) {
  EXPECT_EQ(text_of({0x02, 0x13, 0x81, 0x0e}), "4:CFE IP:1 Type 0x01 Vector 0xe");
  EXPECT_EQ(text_of({0x02, 0x53, 0x00, 0x10, 0x20, 0, 0, 0, 0, 0, 0}),
            "11:EVD Type 0x00 Payload 0x2010");
}

TEST(Packet, ItemsAreThoseOfABlock) {
  // Times may come in between; what else comes ends a block without a BEP.
  std::vector<uint8_t> trace = {0x02, 0x63, 0x81, 0x0c, 1, 2, 3, 4,    0x59, 7,    0x04,
                                5,    0,    0,    0,    6, 4, 2, 0x63, 4,    0x02, 0xb3};
  StringSink out;
  put_packets(std::as_bytes(std::span(trace)), out);
  std::string meanings;
  constexpr size_t kBefore = 62;
  for (size_t at = 0, end; at < out.text().size(); at = end + 1) {
    end = out.text().find('\n', at);
    meanings += out.text().substr(at + kBefore, end - at - kBefore) + "|";
  }
  EXPECT_EQ(meanings,
            "BBP SZ 4-byte Type 0x1|BIP ID 0x01 Value 0x4030201|MTC 0x7|BIP ID 0x00 Value 0x5|"
            "TNT T (1)|TNT N (1)|BBP SZ 8-byte Type 0x4|BEP IP:1|");
}

#if __has_include(<intel-pt.h>)

/// What libipt reads at the start of the bytes: the size, or an error.
int libipt_size(Bytes bytes) {
  pt_config config;
  pt_config_init(&config);
  config.begin = reinterpret_cast<uint8_t*>(const_cast<std::byte*>(bytes.data()));
  config.end = config.begin + bytes.size();
  pt_packet_decoder* decoder = pt_pkt_alloc_decoder(&config);
  pt_pkt_sync_set(decoder, 0);
  pt_packet packet;
  int size = pt_pkt_next(decoder, &packet, sizeof packet);
  pt_pkt_free_decoder(decoder);
  return size;
}

// Every pair of first bytes, with the same bytes behind: both see the same packet, or none.
TEST(Packet, SizesAreThoseOfLibipt) {
  std::vector<std::byte> bytes(24, std::byte{0x88});
  for (unsigned first = 0; first < 256; ++first) {
    for (unsigned second = 0; second < 256; ++second) {
      bytes[0] = std::byte{static_cast<uint8_t>(first)};
      bytes[1] = std::byte{static_cast<uint8_t>(second)};
      Packet packet;
      bool ours = read_packet(bytes, packet);
      int theirs = libipt_size(bytes);
      // libipt checks some reserved bits that say nothing about the size.
      if (theirs <= 0) continue;
      ASSERT_TRUE(ours) << first << ' ' << second;
      ASSERT_EQ(packet.size, theirs) << first << ' ' << second;
    }
  }
}

TEST(Packet, FindsPsbs) {
  TraceBuilder trace;
  trace.pad();
  trace.synchronize(1);
  size_t second = trace.view().size();
  trace.synchronize(2);
  EXPECT_EQ(find_psb(trace.view(), 0), 1u);
  EXPECT_EQ(find_psb(trace.view(), 2), second);
  EXPECT_EQ(find_psb(trace.view(), second + 1), trace.view().size());
}

#endif

}  // namespace
}  // namespace sonde::pt
