#include "perfdata/dump/dump.h"

#include <map>

#include "abi/record_names.h"
#include "perfdata/header/file_layout.h"
#include "perfdata/records/sideband.h"
#include "perfdata/records/user_records.h"

namespace sonde {
namespace {

constexpr size_t kBytesPerLine = 16;

bool is_user_record(uint32_t type) {
  return type >= abi::kRecordUserStart;
}

/// perf's %#x: no prefix for zero.
std::string stream_path(const FileFacts& facts, uint32_t stream) {
  if (facts.is_pipe) return "pipe";
  if (!facts.is_directory) return facts.path;
  return stream == 0 ? facts.path + "/data" : fmt::format("{}/data.{}", facts.path, stream - 1);
}

}  // namespace

std::string dump::prefixed_hex(uint64_t value) {
  return value == 0 ? "0" : fmt::format("{:#x}", value);
}

void dump::put_hex_lines(Bytes bytes, Sink& out) {
  for (size_t start = 0; start < bytes.size(); start += kBytesPerLine) {
    Bytes line = bytes.subspan(start, std::min(kBytesPerLine, bytes.size() - start));
    char hex[kBytesPerLine * 3 + 1];
    char text[kBytesPerLine];
    size_t at = 0;
    for (size_t i = 0; i < kBytesPerLine; ++i) {
      constexpr char kDigits[] = "0123456789abcdef";
      bool there = i < line.size();
      auto byte = there ? std::to_integer<unsigned char>(line[i]) : uint8_t{0};
      hex[at++] = ' ';
      hex[at++] = there ? kDigits[byte >> 4] : ' ';
      hex[at++] = there ? kDigits[byte & 15] : ' ';
      bool printable = byte >= 0x20 && byte < 0x7f;
      text[i] = !there ? ' ' : printable ? static_cast<char>(byte) : '.';
    }
    out.print(".  {:04x}: {}  {}\n", start, std::string_view(hex, at),
              std::string_view(text, kBytesPerLine));
  }
}

RecordDumper::RecordDumper(const Recording& recording, const DumpOptions& options, Sink& out)
    : recording_(recording),
      options_(options),
      out_(out),
      arch_(abi::arch_from_machine(recording.features().arch.value_or(""))),
      events_known_(recording.facts().is_pipe ? 0 : recording.events().size()) {
  if (arch_ == abi::Arch::kUnknown) arch_ = abi::host_arch();
}

uint64_t RecordDumper::shown_offset(const RecordView& record) const {
  // perf does not count the header of a pipe.
  uint64_t offset = record.file_offset;
  return recording_.facts().is_pipe && offset >= kPipeHeaderSize ? offset - kPipeHeaderSize
                                                                 : offset;
}

const EventDesc* RecordDumper::event_of(const TimedRecord& record) const {
  if (record.event.valid()) return &recording_.events()[record.event];
  return recording_.events().size() > 0 ? &recording_.events()[EventId(size_t{0})] : nullptr;
}

void RecordDumper::put_headline(const RecordView& record, uint32_t stream) {
  out_.print("\n{}@{} [{:#x}]: event: {}\n", dump::prefixed_hex(shown_offset(record)),
             stream_path(recording_.facts(), stream), record.size(), record.type);
}

/// Prints CPU and time if any event of the file records them, even if this one does not.
void RecordDumper::put_stamp(const TimedRecord& record) {
  const EventTable& events = recording_.events();
  bool ids_everywhere = events_known_ > 0 && events.all().front().attr.sample_id_all;
  if (record.record.type != abi::kRecordSample && !ids_everywhere) {
    out_.write("-1 -1 ");
    return;
  }
  uint64_t sample_type = 0;
  for (size_t i = 0; i < events_known_; ++i) sample_type |= events.all()[i].attr.sample_type;

  SampleId id;
  if (is_user_record(record.record.type)) {
    id.time = 0;
    id.cpu = 0;
  } else if (const EventDesc* event = event_of(record)) {
    if (record.record.type == abi::kRecordSample)
      decode_sample_id(record.record, event->layout, id);
    else
      id = decode_trailing_id(record.record, event->layout);
  }
  if ((sample_type & abi::kSampleCpu) != 0) out_.print("{} ", id.cpu);
  if ((sample_type & abi::kSampleTime) != 0) out_.print("{} ", id.time);
}

void RecordDumper::dump(const TimedRecord& record, uint32_t stream) {
  dump(record, stream, {});
}

void RecordDumper::dump(const TimedRecord& timed, uint32_t stream, const DumpTail& tail) {
  const RecordView& record = timed.record;
  put_headline(record, stream);
  out_.print(".\n. ... raw event: size {} bytes\n", record.size());
  dump::put_hex_lines(record.raw(), out_);
  out_.put('\n');
  put_stamp(timed);
  std::string_view name = abi::record_type_name(record.type);
  out_.print("{} [{:#x}]: PERF_RECORD_{}", dump::prefixed_hex(shown_offset(record)), record.size(),
             name.empty() ? "UNKNOWN" : name);

  const EventDesc* event = event_of(timed);
  Sample sample;
  bool has_sample = false;
  if (record.type == abi::kRecordSample && event != nullptr) {
    has_sample = decode_sample(record, event->layout, sample);
    if (has_sample) dump::put_sample(sample, *event, arch_, record.raw(), out_);
  } else if (record.type == abi::kRecordFinishedRound && options_.in_file_order) {
    out_.write(": unhandled!\n");  // nothing is held back for it
  } else if (is_user_record(record.type)) {
    dump::put_user_record(record, options_.command, out_);
  } else if (event == nullptr || !dump::put_kernel_record(record, *event, options_.command, out_)) {
    out_.write(": unhandled!\n");
  }
  // A damaged one announces nothing.
  if (record.type == abi::kRecordHeaderAttr && events_known_ < recording_.events().size())
    ++events_known_;
  if (record.type == abi::kRecordAuxtraceInfo) traces_.take_info(record);
  if (tail) tail(timed, has_sample ? &sample : nullptr, out_);
  if (has_sample) traces_.put_of_sample(sample.aux, out_);
}

void RecordDumper::note_trace(const RecordView& record, const SampleLayout& layout) {
  traces_.note(record, layout);
}

void RecordDumper::dump_trace(Bytes data) {
  traces_.put(data, out_);
}

namespace {

/// Finds the stream of a record by its address: the sorter doesn't carry the stream.
class StreamFinder {
 public:
  explicit StreamFinder(const Recording& recording) {
    if (!recording.facts().is_directory) return;
    for (const RecordBlock& block : recording.blocks()) starts_[block.bytes.data()] = block.stream;
  }
  [[nodiscard]] uint32_t stream_of(const RecordView& record) const {
    auto after = starts_.upper_bound(record.payload.data());
    return after == starts_.begin() ? 0 : std::prev(after)->second;
  }

