// Threads to record, from process ids, thread ids or a user, as /proc shows them now.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace sonde {

struct ThreadEntry {
  pid_t tid = -1;    // -1: any thread
  std::string comm;  // as in /proc; empty if it cannot be read
  bool operator==(const ThreadEntry&) const = default;
};

/// All threads of the processes in "1,2,3". Errors: kUsage if it is not a list, kNotFound, with the
/// ids of those that are gone, if not all of the processes exist.
Result<std::vector<ThreadEntry>> threads_of_processes(std::string_view pids);
/// The same, of those that are still there: for processes that were watched already.
std::vector<ThreadEntry> threads_of_remaining(std::string_view pids);
/// The threads in "1,2,3" themselves; errors as above.
Result<std::vector<ThreadEntry>> threads_by_id(std::string_view tids);
/// Those of one of the two lists, or none if both are empty. kUsage: both are given.
Result<std::vector<ThreadEntry>> threads_of_either(std::string_view pids, std::string_view tids);
/// Of a name or a number. kNotFound: no such user.
Result<uid_t> user_id(const std::string& user);
/// All threads that `user` (a name or a number) owns. kNotFound: no such user, or no thread.
Result<std::vector<ThreadEntry>> threads_of_user(const std::string& user);

/// Every thread on the machine that /proc shows.
std::vector<ThreadEntry> all_threads();

/// Numeric entries of a directory in ascending order: processes of /proc, tasks of /proc/N/task.
std::vector<pid_t> numeric_entries(const std::string& directory);
/// The numbers of entries PREFIXnumber ("memory12"), ascending.
std::vector<uint64_t> numbered_entries(const std::string& directory, std::string_view prefix);

}  // namespace sonde
