// Arbitrary bytes as a recording, fed to the analyses of kwork, timechart and kvm. No crash, no
// read outside the input.
#include "analysis/timelines/io_calls.h"
#include "analysis/timelines/power_states.h"
#include "base/env.h"
#include "base/loss.h"
#include "base/sys.h"
#include "fuzz/fuzz_target.h"
#include "kvm/kvm_stat.h"
#include "kwork/work_analysis.h"
#include "kwork/work_history.h"
#include "kwork/work_report.h"
#include "kwork/work_shares.h"
#include "script/tracepoint_lines.h"

namespace {

using namespace sonde;

/// Without work items: the names of their functions come from the running kernel.
const std::vector<WorkClass> kClasses{WorkClass::kIrq, WorkClass::kSoftirq, WorkClass::kSched};

void read_work(const Recording& recording, WorkView view, Sink& out) {
  LossLedger losses;
  StringSink err;
  Env env{.out = out, .err = err, .sys = Sys::host(), .losses = losses};
  FileScan scan(recording, losses);
  ScanMachine machine(scan);
  WorkNames names(machine, {}, env);
  WorkOptions options;
  options.view = view;
  options.classes = kClasses;
  WorkAnalysis analysis(options, names);
  WorkHistory history(out);
  if (view == WorkView::kHistory)
    analysis.on_span(
        [&](const Work& work, const WorkSpan& span) { history.write(work, span, nullptr); });
  std::vector<TracepointRequest> requests = work_requests(kClasses);
  TracepointPipeline pipeline(scan, requests, losses);
  pipeline.run([&](std::span<const TracepointItem> items) {
    for (const TracepointItem& item : items) analysis.consume(item, pipeline);
  });
  if (view == WorkView::kShares) {
    std::vector<ShareSortKey> sort{ShareSortKey::kRate};
    write_work_shares(out, work_shares(analysis, sort));
  } else if (view != WorkView::kHistory) {
    std::vector<WorkSortKey> sort{WorkSortKey::kRuntime};
    write_work_report(out, analysis, sort, true, pipeline.counts());
  }
}

void read_kvm(const Recording& recording, KvmView view, Sink& out) {
  LossLedger losses;
  FileScan scan(recording, losses);
  TracepointPipeline pipeline(scan, kvm_tracepoints(), losses);
  KvmOptions options;
  options.view = view;
  KvmStat stat(options);
  pipeline.run([&](std::span<const TracepointItem> items) {
    for (const TracepointItem& item : items) stat.consume(item);
  });
  stat.write(out);
}

void read_chart(const Recording& recording) {
  LossLedger losses;
  FileScan scan(recording, losses);
  (void)io_timeline(scan, {}, losses);
  FileScan again(recording, losses);
  view::Timeline timeline;
  add_power_states(timeline, again, losses);
}

void read_lines(const Recording& recording, Sink& out) {
  LossLedger losses;
  FileScan names(recording, losses), samples(recording, losses);
  write_tracepoint_lines(names, samples, losses, out);
}

}  // namespace

FUZZ_TARGET(tracepoints)(const uint8_t* data, size_t size) {
  LossLedger losses;
  auto recording =
      Recording::open_bytes({reinterpret_cast<const std::byte*>(data), size}, "fuzz", losses);
  if (!recording) return 0;
  StringSink out;
  for (KvmView view : {KvmView::kExits, KvmView::kMmio, KvmView::kPorts})
    read_kvm(*recording, view, out);
  for (WorkView view :
       {WorkView::kRuntime, WorkView::kLatency, WorkView::kHistory, WorkView::kShares})
    read_work(*recording, view, out);
  read_chart(*recording);
  read_lines(*recording, out);
  return 0;
}
