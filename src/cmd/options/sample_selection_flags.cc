#include "cmd/options/sample_selection_flags.h"

#include "base/option_values.h"

namespace sonde {

void declare_sample_selection(FlagTable& flags, SampleSelection& selection,
                              std::string event_help) {
  flags.text('e', "event", selection.event, "event", std::move(event_help));
  declare_task_selection(flags, selection);
  declare_place_selection(flags, selection);
}

void declare_task_selection(FlagTable& flags, SampleSelection& selection) {
  flags.call(0, "pid", "pid[,pid...]", "only samples of these processes",
             numbers_into(selection.pids));
  flags.call(0, "tid", "tid[,tid...]", "only samples of these threads",
             numbers_into(selection.tids));
}

void declare_place_selection(FlagTable& flags, SampleSelection& selection) {
  flags.call(0, "comm", "comm[,comm...]", "only samples of these commands",
             words_into(selection.comms));
  flags.call(0, "dso", "dso[,dso...]", "only samples that fell into these objects",
             words_into(selection.dsos));
  flags.call('C', "cpu", "cpu", "only samples of these CPUs", numbers_into(selection.cpus));
  flags.text(0, "time", selection.time, "start,stop",
             "only samples of this span: seconds, or shares such as 10%-20%");
}

}  // namespace sonde
