#include "selftest/workloads/workload.h"

namespace sonde::selftest {

struct DatasymBuffer {
  char data1;
  char reserved[55];
  char data2;
};

extern "C" {
alignas(64) volatile DatasymBuffer buf1 = {};

SONDE_KEPT void datasym() {
  while (is_over == 0) {
    buf1.data1 = static_cast<char>(buf1.data1 + 1);
    if (buf1.data1 == 123) buf1.data1 = static_cast<char>(buf1.data1 + 2);
    buf1.data2 = static_cast<char>(buf1.data2 + buf1.data1);
  }
}
}

int run_datasym(std::span<const std::string> arguments) {
  begin_workload("perf-datasym", arguments);
  datasym();
  return 0;
}

}  // namespace sonde::selftest
