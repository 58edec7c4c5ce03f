#include "itrace/debug_log.h"

#include <algorithm>

#include "abi/record_names.h"
#include "perfdata/dump/dump.h"
#include "perfdata/records/sideband.h"

namespace sonde::itrace {
namespace {

constexpr const char* kLogFile = "intel_pt.log";

std::string log_time(uint64_t time_ns) {
  constexpr uint64_t kPerSecond = 1'000'000'000;
  return fmt::format("{}.{:09}", time_ns / kPerSecond, time_ns % kPerSecond);
}

std::string log_place(std::optional<uint64_t> ip) {
  return ip ? fmt::format("0x{:x}", *ip) : "an unknown address";
}

std::string_view log_word(pt::InstructionKind kind) {
  switch (kind) {
    case pt::InstructionKind::kOther:
      return "other";
    case pt::InstructionKind::kCall:
      return "call";
    case pt::InstructionKind::kReturn:
      return "return";
    case pt::InstructionKind::kJump:
      return "jump";
    case pt::InstructionKind::kConditional:
      return "conditional jump";
    case pt::InstructionKind::kFarCall:
      return "far call";
    case pt::InstructionKind::kFarReturn:
      return "far return";
    case pt::InstructionKind::kFarJump:
      return "far jump";
    case pt::InstructionKind::kPtWrite:
      return "ptwrite";
    case pt::InstructionKind::kSystemCall:
      return "system call";
  }
  return "";
}

std::string_view log_word(pt::PowerEvent::Kind kind) {
  switch (kind) {
    case pt::PowerEvent::Kind::kMwait:
      return "mwait";
    case pt::PowerEvent::Kind::kPwre:
      return "power state entered";
    case pt::PowerEvent::Kind::kExStop:
      return "execution stopped";
    case pt::PowerEvent::Kind::kPwrx:
      return "power state left";
  }
  return "";
}

}  // namespace

Result<DebugLog> DebugLog::open(const Recording& recording, const ItraceOptions& options,
                                const LogSetup& setup) {
  DebugLog log(TRY(OutputFile::open(options.logs_to_output ? "-" : kLogFile, setup.output)));
  log.errors_only_ = options.logs_errors_only;
  log.context_bytes_ = setup.context_bytes;
  log.events_ = &recording.events();
  if (options.logged_records != LoggedRecords::kNone)
    log.collect(recording, options.logged_records == LoggedRecords::kAll ? nullptr : setup.in_time);
  return log;
}

void DebugLog::collect(const Recording& recording, const std::function<bool(uint64_t)>& in_time) {
  for (const RecordBlock& block : recording.blocks()) {
    RecordRange range(block, recording.byte_order());
    for (RecordView record; range.next(record);) {
      if (record.type == abi::kRecordSample || record.type >= abi::kRecordUserStart) continue;
      EventId event = recording.events().of(record);
      if (!event.valid()) continue;
      SampleId id = decode_trailing_id(record, recording.events()[event].layout);
      uint64_t time = id.has_time() ? id.time : 0;
      // What was recorded of tasks that ran before has no time, or none of `--time`.
      if (in_time && time != 0 && !in_time(time)) continue;
      records_.push_back({time, id.cpu, id.tid, event, record});
    }
  }
  std::ranges::stable_sort(records_, {}, &LoggedRecord::time_ns);
}

std::string_view DebugLog::context() const {
  std::string_view recent = recent_;
  if (recent.size() <= context_bytes_) return recent;
  size_t line_end = recent.find('\n', recent.size() - context_bytes_ - 1);
  return line_end == std::string_view::npos ? std::string_view() : recent.substr(line_end + 1);
}

void DebugLog::write(std::string_view lines) {
  if (!errors_only_) return output_.sink().write_lines(lines);
  recent_ += lines;
  if (recent_.size() > 2 * context_bytes_) recent_ = std::string(context());
}

void DebugLog::error(std::string_view line) {
  output_.sink().write_lines(context());
  recent_.clear();
  output_.sink().write(line);
}

void DebugLog::put_records(const TraceQueue& queue, uint64_t time_ns, size_t& next) {
  bool of_cpu = queue.cpu != UINT32_MAX;
  for (; next < records_.size() && records_[next].time_ns <= time_ns; ++next) {
    const LoggedRecord& logged = records_[next];
    if (of_cpu ? logged.cpu != queue.cpu : logged.tid != queue.tid) continue;
    StringSink text(output_.sink());
    text.print("cpu {} time {} PERF_RECORD_{}", static_cast<int32_t>(logged.cpu),
               log_time(logged.time_ns), abi::record_type_name(logged.record.type));
    if (!dump::put_kernel_record(logged.record, (*events_)[logged.event], DumpFor::kReport, text))
      text.put('\n');
    write(text.text());
  }
}

void LoggedFlow::begin(const TracePiece& run) {
  trace_ = run.bytes;
  offset_ = run.offset;
  at_ = 0;
  block_ = {};
  now_ = 0;
  std::string whose = queue_.cpu != UINT32_MAX ? fmt::format("cpu {}", queue_.cpu)
                                               : fmt::format("thread {}", queue_.tid);
  log_.write(fmt::format("queue {} of {}: {} bytes from offset 0x{:x}\n", number_, whose,
                         trace_.size(), offset_));
}

void LoggedFlow::end() {
  packets_read(trace_.size());
}

void LoggedFlow::packets_read(uint64_t offset) {
  size_t end = std::min<uint64_t>(offset, trace_.size());
  // Bytes in front of the first PSB are not looked at.
  if (at_ == 0 && end > 0) {
    at_ = std::min(pt::find_psb(trace_, 0), end);
    if (at_ > 0) log_.write(fmt::format("  {:08x}: {} bytes without a PSB\n", offset_, at_));
  }
  while (at_ < end) {
    text_ = "  ";
    at_ += pt::append_packet_line(trace_, at_, offset_ + at_, block_, text_);
    log_.write(text_);
  }
}

void LoggedFlow::look_at_clock(uint64_t now) {
  if (now == now_) return;
  now_ = now;
  uint64_t time = clock_.to_ns(now);
  log_.put_records(queue_, time, next_record_);
  TaskTimeline::Task task = tasks_.task_at(time);
  log_.write(fmt::format("time {} tsc 0x{:x} pid {} tid {}\n", log_time(time), now,
                         static_cast<int32_t>(task.pid), static_cast<int32_t>(task.tid)));
}

void LoggedFlow::put(const pt::Instruction& instruction, uint64_t now) {
  constexpr size_t kBytesShown = 15;
  std::array<std::byte, kBytesShown> bytes;
  size_t size = std::min<size_t>(instruction.size, bytes.size());
  size_t got = code_.read(instruction.ip, std::span(bytes).first(size), now);
  text_.clear();
  fmt::format_to(std::back_inserter(text_), "  {:20x}: ", instruction.ip);
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i < got)
      fmt::format_to(std::back_inserter(text_), " {:02x}", std::to_integer<unsigned>(bytes[i]));
    else
      text_ += "   ";
  }
  text_ += ' ';
  text_ += log_word(instruction.kind);
  if (instruction.in_transaction) text_ += ", in a transaction";
  text_ += '\n';
  log_.write(text_);
}

