#include "event/pmu/attr_text.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

// What perf 6.1 prints for `record -vv -e cpu-clock:u true` on a kernel with two CPUs.
TEST(AttrText, BlockAsRecordPrintsIt) {
  abi::EventAttr attr;
  attr.type = 1;
  attr.size = 128;
  attr.sample_period = 4000;
  attr.sample_type = abi::kSampleIp | abi::kSampleTid | abi::kSampleTime | abi::kSamplePeriod;
  attr.read_format = abi::kFormatId | abi::kFormatLost;
  attr.disabled = attr.inherit = attr.exclude_kernel = attr.exclude_hv = 1;
  attr.freq = attr.sample_id_all = 1;
  attr.wakeup_events = 1;
  EXPECT_EQ(attr_block(attr),
            "------------------------------------------------------------\n"
            "perf_event_attr:\n"
            "  type                             1\n"
            "  size                             128\n"
            "  { sample_period, sample_freq }   4000\n"
            "  sample_type                      IP|TID|TIME|PERIOD\n"
            "  read_format                      ID|LOST\n"
            "  disabled                         1\n"
            "  inherit                          1\n"
            "  exclude_kernel                   1\n"
            "  exclude_hv                       1\n"
            "  freq                             1\n"
            "  sample_id_all                    1\n"
            "  { wakeup_events, wakeup_watermark } 1\n"
            "------------------------------------------------------------\n");
}

TEST(AttrText, LineHasEveryFieldThatIsSet) {
  abi::EventAttr attr;
  attr.type = 5;
  attr.config = 0x10;
  attr.precise_ip = 2;
  attr.bp_type = 3;
  attr.bp_addr = 0x1000;
  attr.bp_len = 8;
  attr.branch_sample_type = abi::kBranchAny | abi::kBranchUser;
  attr.sample_regs_user = 0xff0fff;
  attr.sample_stack_user = 8192;
  attr.clockid = -1;
  attr.sample_regs_intr = 1;
  attr.aux_watermark = 2;
  attr.sample_max_stack = 127;
  attr.aux_sample_size = 4096;
  attr.aux_action = 6;
  attr.sig_data = 9;
  attr.config3 = 0x33;
  attr.defer_callchain = 1;
  EXPECT_EQ(attr_line(attr),
            "type: 5, size: 136, config: 0x10, precise_ip: 2, defer_callchain: 1, bp_type: 3, "
            "{ bp_addr, config1 }: 0x1000, { bp_len, config2 }: 0x8, "
            "branch_sample_type: USER|ANY, sample_regs_user: 0xff0fff, sample_stack_user: 8192, "
            "clockid: -1, sample_regs_intr: 0x1, aux_watermark: 2, sample_max_stack: 127, "
            "aux_sample_size: 4096, aux_action: pause|resume, sig_data: 9, config3: 0x33");
}

// Output of perf 6.1 for a recording whose attr was patched to have all bits set.
TEST(AttrText, SampleTypeInPerfsOrder) {
  EXPECT_EQ(sample_type_text(0x1ffffff),
            "IP|TID|TIME|ADDR|READ|CALLCHAIN|ID|CPU|PERIOD|STREAM_ID|RAW|BRANCH_STACK|REGS_USER|"
            "STACK_USER|IDENTIFIER|REGS_INTR|DATA_SRC|WEIGHT|PHYS_ADDR|AUX|CGROUP|DATA_PAGE_SIZE|"
            "CODE_PAGE_SIZE|WEIGHT_STRUCT|TRANSACTION");
  EXPECT_EQ(read_format_text(31), "TOTAL_TIME_ENABLED|TOTAL_TIME_RUNNING|ID|GROUP|LOST");
}

TEST(AttrText, NewBitsAreShownByTheirNumber) {
  abi::EventAttr attr;
  attr.size = 0;
  attr.reserved_1 = 0x3;
  EXPECT_EQ(attr_line(attr), "reserved_1: 0x3");
  EXPECT_EQ(attr_line_with_config(attr), "config: 0, reserved_1: 0x3");
}

}  // namespace
}  // namespace sonde
