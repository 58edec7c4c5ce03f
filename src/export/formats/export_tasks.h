// Processes and threads for formats whose readers know one name per number. A thread that had
// several names, because it became another program or was renamed, is several threads of the
// profile; here each of them has a number of its own:
//
//   in the profile                     in the file
//   4711/4711 "sh"      of "sh"        4711/4711        "sh"           of "sh"
//   4711/4711 "cc1"     of "cc1"       4194304/4194304  "cc1 (4711)"   of "cc1 (4711)"
//   4711/4712 "worker"  of "cc1"       4194304/4712     "worker"       of "cc1 (4711)"
//
// The first keeps the kernel's number. The others have numbers that no kernel gives, and the
// kernel's after their names. Threads of a process whose name is not known (text has none) belong
// to the first one with its number.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tsl/robin_set.h>

#include "base/hashing/number_hash.h"
#include "export/formats/export_samples.h"

namespace sonde {

class ExportTasks {
 public:
  explicit ExportTasks(const ExportSamples& samples);
  ExportTasks(const ExportTasks&) = delete;
  ExportTasks& operator=(const ExportTasks&) = delete;

  /// Numbers of processes count from 0. `thread`: its index in the profile.
  [[nodiscard]] uint32_t process_of(uint32_t thread) const { return process_of_[thread]; }
  [[nodiscard]] size_t process_count() const { return processes_.size(); }
  /// How many processes before it have the kernel's number of this one.
  [[nodiscard]] uint32_t namesakes(uint32_t process) const { return processes_[process].nth; }

  /// A thread that knows the name of this thread's process.
  [[nodiscard]] uint32_t named_by(uint32_t thread) const {
    return processes_[process_of_[thread]].named_by;
  }

  /// In the file, where no two processes, and no two threads, have the same one.
  [[nodiscard]] uint32_t pid(uint32_t thread) const {
    return processes_[process_of_[thread]].number;
  }
  [[nodiscard]] uint32_t tid(uint32_t thread) const { return tids_[thread]; }
  /// With the kernel's number if the file has another one.
  [[nodiscard]] std::string process_name(uint32_t thread) const;
  [[nodiscard]] std::string thread_name(uint32_t thread) const;

 private:
  struct Process {
    uint32_t number = 0;
    uint32_t nth = 0;
    uint32_t named_by = 0;  // a thread that knows its name
  };
  void find_processes();
  void number_threads();
  uint32_t next_number();

  const ExportSamples& samples_;
  std::vector<Process> processes_;
  std::vector<uint32_t> process_of_, tids_;             // by thread
  tsl::robin_set<uint32_t, NumberHash> of_the_kernel_;  // numbers
  uint32_t next_;
};

}  // namespace sonde
