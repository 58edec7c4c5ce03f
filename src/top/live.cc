#include "top/live.h"

#include "capture/recorders/recorder_priority.h"
#include "top/browser.h"
#include "top/code.h"
#include "top/text.h"
#include "tui/terminal/browser_terminal.h"

namespace sonde::top {

Result<int> run_top(TopOptions& options, Env& env) {
  bool browses = options.report.browser.value_or(true) && can_browse(env);
  if (options.report.browser.value_or(false) && !browses)
    env.err.write("--tui: there is no terminal to show it on; this is the text of --stdio\n");
  if (options.report.stitch_lbr && options.record.sampling.call_graph != CallGraphMode::kLbr)
    return fail(ErrorCode::kUsage, "--stitch-lbr must be used with --call-graph lbr");
  options.record.sampling.keep_sideband = true;
  SignalQueue signals = TRY(SignalQueue::create());
  Poller poller = TRY(Poller::create());
  Capture capture = TRY(set_up_capture(options.record, false, env));
  RecordingFeatures features = TRY(initial_features(capture, options.record, env.tool));
  TRY(raise_recorder_priority(options.record));
  LiveProfile profile(options, env, capture, features);
  TRY(profile.start());
  profile.watch(poller);
  if (browses)
    TRY(browse(profile, options, signals, poller, env));
  else
    TRY(show_text(profile, options, signals, poller, env));
  profile.finish();
  if (options.dump_symbols) write_symbols(profile.session(), env.err);
  return 0;
}

}  // namespace sonde::top
