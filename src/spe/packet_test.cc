#include "spe/packet.h"

#include <gtest/gtest.h>

#include <vector>

namespace sonde::spe {
namespace {

Bytes bytes_of(const std::vector<uint8_t>& bytes) {
  return std::as_bytes(std::span(bytes));
}

std::string text_of(const std::vector<uint8_t>& bytes) {
  Packet packet;
  if (!read_packet(bytes_of(bytes), 0, packet)) return "none";
  EXPECT_EQ(packet.size, bytes.size());
  std::string text;
  append_text(packet, text);
  return text;
}

TEST(SpePacket, EachKindSaysWhatItTells) {
  EXPECT_EQ(text_of({0xb0, 5, 0x10, 0x40, 0, 0, 0, 0, 0xa0}), "PC 0x401005 el1 ns=1");
  EXPECT_EQ(text_of({0xb1, 0, 0x10, 0, 0, 0, 0, 0, 0x40}), "TGT 0x1000 el2 ns=0");
  EXPECT_EQ(text_of({0xb2, 0, 0, 0, 0, 0, 0, 0, 0xab}), "VA 0xab00000000000000");
  EXPECT_EQ(text_of({0xb3, 1, 0, 0, 0, 0, 0, 0, 0xc9}), "PA 0x1 ns=1 ch=1 pat=9");
  EXPECT_EQ(text_of({0x99, 0x34, 0x12}), "LAT 4660 ISSUE");
  EXPECT_EQ(text_of({0x52, 0x82, 0x04}), "EV RETIRED MISPRED REMOTE-ACCESS");
  EXPECT_EQ(text_of({0x43, 9}), "DATA-SOURCE 9");
  EXPECT_EQ(text_of({0x65, 10, 0, 0, 0}), "CONTEXT 0xa el2");
  EXPECT_EQ(text_of({0x49, 0x1b}), "ST EXCL AR");
  EXPECT_EQ(text_of({0x49, 0x8c}), "LD EVLEN 32 PRED SG");
  EXPECT_EQ(text_of({0x4a, 0x03}), "B COND IND");
  EXPECT_EQ(text_of({0x48, 0x1a}), "SVE-OTHER EVLEN 64 FP");
}

TEST(SpePacket, AnExtendedHeaderHasAnIndexOfFiveBits) {
  EXPECT_EQ(text_of({0x22, 0xb1, 7, 0, 0, 0, 0, 0, 0, 0}), "ADDR 0x7 (17)");
  EXPECT_EQ(text_of({0x20, 0x9a, 7, 0}), "LAT 7 XLAT");
  EXPECT_EQ(text_of({0x20, 0x49}), "none");
}

TEST(SpePacket, PaddingGoesUpToAnAlignedPlaceInTheTrace) {
  std::vector<uint8_t> trace = {0x01, 0x01, 0x22, 0x00, 0xff, 0xff, 0xff, 0xff, 0x01};
  Packet packet;
  ASSERT_TRUE(read_packet(bytes_of(trace), 2, packet));
  EXPECT_EQ(packet.type, PacketType::kPad);
  EXPECT_EQ(packet.size, 6u);
}

TEST(SpePacket, WhatIsCutOffTellsItsSize) {
  std::vector<uint8_t> trace = {0xb0, 1, 2, 3};
  Packet packet;
  EXPECT_FALSE(read_packet(bytes_of(trace), 0, packet));
  EXPECT_EQ(packet.size, 9u);
}

TEST(SpePacket, LinesShowBytesAndPaddingTogether) {
  std::vector<uint8_t> trace = {0x49, 0x01, 0x00, 0x00, 0xff, 0x01};
  StringSink out;
  put_packets(bytes_of(trace), out);
  EXPECT_EQ(out.text(),
            ".  00000000:  49 01                                           ST GP-REG\n"
            ".  00000002:  00 00                                           PAD\n"
            ".  00000004:  ff                                              Bad packet!\n"
            ".  00000005:  01                                              END\n");
}

}  // namespace
}  // namespace sonde::spe
