#include "capture/opening/followed_target.h"

namespace sonde {

FollowedTasks followed_tasks(const Target& target, bool inherit, const DelayOptions& delay) {
  FollowedTasks tasks{.all = target.has_cpu(),
                      .inherit = inherit,
                      .enable_on_exec = target.is_command() && !delay.any()};
  if (tasks.all) return tasks;
  for (const ThreadEntry& thread : target.threads)
    tasks.tids.push_back(static_cast<uint32_t>(thread.tid));
  return tasks;
}

}  // namespace sonde
