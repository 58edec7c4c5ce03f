// The subcommands of `sched`.
#pragma once

#include <memory>

#include "cli/command.h"
#include "cmd/options/recording_input.h"

namespace sonde {

std::unique_ptr<Command> make_sched_record();
std::unique_ptr<Command> make_sched_script(RecordingInput input);
std::unique_ptr<Command> make_sched_latency(RecordingInput input);
std::unique_ptr<Command> make_sched_map(RecordingInput input);
std::unique_ptr<Command> make_sched_timehist(RecordingInput input);
std::unique_ptr<Command> make_sched_replay(RecordingInput input);
std::unique_ptr<Command> make_sched_stats(RecordingInput input);

}  // namespace sonde
