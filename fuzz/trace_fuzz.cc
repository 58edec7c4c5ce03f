// Arbitrary bytes as a recording, shown by trace: lines, tables, tracepoint fields. No crash, no
// read outside the input.
#include "base/loss.h"
#include "fuzz/fuzz_target.h"
#include "perfdata/read/recording.h"
#include "trace/sources/file_source.h"
#include "trace/views/trace_view.h"

FUZZ_TARGET(trace)(const uint8_t* data, size_t size) {
  using namespace sonde;
  LossLedger losses;
  Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
  auto recording = Recording::open_bytes(bytes, "fuzz", losses);
  if (!recording) return 0;
  auto source = FileSource::open(*recording, losses);
  if (!source) return 0;
  TracedTasks tasks({}, true);
  CallTexts texts;
  TraceViewOptions options;
  options.summary = true;
  options.kernel_text = size % 2 == 0;
  options.tables.errnos = true;
  options.tables.runtime = true;
  StringSink out;
  TraceView view(std::move(options), (*source)->events(), texts, tasks, nullptr, out);
  while (!(*source)->at_end() && (*source)->refill(false))
    while (const TraceItem* item = (*source)->front()) {
      view.consume(*item);
      (*source)->pop();
    }
  view.finish({});
  (void)out.text();
  return 0;
}
