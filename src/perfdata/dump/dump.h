// The text of `report -D` and `script -D`: every record as hex, with its decoded form.
//
//   0x6f78@perf.data [0x40]: event: 9
//   .
//   . ... raw event: size 64 bytes
//   .  0000:  09 00 00 00 02 00 40 00 0e c7 65 47 e9 55 00 00  ......@...eG.U..
//   ...
//
//   1125838136407 0x6f78 [0x40]: PERF_RECORD_SAMPLE(IP, 0x2): 9348/9348: 0x55e94765c70e period: …
//
// The format matches perf 6.1's character for character, and so does the order: the recorder's own
// records at their place in the file, the kernel's sorted by time. Since the hex has every byte and
// the offsets give the file order, text_format.h can reassemble the records from this text.
#pragma once

#include <functional>
#include <string>

#include "abi/regs.h"
#include "base/loss.h"
#include "base/sink.h"
#include "perfdata/dump/trace_dump.h"
#include "perfdata/read/ordering.h"
#include "perfdata/read/recording.h"

namespace sonde {

/// The command that dumps: perf prints ": unhandled!" after records that the command has no handler
/// for, and the two commands handle different ones.
enum class DumpFor : uint8_t { kReport, kScript };

/// Writes what only later stages know: after a sample, its thread and object (and script's line);
/// after other records, whatever a command prints for them.
using DumpTail = std::function<void(const TimedRecord&, const Sample* sample, Sink&)>;

/// How script and report deviate from the defaults.
struct DumpOptions {
  DumpFor command = DumpFor::kReport;
  bool in_file_order = false;  // kernel records in file order, too
};

class RecordDumper {
 public:
  RecordDumper(const Recording& recording, const DumpOptions& options, Sink& out);

  /// Dumps one record; `record.event` may be invalid. `stream` as in RecordBlock.
  void dump(const TimedRecord& record, uint32_t stream = 0);
  /// The same; if the record is a sample, `tail` receives it decoded.
  void dump(const TimedRecord& record, uint32_t stream, const DumpTail& tail);
  /// The data that follows an AUXTRACE record, after the record itself.
  void dump_trace(Bytes data);
  /// What says how traces after it in the file are encoded.
  void note_trace(const RecordView& record, const SampleLayout& layout);

 private:
  void put_headline(const RecordView& record, uint32_t stream);
  void put_stamp(const TimedRecord& record);
  [[nodiscard]] const EventDesc* event_of(const TimedRecord& record) const;
  [[nodiscard]] uint64_t shown_offset(const RecordView& record) const;

  const Recording& recording_;
  DumpOptions options_;
  Sink& out_;
  abi::Arch arch_;
  dump::TraceDump traces_;
  size_t events_known_;  // in a pipe, events are announced one at a time
};

/// Dumps every record of the recording, in perf's order, each followed by what `tail` (may be
/// empty) adds.
void dump_recording(const Recording& recording, const DumpOptions& options, const DumpTail& tail,
                    LossLedger& losses, Sink& out);

namespace dump {
/// ".  0000:  09 00 …  ........", sixteen bytes per line.
void put_hex_lines(Bytes bytes, Sink& out);
/// Like C's "%#x": 0 has no prefix.
[[nodiscard]] std::string prefixed_hex(uint64_t value);

// The decoded part of a record, after "PERF_RECORD_NAME"; used by RecordDumper only.

/// `arch` determines the register names.
void put_sample(const Sample& sample, const EventDesc& event, abi::Arch arch, Bytes record,
                Sink& out);
/// Returns false for types that perf has no text for in that command.
bool put_kernel_record(const RecordView& record, const EventDesc& event, DumpFor command,
                       Sink& out);
/// The recorder's own types.
void put_user_record(const RecordView& record, DumpFor command, Sink& out);
}  // namespace dump

}  // namespace sonde
