#include "top/options.h"

namespace sonde::top {

TopOptions::TopOptions() {
  report.sort = "dso,sym";
  report.skip_empty = false;
  report.quiet = true;
  report.ipc_beside_symbol = false;
  report.branch_stack = false;
  record.quiet = true;
}

}  // namespace sonde::top
