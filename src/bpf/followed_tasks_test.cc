#include "bpf/followed_tasks.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

/// A skeleton as bpftool generates it, as far as needed here.
struct Settings {
  uint8_t all_tasks = 0, inherit = 0, enable_on_exec = 0;
};
struct State {
  uint8_t enabled = 0;
  uint32_t generation = 0;
};
struct Skeleton {
  struct {
    bpf_map* tasks = nullptr;
  } maps;
  State* bss = nullptr;
};

TEST(FollowedTasks, TellsTheProgramWhomToFollow) {
  Settings settings;
  set_followed({.tids = {1}, .enable_on_exec = true}, settings);
  EXPECT_EQ(settings.all_tasks, 0);
  EXPECT_EQ(settings.inherit, 1);
  EXPECT_EQ(settings.enable_on_exec, 1);
  set_followed({.all = true, .inherit = false}, settings);
  EXPECT_EQ(settings.all_tasks, 1);
  EXPECT_EQ(settings.inherit, 0);
  EXPECT_EQ(settings.enable_on_exec, 0);
}

TEST(FollowedTasks, PhasesAreThoseOfTheProgram) {
  State state;
  Skeleton skeleton{.maps = {}, .bss = &state};
  set_phase(skeleton, FollowPhase::kOn);
  EXPECT_EQ(state.enabled, 1);
  set_phase(skeleton, FollowPhase::kOver);
  EXPECT_EQ(state.enabled, 2);
  set_phase(skeleton, FollowPhase::kOff);
  EXPECT_EQ(state.enabled, 0);
}

TEST(FollowedTasks, ATableThatIsNotThereCannotBeFilled) {
  State state;
  Skeleton skeleton{.maps = {}, .bss = &state};
  EXPECT_TRUE(follow_tasks(skeleton, {}));
  EXPECT_EQ(state.generation, 1u);
  EXPECT_FALSE(follow_tasks(skeleton, std::vector<uint32_t>{1}));
  EXPECT_EQ(state.generation, 1u);
  EXPECT_FALSE(has_threads(nullptr));
}

}  // namespace
}  // namespace sonde
