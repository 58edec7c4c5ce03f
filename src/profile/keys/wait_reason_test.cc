#include "profile/keys/wait_reason.h"

#include <gtest/gtest.h>

#include <vector>

namespace sonde {
namespace {

std::string_view reason(std::optional<OffCpuState> state, std::vector<std::string_view> functions) {
  return wait_reason_name(wait_reason(state, [&](size_t i) -> std::optional<std::string_view> {
    if (i >= functions.size()) return std::nullopt;
    return functions[i];
  }));
}

TEST(WaitReason, TheInnermostFunctionThatSaysSomethingDecides) {
  using enum OffCpuState;
  EXPECT_EQ(reason(kSleeps, {"__schedule", "schedule", "futex_do_wait", "__futex_wait"}), "lock");
  EXPECT_EQ(reason(kSleeps, {"__schedule", "schedule", "do_nanosleep", "hrtimer_nanosleep"}),
            "sleep");
  EXPECT_EQ(
      reason(kSleeps, {"__schedule", "schedule", "schedule_hrtimeout_range_clock", "ep_poll"}),
      "poll");
  EXPECT_EQ(reason(kSleeps, {"__schedule", "schedule", "anon_pipe_read", "vfs_read"}), "data");
  EXPECT_EQ(reason(kBlocked, {"__schedule", "schedule", "__mutex_lock", "pipe_write"}), "lock");
  EXPECT_EQ(reason(kBlocked, {"__schedule", "schedule", "rwsem_down_write_slowpath"}), "lock");
  EXPECT_EQ(reason(kSleeps, {"__schedule", "schedule", "do_wait", "kernel_wait4"}), "child");
}

TEST(WaitReason, TheStateSaysTheRest) {
  using enum OffCpuState;
  EXPECT_EQ(reason(kWaitsForIo, {"__schedule", "schedule", "futex_wait"}), "I/O");
  EXPECT_EQ(reason(kRunnable, {"__schedule", "schedule", "do_nanosleep"}), "runnable");
  EXPECT_EQ(reason(kBlocked, {"__schedule", "schedule", ""}), "blocked");
  EXPECT_EQ(reason(kSleeps, {}), "other");
  // perf's samples have no state and no kernel frames.
  EXPECT_EQ(reason(std::nullopt, {"clock_nanosleep", "main"}), "sleep");
}

TEST(OffCpuNote, ComesBackInBothByteOrders) {
  for (ByteOrder order : {ByteOrder::kLittle, ByteOrder::kBig}) {
    ByteBuilder raw(order);
    encode(OffCpuNote{OffCpuState::kWaitsForIo, 7}, raw);
    EXPECT_EQ((raw.size() + 4) % 8, 0u);  // perf's alignment of raw data
    auto note = decode_off_cpu_note(raw.view(), order);
    ASSERT_TRUE(note);
    EXPECT_EQ(note->state, OffCpuState::kWaitsForIo);
    EXPECT_EQ(note->count, 7u);
    EXPECT_FALSE(decode_off_cpu_note(raw.view().first(8), order));
    raw.patch<uint32_t>(0, 9);
    EXPECT_FALSE(decode_off_cpu_note(raw.view(), order));
  }
}

TEST(OffCpuNote, NamesItsWaker) {
  for (ByteOrder order : {ByteOrder::kLittle, ByteOrder::kBig}) {
    ByteBuilder raw(order), other(order);
    encode(OffCpuNote{OffCpuState::kBlocked, 2, 77}, raw);
    EXPECT_EQ((raw.size() + 4) % 8, 0u);
    auto note = decode_off_cpu_note(raw.view(), order);
    ASSERT_TRUE(note);
    EXPECT_EQ(note->waker, 77u);
    EXPECT_FALSE(decode_off_cpu_note(raw.view().first(16), order));
    encode(WakerNote{5, 77}, other);
    auto waker = decode_waker_note(other.view(), order);
    ASSERT_TRUE(waker);
    EXPECT_EQ(waker->tid, 5u);
    EXPECT_EQ(waker->number, 77u);
    EXPECT_FALSE(decode_waker_note(raw.view(), order));
  }
}

}  // namespace
}  // namespace sonde