 private:
  std::map<const std::byte*, uint32_t, std::less<>> starts_;
};

}  // namespace

void dump_recording(const Recording& recording, const DumpOptions& options, const DumpTail& tail,
                    LossLedger& losses, Sink& out) {
  RecordDumper dumper(recording, options, out);
  StreamFinder streams(recording);
  const EventTable& events = recording.events();
  auto dump = [&](const TimedRecord& record) {
    dumper.dump(record, streams.stream_of(record.record), tail);
  };
  RoundSorter sorter(
      [&](std::span<const TimedRecord> records) {
        for (const TimedRecord& record : records) dump(record);
      },
      losses);

  auto take = [&](const RecordView& record) {
    if (is_compressed_record(record.type)) return;  // its content comes next
    TimedRecord timed{0, {}, record};
    if (is_user_record(record.type)) {
      dump(timed);
      if (record.type == abi::kRecordFinishedRound) sorter.finish_round();
      return;
    }
    timed.event = events.of(record);
    SampleId id;
    if (timed.event.valid()) {
      const SampleLayout& layout = events[timed.event].layout;
      // A sample that cannot be decoded has been counted by what opened the recording.
      if (record.type != abi::kRecordSample)
        id = decode_trailing_id(record, layout);
      else
        decode_sample_id(record, layout, id);
      dumper.note_trace(record, layout);
    }
    // Without a time there is nothing to wait for.
    if (options.in_file_order || id.time == 0 || !id.has_time()) return dump(timed);
    timed.time = id.time;
    sorter.push(timed);
  };
  for (const RecordBlock& block : recording.blocks()) {
    RecordRange range(block, recording.byte_order());
    for (RecordView record; range.next(record);) take(record);
    if (!block.trailing.empty()) dumper.dump_trace(block.trailing);
  }
  sorter.flush();
}

}  // namespace sonde
