#include "replay/frames/idle_frames.h"

#include <algorithm>
#include <string_view>

namespace sonde {
namespace {

constexpr std::string_view kIdleFunctions[] = {
    "acpi_idle_do_entry",
    "acpi_idle_enter",
    "acpi_processor_ffh_cstate_enter",
    "arch_cpu_idle",
    "cpu_do_idle",
    "cpu_idle",
    "cpu_startup_entry",
    "default_idle",
    "default_idle_call",
    "do_idle",
    "intel_idle",
    "intel_idle_ibrs",
    "intel_idle_irq",
    "mwait_idle",
    "mwait_idle_with_hints",
    "mwait_idle_with_hints.constprop.0",
    "native_safe_halt",
    "poll_idle",
    "pseries_dedicated_idle_sleep",
    "psw_idle",
    "psw_idle_exit",
    "pv_native_safe_halt",
};
static_assert(std::ranges::is_sorted(kIdleFunctions));

}  // namespace

std::vector<uint8_t> frames_of_idle_functions(const Session& session) {
  std::vector<uint8_t> idle;
  idle.reserve(session.frames().size());
  const Symbolizer& symbols = session.symbolizer();
  for (const Frame& frame : session.frames()) {
    bool of_kernel = frame.dso.valid() && session.machine().dsos()[frame.dso].is_kernel_side;
    idle.push_back(of_kernel && frame.symbol.valid() &&
                           std::ranges::binary_search(kIdleFunctions, symbols.name(frame.symbol))
                       ? 1
                       : 0);
  }
  return idle;
}

}  // namespace sonde
