#include "etm/packet_text.h"

#include <gtest/gtest.h>

#include <string>

#include "base/sink.h"
#include "etm/trace_builder.h"

namespace sonde::etm {
namespace {

TEST(PacketText, EachPacketIsALineWithItsPlace) {
  StringSink out;
  TraceUnit unit = test_unit(0, 0x10);
  TraceBuilder trace;
  trace.begin(0x401000).taken();
  auto done = put_packets({&unit, 1}, Format::kRaw, std::as_bytes(std::span(trace.bytes())), out);
  ASSERT_TRUE(done) << done.error().message;
  const std::string& text = out.text();
  EXPECT_TRUE(
      text.starts_with("\tIdx:0; ID:10;\tI_ASYNC : Alignment Synchronisation.\n"
                       "\tIdx:12; ID:10;\tI_TRACE_INFO : Trace Info."))
      << text;
  EXPECT_NE(text.find("Addr=0x0000000000401000"), std::string::npos) << text;
  EXPECT_NE(text.find("\tI_ATOM_F1 : Atom format 1.; E\n"), std::string::npos) << text;
}

TEST(PacketText, FramesAreTakenApart) {
  StringSink out;
  TraceUnit units[] = {test_unit(0, 0x10), test_unit(1, 0x12), test_unit(2, 0x12)};
  TraceBuilder trace;
  trace.begin(0x401000);
  std::vector<uint8_t> frames = in_frames(trace.bytes(), 0x12);
  ASSERT_TRUE(put_packets(units, Format::kFrames, std::as_bytes(std::span(frames)), out));
  EXPECT_NE(out.text().find("ID:12;\tI_TRACE_ON : Trace On.\n"), std::string::npos) << out.text();
}

TEST(PacketText, UnitsAreTheirRegisters) {
  StringSink out;
  const uint64_t words[] = {
      1, uint64_t{8} << 32 | 1, 0, 0x4040404040404040, 3, 8, 0x41, 0x10, 0xa, 0xb, 0xc, 0xd, 0xe,
      1};
  put_trace_units(words, out);
  EXPECT_EQ(
      out.text(),
      "\tHeader version                 1\n\tPMU type/num cpus              800000001\n"
      "\tSnapshot                       0\n\tMagic number                   4040404040404040\n"
      "\tCPU                            3\n\tNR_TRC_PARAMS                  8\n"
      "\tTRCCONFIGR                     41\n\tTRCTRACEIDR                    10\n"
      "\tTRCIDR0                        a\n\tTRCIDR1                        b\n"
      "\tTRCIDR2                        c\n\tTRCIDR8                        d\n"
      "\tTRCAUTHSTATUS                  e\n\tTS_SOURCE                      1\n");
}

}  // namespace
}  // namespace sonde::etm
