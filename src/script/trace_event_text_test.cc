#include "script/trace_event_text.h"

#include <gtest/gtest.h>

#include "perfdata/records/trace_events.h"

namespace sonde::script {
namespace {

std::string text(TraceEventKind kind, uint32_t flags, uint64_t value) {
  ByteBuilder raw;
  append_trace_event(kind, {flags, value}, raw);
  std::string out;
  append_trace_event_text(static_cast<uint64_t>(kind), raw.view(), kHostOrder, out);
  return out;
}

// As perf 6.1 prints them (tests/oracle/itrace_events_oracle.py compares).
TEST(TraceEventText, IsPaddedToAColumn) {
  EXPECT_EQ(text(TraceEventKind::kExStop, 1, 0), " IP: 1                            ");
  EXPECT_EQ(text(TraceEventKind::kPsb, 0, 0x94), " psb offs: 0x94                   ");
  EXPECT_EQ(text(TraceEventKind::kPsb, 0, 0), " psb offs: 0                      ");
  EXPECT_EQ(text(TraceEventKind::kCbr, 20 | 24 << 16, 833320),
            " cbr: 20 freq:  833 MHz ( 83%)    ");
  EXPECT_EQ(text(TraceEventKind::kPwre, 0, 0x3180), " hw: 1 cstate: 3 sub-cstate: 1    ");
  EXPECT_EQ(text(TraceEventKind::kMwait, 0, 0x100000021), " hints: 0x21 extensions: 0x1      ");
  EXPECT_EQ(text(TraceEventKind::kPwrx, 0, 0x134),
            " deepest cstate: 4 last cstate: 3 wake reason: 0x1 ");
}

TEST(TraceEventText, NumbersThatAreTextAreShownAsText) {
  EXPECT_EQ(text(TraceEventKind::kPtWrite, 0, 0x6f6c6c6568), " IP: 0 payload: 0x6f6c6c6568 hello ");
  EXPECT_EQ(text(TraceEventKind::kPtWrite, 1, 0x4100000041), " IP: 1 payload: 0x4100000041      ");
}

TEST(TraceEventText, InterruptsHaveData) {
  ByteBuilder raw;
  append_trace_event(TraceEventKind::kEvt, {1 | 0x80 | 14 << 8 | 3 << 16, 0}, raw);
  append_trace_event_datum({0, 0x1234}, raw);
  append_trace_event_datum({7, 0}, raw);
  std::string out;
  // The third one is missing.
  append_trace_event_text(static_cast<uint64_t>(TraceEventKind::kEvt), raw.view(), kHostOrder, out);
  EXPECT_EQ(out, " cfe: INTR IP: 1 vector: 14 PFA: 0x1234 EVD_7: 0");
  EXPECT_EQ(text(TraceEventKind::kEvt, 11, 0), " cfe: 11 IP: 0 vector: 0          ");
  EXPECT_EQ(text(TraceEventKind::kInterruptFlag, 3, 0x401000),
            " IFLAG: 0->1 via branch           ");
  EXPECT_EQ(text(TraceEventKind::kInterruptFlag, 0, 0), " IFLAG: 1->0 non branch           ");
}

TEST(TraceEventText, DamagedSamplesHaveNone) {
  std::string out;
  append_trace_event_text(0, {}, kHostOrder, out);
  append_trace_event_text(~uint64_t{0}, {}, kHostOrder, out);
  EXPECT_EQ(out, "");
}

}  // namespace
}  // namespace sonde::script
