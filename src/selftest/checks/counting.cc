// Checks of counting.
#include "selftest/check.h"

namespace sonde::selftest {
namespace {

const std::vector<std::string> kProgram = {"--", "/proc/self/exe", "test", "-w"};

Result<Finished> stat(const CheckRun& run, const std::string& events,
                      const std::vector<std::string>& workload) {
  std::vector<std::string> words = {"stat", "-x,", "-e", events};
  words.insert(words.end(), kProgram.begin(), kProgram.end());
  words.insert(words.end(), workload.begin(), workload.end());
  return run.own(words);
}

}  // namespace

Outcome check_software_counts(const CheckRun& run) {
  Result<Finished> done = stat(run, "task-clock:u,page-faults:u", {"noploop", "0.3"});
  if (!done) return failed(done.error().message);
  constexpr double kLeastMs = 1;
  double ms = count_of(done->err, "task-clock:u");
  if (ms < kLeastMs) return failed(fmt::format("a loop of 300 ms took {} ms of CPU time", ms));
  return count_of(done->err, "page-faults:u") > 0 ? ok() : failed("no page fault was counted");
}

Outcome check_hardware_counts(const CheckRun& run) {
  Result<Finished> done = stat(run, "cycles:u,instructions:u", {"noploop", "0.3"});
  if (!done) return failed(done.error().message);
  if (count_of(done->err, "cycles:u") < 0) return skip("this machine has no hardware counters");
  constexpr double kLeast = 1e6;
  return count_of(done->err, "instructions:u") > kLeast ? ok() : failed("too few instructions");
}

Outcome check_counted_threads(const CheckRun& run) {
  Result<Finished> child = stat(run, "task-clock:u", {"sqrtloop", "0.3"});
  if (!child) return failed(child.error().message);
  constexpr double kLeastMs = 1;
  double ms = count_of(child->err, "task-clock:u");
  return ms > kLeastMs ? ok() : failed(fmt::format("300 ms of a child count {} ms", ms));
}

}  // namespace sonde::selftest
