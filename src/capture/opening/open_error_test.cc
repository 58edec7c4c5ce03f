#include "capture/opening/open_error.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cerrno>

namespace sonde {
namespace {

CaptureEvent event_of(uint32_t type) {
  CaptureEvent event;
  event.parsed.name = "ev";
  event.attr().type = type;
  return event;
}

std::string refusal(const CaptureEvent& event, Target::Kind kind, int paranoid) {
  Target target;
  target.kind = kind;
  Error error = explain_open_failure(event, target, EACCES, paranoid, /*by_seccomp=*/false);
  EXPECT_EQ(error.code, ErrorCode::kPermission);
  return error.message;
}

std::string measuring(const std::string& what, int paranoid, int allowed) {
  return fmt::format(
      "Error:\nev: measuring {} takes root or CAP_PERFMON while kernel.perf_event_paranoid is {}: "
      "use sudo, or allow it: sysctl kernel.perf_event_paranoid={}",
      what, paranoid, allowed);
}

TEST(OpenError, APrivilegeIsNamedInOneLineWithTheSettingThatAllowsIt) {
  using enum Target::Kind;
  CaptureEvent both = event_of(abi::kTypeSoftware), user = both;
  user.attr().exclude_kernel = 1;
  CaptureEvent fields = event_of(abi::kTypeTracepoint);
  fields.attr().sample_type |= abi::kSampleRaw;
  for (int paranoid : {1, 2, 3}) {
    EXPECT_EQ(refusal(both, kCpus, paranoid), measuring("whole CPUs", paranoid, 0));
    EXPECT_EQ(refusal(user, kCpus, paranoid), measuring("whole CPUs", paranoid, 0));
    EXPECT_EQ(refusal(fields, kCommand, paranoid),
              measuring("the fields of tracepoints", paranoid, -1));
  }
  EXPECT_EQ(refusal(both, kCommand, 2), measuring("what the kernel does", 2, 1));
  EXPECT_EQ(refusal(user, kCommand, 3), measuring("anything", 3, 2));
}

TEST(OpenError, NoSettingIsNamedWhereNoneWouldHelp) {
  using enum Target::Kind;
  constexpr const char* kOthers =
      "Error:\nev: what another user runs, or a policy guards, takes root or CAP_PERFMON: use sudo";
  CaptureEvent user = event_of(abi::kTypeSoftware);
  user.attr().exclude_kernel = 1;
  EXPECT_EQ(refusal(user, kTasks, 2), kOthers);
  EXPECT_EQ(refusal(user, kCpus, -1), kOthers);
  CaptureEvent probe = event_of(abi::kTypeRaw + 10);
  probe.parsed.pmu = "uprobe";
  EXPECT_EQ(refusal(probe, kCommand, 2), "Error:\nev: a probe takes root or CAP_PERFMON: use sudo");
}

}  // namespace
}  // namespace sonde
