#include "capture/opening/followed_target.h"

namespace sonde {
namespace {

std::vector<uint32_t> ids_of(const std::vector<ThreadEntry>& threads) {
  std::vector<uint32_t> ids;
  for (const ThreadEntry& thread : threads) ids.push_back(static_cast<uint32_t>(thread.tid));
  return ids;
}

}  // namespace

FollowedTasks followed_tasks(const Target& target, bool inherit, const DelayOptions& delay) {
  FollowedTasks tasks{.all = target.has_cpu(),
                      .inherit = inherit,
                      .enable_on_exec = target.is_command() && !delay.any()};
  if (tasks.all) return tasks;
  tasks.tids = ids_of(target.threads);
  if (!target.pids.empty() || !target.user.empty())
    tasks.list = [target] { return ids_of(threads_now(target)); };
  return tasks;
}

Result<FollowedTasks> followed_tasks(const std::string& pids, const std::string& tids) {
  FollowedTasks tasks{.tids = ids_of(TRY(threads_of_either(pids, tids)))};
  if (!pids.empty()) tasks.list = [pids] { return ids_of(threads_of_remaining(pids)); };
  return tasks;
}

}  // namespace sonde
