#include "report/no_samples.h"

namespace sonde::report {

int say_no_samples(Env& env, std::string_view input, uint64_t left_out) {
  if (env.tool == "perf") {
    env.err.print("Error:\nThe {} data has no samples!\n", input);
    if (left_out > 0)
      env.err.print("Of the {} that were recorded, the options leave none.\n", left_out);
    return 0;
  }
  if (left_out > 0)
    env.err.print("{}: the options leave none of its {} samples\n", input, left_out);
  else
    env.err.print(
        "{}: no samples in it: record for longer, more often (-F, -c), or another event (-e)\n",
        input);
  return 1;
}

}  // namespace sonde::report
