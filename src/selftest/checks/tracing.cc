// Checks of tracepoints, probes and BPF.
#include "selftest/check.h"

namespace sonde::selftest {

Outcome check_tracepoints(const CheckRun& run) {
  Outcome done =
      run.record({"-q", "-N", "-e", "sched:sched_switch"}, {"context_switch_loop", "10"});
  if (!done.is_ok()) return skip(done.reason);
  return run.expect({"script", "-i", "perf.data", "-F", "event,trace"},
                    {"sched:sched_switch", "prev_comm=context_switch", "next_pid="});
}

Outcome check_system_calls(const CheckRun& run) {
  Result<Finished> shown = run.own(
      {"trace", "-e", "landlock_add_rule", "--", "/proc/self/exe", "test", "-w", "landlock"});
  if (!shown) return failed(shown.error().message);
  if (shown->status != 0) return skip(reason_of(*shown));
  return shown->err.contains("landlock_add_rule(") ? ok() : failed("the call was not seen");
}

Outcome check_program_probes(const CheckRun& run) {
  return run.expect_count({"stat", "-x,", "--probe", "trap_bench", "--", "/proc/self/exe", "test",
                           "-w", "traploop", "0.1"},
                          ":trap_bench");
}

Outcome check_kernel_probes(const CheckRun& run) {
  return run.expect_count({"stat", "-x,", "--probe", "do_sys_openat2", "--", "/proc/self/exe",
                           "test", "-w", "landlock"},
                          ":do_sys_openat2");
}

Outcome check_off_cpu(const CheckRun& run) {
  Outcome done =
      run.record({"-q", "-N", "--off-cpu", "-e", "cpu-clock:u"}, {"context_switch_loop", "100"});
  if (!done.is_ok()) return skip(done.reason);
  return run.expect({"report", "--stdio", "-i", "perf.data", "-g", "none", "-s", "comm,wait", "-F",
                     "comm,wait", "-t", ";"},
                    {"offcpu-time", "context_switch", ";data"});
}

}  // namespace sonde::selftest
