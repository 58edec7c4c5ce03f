#include "script/line_writer.h"

#include <oneapi/tbb/parallel_pipeline.h>

#include <algorithm>
#include <atomic>
#include <thread>

namespace sonde {
namespace {

/// The times that lines show.
class Clock {
 public:
  Clock(const Session& session, const RecordLines& lines, std::span<const ScriptItem> items,
        LineClock& clock)
      : session_(session), lines_(lines), items_(items), clock_(clock), before_(clock.previous) {
    if (clock.shown == ShownTime::kSinceStart)
      for (size_t i = 0; i < items.size() && clock.start == 0; ++i) clock.start = recorded(i);
    if (!items.empty()) clock.previous = recorded(items.size() - 1);
  }

  [[nodiscard]] uint64_t at(size_t i) const {
    uint64_t time = recorded(i);
    switch (clock_.shown) {
      case ShownTime::kRecorded:
        return time;
      case ShownTime::kSinceStart:
        return time == 0 ? 0 : time - clock_.start;
      case ShownTime::kSincePrevious:
        break;
    }
    uint64_t previous = i == 0 ? before_ : recorded(i - 1);
    return previous == 0 ? 0 : time - previous;
  }

 private:
  /// Records synthesized by the recorder have none: 0.
  [[nodiscard]] uint64_t recorded(size_t i) const {
    const ScriptItem& item = items_[i];
    if (!item.is_record) return session_.samples().time[item.index];
    SampleId who = lines_.who(session_.other_records()[item.index]);
    return who.has_time() ? who.time : 0;
  }

  const Session& session_;
  const RecordLines& lines_;
  std::span<const ScriptItem> items_;
  const LineClock& clock_;
  uint64_t before_;  // time of the line before the first
};

}  // namespace

void write_lines(const Session& session, const SamplePrinter& printer,
                 std::span<const ScriptItem> items, LineClock& times, LineBuffers& buffers,
                 Sink& out) {
  RecordLines lines(session, printer);
  Clock clock(session, lines, items, times);
  auto format = [&](size_t i, std::string& text) {
    const ScriptItem& item = items[i];
    if (item.is_record)
      lines.print(session.other_records()[item.index], clock.at(i), text);
    else
      printer.print(item.index, clock.at(i), text);
  };

  constexpr size_t kFew = 16;  // not worth waking other threads
  if (items.size() <= kFew) {
    std::string text;
    for (size_t i = 0; i < items.size(); ++i) format(i, text);
    out.write_lines(text);
    return;
  }

  // Batches of about this much text are large enough for the sink to pass them on without copying,
  // and small enough to stay in the L2 cache between formatting and writing.
  constexpr size_t kText_bytes = 320 * 1024;
  constexpr size_t kMaxBatchSize = 4096;
  struct Batch {
    size_t begin, end, buffer;
  };
  std::atomic<size_t> batch_size = buffers.lines;
  auto adapt = [&](const Batch& batch, size_t bytes) {
    size_t size = (batch.end - batch.begin) * kText_bytes / std::max<size_t>(bytes, 1);
    batch_size.store(std::clamp<size_t>(size, 1, kMaxBatchSize), std::memory_order_relaxed);
  };
  size_t next = 0, serial = 0;
  size_t tokens =
      printer.is_sequential() ? 1 : 2 * std::max(1u, std::thread::hardware_concurrency());
  buffers.texts.resize(tokens);
  namespace tbb = oneapi::tbb;
  tbb::parallel_pipeline(
      tokens,
      tbb::make_filter<void, Batch>(
          tbb::filter_mode::serial_in_order,
          [&](tbb::flow_control& control) -> Batch {
            if (next >= items.size() || out.failed() != 0) {
              control.stop();
              return {};
            }
            size_t begin = next;
            next = std::min(items.size(), begin + batch_size.load(std::memory_order_relaxed));
            return {begin, next, serial++ % tokens};
          }) &
          tbb::make_filter<Batch, Batch>(tbb::filter_mode::parallel,
                                         [&](Batch batch) {
                                           std::string& text = buffers.texts[batch.buffer];
                                           text.clear();
                                           for (size_t i = batch.begin; i < batch.end; ++i)
                                             format(i, text);
                                           return batch;
                                         }) &
          tbb::make_filter<Batch, void>(tbb::filter_mode::serial_in_order, [&](Batch batch) {
            out.write_lines(buffers.texts[batch.buffer]);
            adapt(batch, buffers.texts[batch.buffer].size());
          }));
  buffers.lines = batch_size;
}

}  // namespace sonde
