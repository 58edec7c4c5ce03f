#include "capture/opening/thread_map.h"

#include <dirent.h>
#include <pwd.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>

#include "base/file.h"
#include "base/text.h"

namespace sonde {
namespace {

std::string comm_of(pid_t tid) {
  Result<std::string> comm = read_file(fmt::format("/proc/{}/comm", tid));
  return comm ? std::string(trim(*comm)) : std::string();
}

Result<std::vector<pid_t>> parse_ids(std::string_view list, std::string_view what) {
  std::vector<pid_t> ids;
  for (std::string_view word : split(list, ',')) {
    std::optional<uint64_t> id = parse_number(trim(word));
    if (!id || *id == 0 || *id > INT32_MAX)
      return fail(ErrorCode::kUsage, "Invalid {} id: '{}' in '{}'", what, word, list);
    ids.push_back(static_cast<pid_t>(*id));
  }
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

/// As perf: who asks for several wants all of them.
std::unexpected<Error> all_must_exist(std::string_view what, const std::vector<pid_t>& gone,
                                      size_t wanted) {
  std::string ids = fmt::format("{}", gone.front());
  for (size_t i = 1; i < gone.size(); ++i) ids += fmt::format(", {}", gone[i]);
  return fail(ErrorCode::kNotFound, "No such {}: {}{}", what, ids,
              gone.size() < wanted ? "; leave it out to watch the others" : "");
}

void add_threads(pid_t pid, std::vector<ThreadEntry>& threads) {
  for (pid_t tid : numeric_entries(fmt::format("/proc/{}/task", pid)))
    threads.push_back({tid, comm_of(tid)});
}

}  // namespace

Result<uid_t> user_id(const std::string& user) {
  if (passwd* entry = ::getpwnam(user.c_str())) return entry->pw_uid;
  if (std::optional<uint64_t> number = parse_number(user); number && *number <= UINT32_MAX)
    return static_cast<uid_t>(*number);
  return fail(ErrorCode::kNotFound, "Invalid User: {}", user);
}

std::vector<uint64_t> numbered_entries(const std::string& directory, std::string_view prefix) {
  std::vector<uint64_t> numbers;
  std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(directory.c_str()), ::closedir);
  if (!open) return numbers;
  while (dirent* entry = ::readdir(open.get())) {
    std::string_view name = entry->d_name;
    if (!name.starts_with(prefix) || name.size() == prefix.size()) continue;
    name.remove_prefix(prefix.size());
    if (name[0] < '0' || name[0] > '9') continue;
    if (std::optional<uint64_t> number = parse_number(name)) numbers.push_back(*number);
  }
  std::ranges::sort(numbers);
  return numbers;
}

std::vector<pid_t> numeric_entries(const std::string& directory) {
  std::vector<pid_t> ids;
  for (uint64_t number : numbered_entries(directory, "")) ids.push_back(static_cast<pid_t>(number));
  return ids;
}

Result<std::vector<ThreadEntry>> threads_of_processes(std::string_view pids) {
  std::vector<ThreadEntry> threads;
  std::vector<pid_t> gone;
  std::vector<pid_t> ids = TRY(parse_ids(pids, "process"));
  for (pid_t pid : ids) {
    size_t before = threads.size();
    add_threads(pid, threads);
    if (threads.size() == before) gone.push_back(pid);
  }
  if (!gone.empty()) return all_must_exist("process", gone, ids.size());
  return threads;
}

std::vector<ThreadEntry> threads_of_remaining(std::string_view pids) {
  std::vector<ThreadEntry> threads;
  for (pid_t pid : parse_ids(pids, "process").value_or(std::vector<pid_t>()))
    add_threads(pid, threads);
  return threads;
}

Result<std::vector<ThreadEntry>> threads_by_id(std::string_view tids) {
  std::vector<ThreadEntry> threads;
  std::vector<pid_t> gone;
  std::vector<pid_t> ids = TRY(parse_ids(tids, "thread"));
  for (pid_t tid : ids) {
    // A thread may have an empty name.
    if (Result<std::string> comm = read_file(fmt::format("/proc/{}/comm", tid)))
      threads.push_back({tid, std::string(trim(*comm))});
    else
      gone.push_back(tid);
  }
  if (!gone.empty()) return all_must_exist("thread", gone, ids.size());
  return threads;
}

Result<std::vector<ThreadEntry>> threads_of_either(std::string_view pids, std::string_view tids) {
  if (!pids.empty() && !tids.empty())
    return fail(ErrorCode::kUsage, "Error: --pid and --tid exclude each other");
  if (!pids.empty()) return threads_of_processes(pids);
  if (!tids.empty()) return threads_by_id(tids);
  return std::vector<ThreadEntry>();
}

std::vector<ThreadEntry> all_threads() {
  std::vector<ThreadEntry> threads;
  for (pid_t pid : numeric_entries("/proc")) add_threads(pid, threads);
  return threads;
}

Result<std::vector<ThreadEntry>> threads_of_user(const std::string& user) {
  uid_t uid = TRY(user_id(user));
  std::vector<ThreadEntry> threads;
  for (pid_t pid : numeric_entries("/proc")) {
    struct stat status{};
    if (::stat(fmt::format("/proc/{}", pid).c_str(), &status) == 0 && status.st_uid == uid)
      add_threads(pid, threads);
  }
  if (threads.empty()) return fail(ErrorCode::kNotFound, "User {} has no process to record", user);
  return threads;
}

}  // namespace sonde
