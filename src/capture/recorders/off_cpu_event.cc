#include "capture/recorders/off_cpu_event.h"

namespace sonde {

void set_off_cpu_contents(abi::EventAttr& attr) {
  attr.freq = 0;
  attr.sample_period = 1;
  attr.sample_type = abi::kSampleIp | abi::kSampleTid | abi::kSampleTime | abi::kSamplePeriod |
                     abi::kSampleCallchain | abi::kSampleRaw;
  attr.sample_regs_user = attr.sample_regs_intr = 0;
  attr.sample_stack_user = 0;
  attr.branch_sample_type = 0;
}

}  // namespace sonde
