#include "perfdata/records/futex_sample.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(FutexNote, ComesBackAsItWasInBothByteOrders) {
  FutexNote note{.word = 0x7f0000001000,
                 .operation = 9,
                 .owner = 77,
                 .outcome = FutexOutcome::kTimedOut,
                 .count = 3,
                 .longest_ns = 2000,
                 .shortest_ns = 10};
  for (ByteOrder order : {ByteOrder::kLittle, ByteOrder::kBig}) {
    ByteBuilder raw(order);
    encode(note, raw);
    EXPECT_EQ((raw.size() + 4) % 8, 0u);  // as perf requires of raw data
    EXPECT_EQ(decode_futex_note(raw.view(), order), note);
  }
}

TEST(FutexNote, OthersDataIsNone) {
  ByteBuilder raw;
  encode(FutexNote{}, raw);
  EXPECT_FALSE(decode_futex_note(raw.view().first(raw.size() - 1), kHostOrder));
  raw.u64(0);
  EXPECT_FALSE(decode_futex_note(raw.view(), kHostOrder));
  ByteBuilder unknown;
  encode(FutexNote{.outcome = static_cast<FutexOutcome>(9)}, unknown);
  EXPECT_FALSE(decode_futex_note(unknown.view(), kHostOrder));
}

}  // namespace
}  // namespace sonde
