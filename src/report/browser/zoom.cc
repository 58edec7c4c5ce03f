#include "report/browser/zoom.h"

#include <fmt/format.h>

#include "base/option_values.h"
#include "base/text.h"

namespace sonde::report {

std::string zoom_text(const ZoomStep& step) {
  using Kind = ZoomStep::Kind;
  auto word = [&]() -> std::string_view {
    switch (step.kind) {
      case Kind::kDso:
        return "dso";
      case Kind::kComm:
        return "comm";
      case Kind::kPid:
        return "pid";
      case Kind::kTid:
        return "tid";
      case Kind::kSymbol:
        return "symbol";
      case Kind::kCpu:
        return "cpu";
      case Kind::kTime:
        return "time";
      case Kind::kSocket:
        return "socket";
    }
    return {};
  };
  return fmt::format("{} {}", word(), step.value);
}

Result<> apply_zoom(const ZoomStep& step, ReportOptions& options) {
  using Kind = ZoomStep::Kind;
  auto read_numbers = [&](std::vector<uint32_t>& list) {
    list.clear();
    return numbers_into(list)(step.value);
  };
  switch (step.kind) {
    case Kind::kDso:
      options.dsos = {step.value};
      return {};
    case Kind::kComm:
      options.comms = {step.value};
      return {};
    case Kind::kSymbol:
      options.symbols = {step.value};
      return {};
    case Kind::kPid:
      return read_numbers(options.pids);
    case Kind::kTid:
      return read_numbers(options.tids);
    case Kind::kCpu:
      return read_numbers(options.shown_cpus);
    case Kind::kTime:
      options.time = step.value;
      return {};
    case Kind::kSocket: {
      auto number = parse_number(step.value);
      if (!number || *number > INT32_MAX)
        return fail(ErrorCode::kUsage, "'{}' is not a socket number", step.value);
      options.socket = static_cast<int>(*number);
      return {};
    }
  }
  return {};
}

}  // namespace sonde::report
