#include "trace/sources/merged_source.h"

#include <gtest/gtest.h>

#include <deque>

namespace sonde {
namespace {

/// Hands out calls with these times; `safe` is its safe_until_ns().
class ListedSource final : public TraceSource {
 public:
  ListedSource(int32_t tid, std::deque<uint64_t> times, uint64_t safe)
      : tid_(tid), times_(std::move(times)), safe_(safe) {}
  [[nodiscard]] const std::vector<TracedEvent>& events() const override { return events_; }
  Result<> refill(bool all) override {
    if (all) safe_ = UINT64_MAX;
    return {};
  }
  [[nodiscard]] const TraceItem* front() override {
    if (times_.empty() || times_.front() > safe_) return nullptr;
    item_.time_ns = times_.front();
    item_.call.tid = tid_;
    return &item_;
  }
  void pop() override { times_.pop_front(); }
  [[nodiscard]] uint64_t safe_until_ns() const override { return safe_; }
  [[nodiscard]] bool at_end() const override { return safe_ == UINT64_MAX && times_.empty(); }

 private:
  int32_t tid_;
  std::deque<uint64_t> times_;
  uint64_t safe_;
  TraceItem item_;
  std::vector<TracedEvent> events_;
};

std::vector<std::pair<uint64_t, int>> taken(TraceSource& source) {
  std::vector<std::pair<uint64_t, int>> items;
  while (const TraceItem* item = source.front()) {
    items.emplace_back(item->time_ns, item->call.tid);
    source.pop();
  }
  return items;
}

TEST(MergedSource, ItemsComeInTheOrderOfTimeAndNoneTooEarly) {
  ListedSource calls(1, {10, 30, 50}, 60), samples(2, {20, 30, 45}, 40);
  MergedSource merged({&calls, &samples});
  using Items = std::vector<std::pair<uint64_t, int>>;
  // Samples may still arrive before anything later than 40; equal times follow the order of the
  // sources.
  EXPECT_EQ(taken(merged), (Items{{10, 1}, {20, 2}, {30, 1}, {30, 2}}));
  EXPECT_FALSE(merged.at_end());
  ASSERT_TRUE(merged.refill(true));
  EXPECT_EQ(taken(merged), (Items{{45, 2}, {50, 1}}));
  EXPECT_TRUE(merged.at_end());
}

}  // namespace
}  // namespace sonde
