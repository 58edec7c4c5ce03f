#include "perfdata/read/ordering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace sonde {
namespace {

using testing::ElementsAre;

struct Sorted {
  std::vector<std::pair<uint64_t, uint64_t>> out;  // time, file offset
  LossLedger losses;
  RoundSorter sorter{[this](std::span<const TimedRecord> records) {
                       for (const TimedRecord& r : records)
                         out.emplace_back(r.time, r.record.file_offset);
                     },
                     losses};
  uint64_t offset = 0;

  void push(uint64_t time) {
    TimedRecord record{time, {}, {}};
    record.record.file_offset = offset++;
    sorter.push(record);
  }
  [[nodiscard]] std::vector<uint64_t> times() const {
    std::vector<uint64_t> all;
    for (const auto& [time, place] : out) all.push_back(time);
    return all;
  }
};

TEST(RoundSorter, TheHeadersExample) {
  Sorted s;
  for (uint64_t time : {1u, 4u, 2u, 3u}) s.push(time);
  s.sorter.finish_round();
  EXPECT_THAT(s.times(), ElementsAre());
  for (uint64_t time : {6u, 9u, 5u, 7u}) s.push(time);
  s.sorter.finish_round();
  EXPECT_THAT(s.times(), ElementsAre(1, 2, 3, 4));
  s.sorter.flush();
  EXPECT_THAT(s.times(), ElementsAre(1, 2, 3, 4, 5, 6, 7, 9));
  EXPECT_EQ(s.losses.total(), 0u);
}

TEST(RoundSorter, EqualTimesKeepTheOrderOfTheFile) {
  Sorted s;
  for (uint64_t time : {5u, 7u, 5u, 3u, 7u, 5u}) s.push(time);
  s.sorter.flush();
  EXPECT_THAT(s.out, ElementsAre(std::pair(3, 3), std::pair(5, 0), std::pair(5, 2), std::pair(5, 5),
                                 std::pair(7, 1), std::pair(7, 4)));
}

TEST(RoundSorter, RecordsWithoutTimeFollowTheirPredecessor) {
  Sorted s;
  s.push(UINT64_MAX);
  s.push(10);
  s.push(0);
  s.push(5);
  s.push(UINT64_MAX);
  s.sorter.flush();
  EXPECT_THAT(s.out, ElementsAre(std::pair(0, 0), std::pair(5, 3), std::pair(5, 4),
                                 std::pair(10, 1), std::pair(10, 2)));
}

TEST(RoundSorter, LateRecordsAreGivenOutAndCounted) {
  Sorted s;
  s.push(10);
  s.sorter.finish_round();
  s.push(20);
  s.sorter.finish_round();  // delivers 10
  s.push(9);
  EXPECT_THAT(s.times(), ElementsAre(10, 9));
  EXPECT_EQ(s.losses.count(LossKind::k_out_of_order), 1u);
  s.push(10);  // not older than what was delivered: in time
  s.sorter.flush();
  EXPECT_THAT(s.times(), ElementsAre(10, 9, 10, 20));
  EXPECT_EQ(s.losses.count(LossKind::k_out_of_order), 1u);
}

/// Many rings, many rounds: the same as a stable sort of everything.
TEST(RoundSorter, IsAStableSortWhereTheContractHolds) {
  std::mt19937_64 random(7);
  Sorted s;
  std::vector<std::pair<uint64_t, uint64_t>> expected;
  for (uint64_t round = 0; round < 20; ++round) {
    for (int ring = 0; ring < 7; ++ring) {
      uint64_t time = 1000 * (round + 1);
      for (uint64_t i = random() % 300; i > 0; --i) {
        time += random() % 4;
        expected.emplace_back(time, s.offset);
        s.push(time);
      }
    }
    s.sorter.finish_round();
  }
  s.sorter.flush();
  std::ranges::stable_sort(expected, {}, [](const auto& entry) { return entry.first; });
  EXPECT_EQ(s.out, expected);
  EXPECT_EQ(s.losses.total(), 0u);
}

/// Batches give the same result as single records, including records without a time or too late.
TEST(RoundSorter, StretchesAreTakenLikeSingleRecords) {
  std::mt19937_64 random(11);
  Sorted single, segments;
  for (int round = 0; round < 50; ++round) {
    std::vector<TimedRecord> records;
    auto time = static_cast<uint64_t>(100 * round);
    for (uint64_t i = random() % 200; i > 0; --i) {
      uint64_t kind = random() % 20;
      time = kind == 0 ? time / 2 : time + random() % 3;
      TimedRecord record{kind == 1 ? 0 : kind == 2 ? UINT64_MAX : time, {}, {}};
      record.record.file_offset = single.offset++;
      single.sorter.push(record);
      records.push_back(record);
    }
    segments.sorter.push(records);
    single.sorter.finish_round();
    segments.sorter.finish_round();
  }
  single.sorter.flush();
  segments.sorter.flush();
  EXPECT_EQ(segments.out, single.out);
  EXPECT_GT(single.losses.count(LossKind::k_out_of_order), 0u);
  EXPECT_EQ(segments.losses.count(LossKind::k_out_of_order),
            single.losses.count(LossKind::k_out_of_order));
}

}  // namespace
}  // namespace sonde
