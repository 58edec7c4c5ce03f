#include "script/sample_printer.h"

#include <algorithm>
#include <optional>

#include "abi/data_source.h"
#include "base/printing/printable.h"
#include "perfdata/records/trace_flags.h"
#include "script/field_texts.h"
#include "script/sample_target.h"
#include "script/trace_event_text.h"

namespace sonde {

using namespace script;

namespace {

/// Fields that the columns don't hold.
constexpr FieldSet kDecodedFields = {
    Field::kTrace,         Field::kSynthesized,   Field::kAddr,
    Field::kIntrRegs,      Field::kUserRegs,      Field::kBranchStack,
    Field::kBranchSymbols, Field::kBranchOffsets, Field::kDataSrc,
    Field::kBpfOutput,     Field::kPhysAddr,      Field::kMisc,
    Field::kDataPageSize,  Field::kCodePageSize,  Field::kInsLat,
    Field::kCgroup,        Field::kInsn,          Field::kDisasm,
    Field::kInsnLength,    Field::kBranchCode,    Field::kBranchCodeLength,
    Field::kBranchDisasm};

constexpr FieldSet kCodeFields = {
    Field::kInsn,       Field::kDisasm,           Field::kInsnLength,
    Field::kBranchCode, Field::kBranchCodeLength, Field::kBranchDisasm};

bool is_bpf_output(const abi::EventAttr& attr) {
  return attr.type == abi::kTypeSoftware && attr.config == abi::kSwBpfOutput;
}

}  // namespace

SamplePrinter::SamplePrinter(const Session& session, PrinterOptions options)
    : session_(&session),
      options_(std::move(options)),
      frame_generation_(session.frame_generation()),
      traces_(session) {}

Result<SamplePrinter> SamplePrinter::make(const Session& session, const PrinterOptions& options) {
  SamplePrinter printer(session, options);
  TRY(printer.prepare());
  return printer;
}

Result<> SamplePrinter::prepare() {
  const Session& session = *session_;
  arch_ = abi::arch_from_machine(session.recording().features().arch.value_or("x86_64"));
  const auto& clock = session.recording().features().clock_data;
  if (clock) epoch_ns_ = clock->wall_clock_ns - clock->clockid_ns;
  auto fields =
      TRY(options_.fields.fields_for(session.events(), options_.call_chains, clock.has_value()));
  size_t name_width = 0;
  for (const EventDesc& event : session.events().all())
    name_width = std::max(name_width, event.name.size());
  for (const EventDesc& event : session.events().all()) {
    EventStyle& style = events_.emplace_back();
    style.event = EventId(events_.size() - 1);
    style.fields = fields[events_.size() - 1];
    append_padded(style.padded_name, event.name, name_width);
    style.padded_name += ": ";
    if (options_.is_shown) make_printable(style.padded_name, 0);
    style.has_chain = options_.call_chains && style.fields.has(Field::kIp) &&
                      event.attr.samples(abi::kSampleCallchain);
    style.is_branch_trace = is_branch_trace(event.attr);
    style.addr_is_place = has_target(event.attr);
    style.shows_target =
        style.is_branch_trace &&
        (style.fields.has(Field::kAddr) || (event.attr.samples(abi::kSampleAddr) &&
                                            !options_.fields.changed(output_kind(event.attr))));
    TRY(prepare_code(style));
    if (style.fields.has(Field::kCallIndent) && !indent_) indent_ = std::make_unique<CallIndent>();
    if (!is_bpf_output(event.attr)) style.fields.remove(Field::kBpfOutput);
    if (output_kind(event.attr) != OutputKind::kSynthesized)
      style.fields.remove(Field::kSynthesized);
    style.needs_decode = style.fields.intersects(kDecodedFields) || style.is_branch_trace ||
                         (style.fields.has(Field::kIp) && !style.has_chain);
    FrameStyle frame_style{style.fields, options_.show_kernel_path, options_.full_source_path,
                           options_.is_shown};
    auto known = std::ranges::find(frame_styles_, style.fields, &FrameStyle::fields);
    style.frame_style = static_cast<uint32_t>(known - frame_styles_.begin());
    if (known == frame_styles_.end()) {
      frame_styles_.push_back(frame_style);
      frame_texts_.emplace_back(session, frame_style);
    }
  }
  grow();
  return {};
}

Result<> SamplePrinter::prepare_code(const EventStyle& style) {
  if (style.fields.intersects(kCodeFields) && !code_)
    code_ = std::make_unique<CodeBytes>(*session_, arch_, true);
  if (style.fields.intersects({Field::kDisasm, Field::kBranchDisasm}) && !instructions_)
    instructions_ = std::make_unique<InstructionText>(TRY(InstructionText::make(*session_, arch_)));
  if (style.fields.has(Field::kSourceCode) && !source_)
    source_ = std::make_unique<SourceCode>(*session_, options_.is_shown);
  if (!style.fields.has(Field::kBranchCounters) || counters_) return {};
  counters_ = std::make_unique<BranchCounters>(session_->recording());
  if (!counters_->all().empty()) return {};
  return fail(ErrorCode::kFailed,
              "brcntr: the recording does not say how wide its branch counters are "
              "(branch_counter_width of CPU_PMU_CAPS or PMU_CAPS); record it on the machine anew");
}

std::string SamplePrinter::legend() const {
  return counters_ && !options_.counter_names ? counters_->legend() : std::string();
}

void SamplePrinter::grow() {
  const Session& session = *session_;
  if (frame_generation_ != session.frame_generation()) {
    frame_generation_ = session.frame_generation();
    stops_.clear();
    for (FrameTexts& texts : frame_texts_) texts.clear();
  }
  for (FrameTexts& texts : frame_texts_) texts.grow(session);
  for (size_t i = comms_.size(); i < session.strings().size(); ++i)
    comms_.push_back(session.strings().view(StringId(i)));
  if (options_.stop_backtrace_at.empty()) return;
  for (size_t i = stops_.size(); i < session.frames().size(); ++i) {
    const Frame& frame = session.frames()[i];
    stops_.push_back(
        frame.symbol.valid() &&
        std::ranges::find(options_.stop_backtrace_at, session.symbolizer().name(frame.symbol)) !=
            options_.stop_backtrace_at.end());
  }
}

bool SamplePrinter::needs_all_symbols() const {
  return std::ranges::any_of(events_, [](const EventStyle& style) {
    return style.fields.has(Field::kAddr) || style.fields.has(Field::kBranchSymbols) ||
           style.fields.has(Field::kBranchOffsets) || style.fields.has(Field::kBranchStack) ||
           style.fields.intersects(kCodeFields) || style.fields.has(Field::kCallIndent) ||
           style.shows_target;
  });
}

void SamplePrinter::print_start(EventId event, StringId comm, const SampleId& who, uint64_t time,
                                RecordKind record, const GuestCpu* guest, std::string& out) const {
  const EventStyle& style = events_[event.index()];
  const FieldSet& fields = style.fields;
  if (guest != nullptr && fields.has(Field::kMachinePid))
    fmt::format_to(std::back_inserter(out), "VM:{:5} ", guest->machine_pid);
  if (guest != nullptr && fields.has(Field::kVcpu))
    fmt::format_to(std::back_inserter(out), "VCPU:{:03} ", guest->vcpu);
  if (fields.has(Field::kComm)) {
    std::string_view name =
        comm.index() < comms_.size() ? comms_[comm.index()] : session_->strings().view(comm);
    size_t begin = out.size();
    if (options_.latency_format)
      fmt::format_to(std::back_inserter(out), "{:>8.8}", name);
    else if (style.has_chain)
      out += name;
    else
      append_padded(out, name, 16);
    if (options_.is_shown) make_printable(out, begin);
    out += ' ';
  }
  bool has_tid = fields.has(Field::kTid);
  if (fields.has(Field::kPid)) {
    append_task_id(out, recorded_task(who.pid));
    if (has_tid)
      fmt::format_to(std::back_inserter(out), "/{:<5}",
                     static_cast<int32_t>(recorded_task(who.tid)));
    out += ' ';
  } else if (has_tid) {
    append_task_id(out, recorded_task(who.tid));
    out += ' ';
  }
  if (fields.has(Field::kCpu) && options_.latency_format) {
    fmt::format_to(std::back_inserter(out), "{:3} ", static_cast<int32_t>(who.cpu));
  } else if (fields.has(Field::kCpu)) {
    append_cpu(out, who.cpu);
  }
  if (fields.has(Field::kMisc)) append_misc(out, record.type, record.misc);
  if (fields.has(Field::kTimeOfDay))
    append_time_of_day(who.time + epoch_ns_, options_.nanoseconds, out);
  if (fields.has(Field::kTime)) append_time(out, time, options_.nanoseconds);
}

void SamplePrinter::print(size_t i, uint64_t time, std::string& out) const {
  const SampleColumns& columns = session_->samples();
  EventId event(columns.event[i]);
  const EventStyle& style = events_[event.index()];
  const FieldSet& fields = style.fields;
  if (fields.empty()) return;
  // Large: most styles show nothing of it but what is in columns.
  std::optional<Sample> decoded;
  if (style.needs_decode && !session_->decode(i, decoded.emplace())) return;
  static const Sample kNotDecoded;
  const Sample& sample = decoded ? *decoded : kNotDecoded;

  SampleId who;
  who.pid = columns.pid[i];
  who.tid = columns.tid[i];
  who.cpu = columns.cpu[i];
  who.time = columns.time[i];
  const GuestCpu* guest =
      fields.intersects({Field::kMachinePid, Field::kVcpu}) ? session_->guest_cpu(i) : nullptr;
  print_start(event, columns.comm[i], who, time, {abi::kRecordSample, columns.cpu_mode[i]}, guest,
              out);
  if (fields.has(Field::kPeriod)) {
    append_number(out, columns.period[i], 10);
    out += ' ';
  }
  if (fields.has(Field::kEvent)) out += style.padded_name;
  if (fields.has(Field::kFlags))
    append_trace_flags(trace_flags_of(session_->record(i)).value_or(0), out);
  if (style.is_branch_trace) return print_branch_trace(style, sample, i, out);
  size_t begin = out.size();
  if (fields.has(Field::kTrace) && !sample.raw.empty()) {
    traces_.print(event, sample.raw, out);
    if (options_.is_shown) make_message_printable(out, begin);
  }
  if (fields.has(Field::kSynthesized))
    append_trace_event_text(session_->events()[event].attr.config, sample.raw, sample.order, out);
  if (style.needs_decode) print_decoded_before_ip(style, sample, out);
  if (fields.has(Field::kWeight)) append_number(out, columns.weight[i], 16);
  if (fields.has(Field::kInsLat)) append_number(out, sample.ins_latency, 16);
  if (options_.is_shown) make_printable(out, begin);
  if (fields.has(Field::kIp)) {
    if (style.has_chain) {
      out += '\n';
      print_chain(style, columns.chain_of(i), out);
    } else {
      out += ' ';
      const Frame& frame = session_->frame(columns.leaf[i]);
      append_hex16(out, sample.ip);
      append_place(*session_, frame, frame_styles_[style.frame_style], out);
    }
  }
  if (style.needs_decode) print_decoded_after_ip(style, sample, columns.time[i], out);
  if (fields.has(Field::kInstructionsPerCycle)) append_ipc(session_->record(i), out);
  end_line(style, i, out);
}

void SamplePrinter::end_line(const EventStyle& style, size_t i, std::string& out) const {
  out += '\n';
  if (!style.fields.has(Field::kSourceCode)) return;
  const SampleColumns& columns = session_->samples();
  source_->print(columns.tid[i], session_->frame(columns.leaf[i]), out);
}

/// "401106 odd+0x0 (/bin/x) =>           401124 main+0x10 (/bin/x)"
void SamplePrinter::print_branch_trace(const EventStyle& style, const Sample& sample, size_t i,
                                       std::string& out) const {
  const SampleColumns& columns = session_->samples();
  const Frame& leaf = session_->frame(columns.leaf[i]);
  FrameStyle without_line = frame_styles_[style.frame_style];
  without_line.fields.remove(Field::kSrcline);
  if (style.fields.has(Field::kCallIndent)) print_call(style, sample, i, out);
  if (style.fields.has(Field::kIp) && style.has_chain) {
    out += '\n';
    print_chain(style, columns.chain_of(i), out);
  } else if (style.fields.has(Field::kIp)) {
    out += ' ';
    append_hex16(out, sample.ip);
    append_place(*session_, leaf, without_line, out);
  }
  if (style.shows_target) {
    out += " => ";
    print_address(style, sample, out);
  }
  if (!style.has_chain && style.fields.has(Field::kSrcline))
    append_place(*session_, leaf, {{Field::kSrcline}, false, false, options_.is_shown}, out);
  if (style.fields.has(Field::kInstructionsPerCycle)) append_ipc(session_->record(i), out);
  print_instruction(style, sample, columns.time[i], out);
  end_line(style, i, out);
}

void SamplePrinter::print_call(const EventStyle& style, const Sample& sample, size_t i,
                               std::string& out) const {
  TraceDetails details = trace_details_of(session_->record(i)).value_or(TraceDetails{});
  const FieldSet& fields = style.fields;
  size_t begin = out.size();
  if (fields.has(Field::kDso) && !fields.intersects({Field::kIp, Field::kAddr})) {
    const Frame& leaf = session_->frame(session_->samples().leaf[i]);
    std::string_view object = dso_text(*session_, leaf.dso, options_.show_kernel_path);
    if (size_t width = options_.object_width; width > 0)
      fmt::format_to(std::back_inserter(out), "({:<{}.{}})\t", object, width, width);
    else
      fmt::format_to(std::back_inserter(out), "({})\t", object);
  }
  indent_->print(call_name(*session_, static_cast<uint32_t>(i), sample, details), details, out);
  if (options_.is_shown) make_printable(out, begin);
}

void SamplePrinter::print_instruction(const EventStyle& style, const Sample& sample, uint64_t time,
                                      std::string& out) const {
  const FieldSet& fields = style.fields;
  if (!fields.intersects(kCodeFields)) return;
  auto to = std::back_inserter(out);
  if (fields.intersects({Field::kInsn, Field::kDisasm, Field::kInsnLength})) {
    Frame leaf = session_->resolve(sample.id.pid, time, RuntimeAddr(sample.ip), sample.cpu_mode);
    CodeBytes::Code code = code_->at(leaf, CodeBytes::kMaxLength);
    size_t length = code_->decode(code).length;
    if (fields.has(Field::kInsnLength)) fmt::format_to(to, " ilen: {}", length);
    if (fields.has(Field::kInsn) && length > 0) {
      out += " insn:";
      for (std::byte byte : code.bytes.first(length))
        fmt::format_to(to, " {:02x}", std::to_integer<unsigned>(byte));
    }
    if (fields.has(Field::kDisasm) && length > 0) {
      size_t begin = out.size();
      out += "\t\t";
      instructions_->append(code, {sample.id.pid, time, sample.ip, sample.cpu_mode}, out);
      if (options_.is_shown) make_printable(out, begin);
    }
  }
  if (!fields.intersects(kBranchCodeFields)) return;
  BranchCodeStyle how{fields.has(Field::kBranchCodeLength), fields.has(Field::kSrcline),
                      fields.has(Field::kSourceCode) ? source_.get() : nullptr,
                      options_.max_blocks};
  how.is_shown = options_.is_shown;
  if (fields.has(Field::kBranchCounters)) {
    how.counters = counters_.get();
    how.counted = counters_->of(style.event);
    how.counter_names = options_.counter_names;
  }
  if (fields.has(Field::kBranchDisasm)) how.texts = instructions_.get();
  BranchCode(*session_, *code_, how, sample, time, out).print();
}

void SamplePrinter::print_chain(const EventStyle& style, ChainId chain, std::string& out) const {
  if (!chain.valid()) return;
  std::span<const FrameId> frames = session_->chains()[chain];
  frames = frames.first(std::min<size_t>(frames.size(), options_.max_stack));
  if (!stops_.empty()) {
    auto stop = std::ranges::find_if(frames, [&](FrameId f) { return stops_[f.index()] != 0; });
    if (stop != frames.end()) frames = {frames.begin(), stop + 1};
  }
  frame_texts_[style.frame_style].append(frames, out);
}

void SamplePrinter::print_frame(EventId event, const Frame& frame, std::string& out) const {
  const EventStyle& style = events_[event.index()];
  if (!style.fields.has(Field::kIp)) return;
  fmt::format_to(std::back_inserter(out), "\t{:16x}", frame.address);
  append_place(*session_, frame, frame_styles_[style.frame_style], out);
  out += '\n';
}

void SamplePrinter::print_address(const EventStyle& style, const Sample& sample,
                                  std::string& out) const {
  append_hex16(out, sample.addr);
  if (!style.addr_is_place) return;
  uint64_t time = sample.id.has_time() ? sample.id.time : UINT64_MAX - 1;
  Frame frame = target_frame(*session_, sample.id.pid, time, sample.addr, sample.cpu_mode);
  FrameStyle without_line = frame_styles_[style.frame_style];
  without_line.fields.remove(Field::kSrcline);
  append_place(*session_, frame, without_line, out);
}

void SamplePrinter::print_decoded_before_ip(const EventStyle& style, const Sample& sample,
                                            std::string& out) const {
  if (style.fields.has(Field::kAddr)) print_address(style, sample, out);
  if (style.fields.has(Field::kDataSrc)) {
    append_hex16(out, sample.data_src);
    out += ' ';
    out += abi::data_source_text(sample.data_src);
  }
}

void SamplePrinter::print_decoded_after_ip(const EventStyle& style, const Sample& sample,
                                           uint64_t time, std::string& out) const {
  const FieldSet& fields = style.fields;
  size_t begin = out.size();
  if (fields.has(Field::kIntrRegs)) append_registers(sample.regs_intr, arch_, out);
  if (fields.has(Field::kUserRegs)) append_registers(sample.regs_user, arch_, out);
  print_branches(style, sample, time, out);
  if (options_.is_shown) make_printable(out, begin);
  if (fields.has(Field::kBpfOutput)) append_bpf_output(sample.raw, out);
  print_instruction(style, sample, time, out);
  if (fields.has(Field::kPhysAddr)) append_hex16(out, sample.phys_addr);
  if (fields.has(Field::kDataPageSize)) append_page_size(sample.data_page_size, out);
  if (fields.has(Field::kCodePageSize)) append_page_size(sample.code_page_size, out);
  if (fields.has(Field::kCgroup)) {
    std::string_view path = session_->machine().cgroup_path(sample.cgroup);
    size_t cgroup = out.size();
    fmt::format_to(std::back_inserter(out), " {}", path.empty() ? "unknown" : path);
    if (options_.is_shown) make_printable(out, cgroup);
  }
}

void SamplePrinter::print_branches(const EventStyle& style, const Sample& sample, uint64_t time,
                                   std::string& out) const {
  const FieldSet& fields = style.fields;
  auto frame_of = [&](uint64_t address) {
    uint16_t mode = static_cast<int64_t>(address) < 0 ? abi::kMiscKernel : abi::kMiscUser;
    return session_->resolve(sample.id.pid, time, RuntimeAddr(address), mode);
  };
  auto each = [&](std::string_view before, auto&& print_end) {
    for (size_t i = 0; i < sample.branch_count(); ++i) {
      abi::BranchEntry branch = sample.branch(i);
      out += before;
      print_end(branch.from);
      out += '/';
      print_end(branch.to);
      append_branch_flags(branch, out);
    }
  };
  auto append_dso = [&](const Frame& frame) {
    if (fields.has(Field::kDso))
      fmt::format_to(std::back_inserter(out), "({})",
                     dso_text(*session_, frame.dso, options_.show_kernel_path));
  };
  if (fields.has(Field::kBranchStack))
    each(" ", [&](uint64_t address) {
      fmt::format_to(std::back_inserter(out), "{:#x}", address);
      if (fields.has(Field::kDso)) append_dso(frame_of(address));
    });
  else if (fields.has(Field::kBranchSymbols))
    each("", [&](uint64_t address) {
      Frame frame = frame_of(address);
      if (frame.symbol.valid())
        fmt::format_to(std::back_inserter(out), "{}+{:#x}",
                       session_->symbolizer().name(frame.symbol),
                       frame.address - frame.symbol_start);
      else
        out += "[unknown]";
      append_dso(frame);
    });
  else if (fields.has(Field::kBranchOffsets))
    each(" ", [&](uint64_t address) {
      Frame frame = frame_of(address);
      fmt::format_to(std::back_inserter(out), "{:#x}", frame.address);
      append_dso(frame);
    });
}

}  // namespace sonde
