#include "script/tracepoint_lines.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "base/printing/printable.h"
#include "perfdata/header/dummy_event.h"
#include "replay/fields/event_ids.h"
#include "replay/fields/trace_texts.h"
#include "replay/passes/placed_samples.h"
#include "replay/passes/thread_names.h"
#include "script/field_texts.h"

namespace sonde {
namespace {

using namespace script;

constexpr FieldSet kPlain = {Field::kComm, Field::kTid,   Field::kCpu,
                             Field::kTime, Field::kEvent, Field::kTrace};
constexpr uint64_t kNeeded = abi::kSampleTid | abi::kSampleTime | abi::kSampleCpu | abi::kSampleRaw;

/// "            make", by thread, each with its period of validity.
class NameTexts {
 public:
  NameTexts(const Machine& machine, bool is_shown)
      : machine_(machine), slots_(kSlots), is_shown_(is_shown) {}

  const std::string& at(uint32_t tid, uint64_t time) {
    Slot& slot = slots_[tid % kSlots];
    if (slot.tid != tid || time < slot.name.valid_from || time >= slot.name.valid_to) {
      slot.tid = tid;
      slot.name = machine_.comm_span_at(tid, time);
      slot.text.clear();
      append_padded(slot.text, machine_.strings().view(slot.name.comm), kWidth);
      if (is_shown_) make_printable(slot.text, 0);
      slot.text += ' ';
    }
    return slot.text;
  }

 private:
  static constexpr size_t kSlots = 1024, kWidth = 16;
  struct Slot {
    uint32_t tid = 0;
    Machine::CommAt name{StringId(), 1, 0};  // never valid
    std::string text;
  };
  const Machine& machine_;
  std::vector<Slot> slots_;
  bool is_shown_;
};

/// What is the same for all samples.
class LineBuilder {
 public:
  /// `is_shown`: by a terminal, for which texts from outside are made printable.
  LineBuilder(const FileScan& scan, const PlacedSamples& samples, bool is_shown)
      : scan_(scan),
        samples_(samples),
        is_shown_(is_shown),
        ids_(scan.events()),
        traces_(scan.events(), scan.features(), scan.facts().order) {
    size_t width = 0;
    for (const EventDesc& event : scan.events().all()) width = std::max(width, event.name.size());
    for (const EventDesc& event : scan.events().all()) {
      append_padded(names_.emplace_back(), event.name, width);
      names_.back() += ": ";
      if (is_shown_) make_printable(names_.back(), 0);
    }
  }

  void print(const PlacedSample& sample, NameTexts& names, std::string& out) const {
    RecordView record = record_at(sample.record, scan_.facts().order);
    EventId event(size_t{ids_.of(record)});
    const SampleOffsets& offsets = samples_.offsets(event);
    SampleHead head;
    offsets.read(record, head);
    out += names.at(head.tid, head.time);
    append_task_id(out, head.tid);
    out += ' ';
    append_cpu(out, head.cpu);
    append_time(out, head.time, false);
    out += names_[event.index()];
    size_t begin = out.size();
    traces_.print(event, offsets.raw_data(record, scan_.events()[event].layout), out);
    if (is_shown_) make_message_printable(out, begin);
    out += '\n';
  }

 private:
  const FileScan& scan_;
  const PlacedSamples& samples_;
  bool is_shown_;
  EventIds ids_;
  TraceTexts traces_;
  std::vector<std::string> names_;  // of events, padded
};

/// Formats the parts of a batch in parallel. Parts are large enough for the sink to pass them on
/// without copying.
class BatchPrinter {
 public:
  BatchPrinter(const LineBuilder& lines, const Machine& machine, const FileScan& scan, Sink& out)
      : lines_(lines), scan_(scan), out_(out) {
    for (size_t i = 0; i < kParts; ++i) parts_.emplace_back(machine, out.is_shown());
  }

  void take(std::span<const PlacedSample> samples) {
    while (!samples.empty()) {
      size_t count = std::min(samples.size(), kParts * kPartSamples - batch_.size());
      batch_.insert(batch_.end(), samples.begin(), samples.begin() + static_cast<ptrdiff_t>(count));
      samples = samples.subspan(count);
      if (batch_.size() == kParts * kPartSamples) flush();
    }
  }
  void flush() {
    std::span<const PlacedSample> batch(batch_);
    parallel_for(kParts, [&](size_t i) {
      size_t begin = batch.size() * i / kParts, end = batch.size() * (i + 1) / kParts;
      print(batch.subspan(begin, end - begin), parts_[i]);
    });
    for (const Part& part : parts_) out_.write_lines(part.text);
    batch_.clear();
    if (++flushes_ % kFlushesKept == 0) scan_.forget_passed();
  }

 private:
  static constexpr size_t kParts = 4, kPartSamples = 2048;
  static constexpr size_t kFlushesKept = 4;  // flushes whose records may stay mapped: some 4 MB
  struct Part {
    Part(const Machine& machine, bool is_shown) : names(machine, is_shown) {}
    NameTexts names;
    std::string text;
  };

  void print(std::span<const PlacedSample> samples, Part& part) {
    constexpr size_t kAhead = 8;  // samples adjacent in time are far apart in the file
    part.text.clear();
    for (size_t i = 0; i < samples.size(); ++i) {
      if (i + kAhead < samples.size()) __builtin_prefetch(samples[i + kAhead].record);
      lines_.print(samples[i], part.names, part.text);
    }
  }

  const LineBuilder& lines_;
  const FileScan& scan_;
  Sink& out_;
  size_t flushes_ = 0;
  std::vector<PlacedSample> batch_;
  std::vector<Part> parts_;
};

}  // namespace

bool is_of_plain_tracepoints(const FileScan& scan, std::span<const FieldSet> fields) {
  if (file_order_is_time(scan.events())) return false;
  TraceFormats formats(scan.events(), scan.features());
  bool has_tracepoints = false;
  for (size_t i = 0; i < scan.events().size(); ++i) {
    const EventDesc& event = scan.events()[EventId(i)];
    const TracepointFormat* format = formats.of(EventId(i));
    if (is_dummy(event.attr)) continue;
    if (event.attr.type != abi::kTypeTracepoint || !(fields[i] == kPlain) ||
        (event.attr.sample_type & kNeeded) != kNeeded)
      return false;
    has_tracepoints = true;
    if (format != nullptr && format->print_fmt().find("%p") != std::string::npos) return false;
  }
  return has_tracepoints;
}

void write_tracepoint_lines(FileScan& names, FileScan& samples, LossLedger& losses, Sink& out) {
  ThreadNames threads(names, losses);
  names.forget_all();  // the search for names touched the whole file
  PlacedSamples placed(samples, losses);
  LineBuilder lines(samples, placed, out.is_shown());
  std::atomic<bool> is_over = false;
  BatchPrinter printer(lines, threads.machine(), samples, out);
  placed.run(is_over, [&](std::span<const PlacedSample> batch) {
    if (is_over) return;
    printer.take(batch);
    is_over = out.failed() != 0;
  });
  printer.flush();
}

}  // namespace sonde