void LoggedFlow::instruction(const pt::Instruction& instruction, uint64_t now) {
  look_at_clock(now);
  put(instruction, now);
  observer_.instruction(instruction, now);
}

void LoggedFlow::ran(const pt::Block& block, pt::BlockSizes& sizes, uint64_t now) {
  pt::Instruction one;
  one.ip = block.ip;
  one.in_transaction = block.last.in_transaction;
  if (block.count > 1) {
    look_at_clock(block.began);
    for (uint8_t size : sizes.of(block).first(block.count - 1)) {
      one.size = size;
      put(one, block.began);
      one.ip += size;
    }
  }
  look_at_clock(now);
  put(block.last, now);
  observer_.ran(block, sizes, now);
}

void LoggedFlow::enabled(uint64_t ip, uint64_t now) {
  look_at_clock(now);
  log_.write(fmt::format("tracing begins at 0x{:x}\n", ip));
  observer_.enabled(ip, now);
}

void LoggedFlow::disabled(std::optional<uint64_t> at, std::optional<uint64_t> to, uint64_t now) {
  look_at_clock(now);
  if (at)
    log_.write(fmt::format("tracing ends by an interrupt at 0x{:x}\n", *at));
  else
    log_.write(fmt::format("tracing ends on the way to {}\n", log_place(to)));
  observer_.disabled(at, to, now);
}

