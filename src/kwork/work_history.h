// The lines of `kwork timehist`: each piece of work as it ends, and how long it had waited.
#pragma once

#include <functional>
#include <string_view>

#include "kwork/work_table.h"
#include "sched/text_out.h"

namespace sonde {

class WorkHistory {
 public:
  explicit WorkHistory(Sink& out) : out_(out) {}

  void write_head();
  /// `stack` is appended to the line: " a <- b"; null: no stack.
  void write(const Work& work, const WorkSpan& span, const std::string_view* stack);

 private:
  TextOut out_;
};

}  // namespace sonde
