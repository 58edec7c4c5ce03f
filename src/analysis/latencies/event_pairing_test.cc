#include "analysis/latencies/event_pairing.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

using Nesting = EventPairing::Nesting;

TEST(EventPairing, KnownLatencies) {
  EventPairing pairing(Nesting::kNone);
  pairing.begin({8, 100}, 1000);
  pairing.begin({8, 200}, 1010);
  pairing.begin({9, 100}, 1020);
  EXPECT_EQ(pairing.end({8, 200}, 1100), 90u);
  EXPECT_EQ(pairing.end({9, 100}, 1100), 80u);
  EXPECT_EQ(pairing.end({8, 100}, 1000), 0u);
  EXPECT_EQ(pairing.counts().pairs, 3u);
  EXPECT_EQ(pairing.still_open(), 0u);
}

TEST(EventPairing, PartnersThatAreMissingAreCounted) {
  EventPairing pairing(Nesting::kNone);
  EXPECT_EQ(pairing.end({1}, 10), std::nullopt);
  pairing.begin({1}, 20);
  pairing.begin({2}, 20);
  EXPECT_EQ(pairing.end({1}, 30), 10u);
  EXPECT_EQ(pairing.end({1}, 40), std::nullopt);
  EXPECT_EQ(pairing.counts().ends_alone, 2u);
  EXPECT_EQ(pairing.still_open(), 1u);
}

TEST(EventPairing, ASecondBeginTakesThePlaceOfTheFirst) {
  EventPairing pairing(Nesting::kNone);
  pairing.begin({1}, 10);
  pairing.begin({1}, 50);
  EXPECT_EQ(pairing.end({1}, 60), 10u);
  EXPECT_EQ(pairing.end({1}, 70), std::nullopt);
  EXPECT_EQ(pairing.counts().replaced, 1u);
  EXPECT_EQ(pairing.counts().pairs, 1u);
}

TEST(EventPairing, CallsInsideCallsEndInnermostFirst) {
  EventPairing pairing(Nesting::kCalls);
  pairing.begin({7}, 10);
  pairing.begin({7}, 20);
  EXPECT_EQ(pairing.end({7}, 25), 5u);
  pairing.begin({7}, 30);
  EXPECT_EQ(pairing.end({7}, 31), 1u);
  EXPECT_EQ(pairing.end({7}, 40), 30u);
  EXPECT_EQ(pairing.counts().replaced, 0u);
  EXPECT_EQ(pairing.still_open(), 0u);
}

TEST(EventPairing, AnEndBeforeItsBeginIsNoPair) {
  EventPairing pairing(Nesting::kNone);
  pairing.begin({1}, 100);
  EXPECT_EQ(pairing.end({1}, 90), std::nullopt);
  EXPECT_EQ(pairing.counts().backward, 1u);
  EXPECT_EQ(pairing.counts().pairs, 0u);
}

}  // namespace
}  // namespace sonde