void LoggedFlow::interrupted(uint64_t from, std::optional<uint64_t> to, uint64_t now) {
  look_at_clock(now);
  log_.write(fmt::format("interrupted at 0x{:x}, on to {}\n", from, log_place(to)));
  observer_.interrupted(from, to, now);
}

void LoggedFlow::transaction(bool begins, bool aborted, std::optional<uint64_t> ip, uint64_t now) {
  look_at_clock(now);
  log_.write(fmt::format("transaction {} at {}\n",
                         begins    ? "begins"
                         : aborted ? "aborts"
                                   : "ends",
                         log_place(ip)));
  observer_.transaction(begins, aborted, ip, now);
}

void LoggedFlow::ptwrite(std::optional<uint64_t> ip, uint64_t value, uint64_t now) {
  look_at_clock(now);
  log_.write(fmt::format("ptwrite of 0x{:x} at {}\n", value, log_place(ip)));
  observer_.ptwrite(ip, value, now);
}

void LoggedFlow::power(const pt::PowerEvent& event, std::optional<uint64_t> ip, uint64_t now) {
  look_at_clock(now);
  log_.write(fmt::format("{}: 0x{:x} at {}\n", log_word(event.kind), event.payload, log_place(ip)));
  observer_.power(event, ip, now);
}

void LoggedFlow::control_flow(const pt::ControlFlowEvent& event, std::optional<uint64_t> ip,
                              uint64_t now) {
  look_at_clock(now);
  text_ = fmt::format("event of type {} vector {} at {}", event.type, event.vector, log_place(ip));
  for (const pt::EventDatum& datum : event.data)
    text_ += fmt::format(", datum {}: 0x{:x}", datum.type, datum.payload);
  text_ += '\n';
  log_.write(text_);
  observer_.control_flow(event, ip, now);
}

void LoggedFlow::interrupt_flag(bool allows, pt::FlagChange how, std::optional<uint64_t> ip,
                                uint64_t now) {
  if (tells_interrupt_flag_ && how != pt::FlagChange::kKnown && allows_interrupts_ != allows) {
    look_at_clock(now);
    log_.write(fmt::format("interrupts are {}\n", allows ? "allowed" : "masked"));
  }
  allows_interrupts_ = allows;
  observer_.interrupt_flag(allows, how, ip, now);
}

void LoggedFlow::items(const pt::BlockItems& items, std::optional<uint64_t> ip, uint64_t now) {
  look_at_clock(now);
  auto of_record = items.get(pt::BlockType::kBasic, pt::BlockItems::kIp);
  log_.write(fmt::format("sample at {}\n", log_place(ip ? ip : of_record)));
  observer_.items(items, ip, now);
}

void LoggedFlow::cycles(uint64_t count) {
  log_.write(fmt::format("{} cycles\n", count));
  observer_.cycles(count);
}

void LoggedFlow::core_frequency(uint32_t ratio, uint64_t now) {
  look_at_clock(now);
  log_.write(fmt::format("core at {} bus clocks\n", ratio));
  observer_.core_frequency(ratio, now);
}

void LoggedFlow::lost(pt::FlowError why, uint64_t ip, uint64_t now) {
  look_at_clock(now);
  log_.error(
      fmt::format("ERROR {} at 0x{:x}: {}\n", static_cast<unsigned>(why), ip, pt::describe(why)));
  observer_.lost(why, ip, now);
}

}  // namespace sonde::itrace
