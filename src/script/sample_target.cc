#include "script/sample_target.h"

namespace sonde {

bool is_branch_trace(const abi::EventAttr& attr) {
  return attr.type == abi::kTypeHardware && (attr.config & abi::kHwBranchInstructions) != 0 &&
         attr.sample_period == 1;
}

bool has_target(const abi::EventAttr& attr) {
  bool is_page_fault = attr.type == abi::kTypeSoftware &&
                       (attr.config == abi::kSwPageFaults || attr.config == abi::kSwPageFaultsMin ||
                        attr.config == abi::kSwPageFaultsMaj);
  return attr.samples(abi::kSampleAddr) && (is_page_fault || is_branch_trace(attr));
}

Frame target_frame(const Session& session, uint32_t pid, uint64_t time, uint64_t address,
                   uint16_t cpu_mode) {
  Frame frame = session.resolve(pid, time, RuntimeAddr(address), cpu_mode);
  if (!frame.dso.valid() && static_cast<int64_t>(address) >= 0)
    frame = session.resolve(pid, time, RuntimeAddr(address), abi::kMiscUser);
  // A system call, or an interrupt.
  if (!frame.dso.valid() && static_cast<int64_t>(address) < 0 && cpu_mode == abi::kMiscUser)
    frame = session.resolve(pid, time, RuntimeAddr(address), abi::kMiscKernel);
  return frame;
}

}  // namespace sonde
