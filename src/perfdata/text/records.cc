#include "perfdata/text/records.h"

#include <algorithm>
#include <bit>

#include "abi/record_names.h"
#include "perfdata/header/feature_encoder.h"
#include "perfdata/header/features.h"
#include "perfdata/records/record_encoder.h"
#include "perfdata/records/user_records.h"
#include "perfdata/text/features.h"
#include "perfdata/text/fields.h"

namespace sonde {
namespace {

/// What the lines of all kernel records have in common.
struct Line {
  Fields& fields;
  std::span<const EventDesc> events;
  ByteBuilder& out;
  const EventDesc* event = nullptr;
  RecordFrame frame;
};

std::optional<uint16_t> mode_named(std::string_view name) {
  constexpr std::string_view kModes[] = {"unknown",    "kernel",       "user",
                                         "hypervisor", "guest_kernel", "guest_user"};
  for (uint16_t i = 0; i < std::size(kModes); ++i)
    if (kModes[i] == name) return i;
  return std::nullopt;
}

SampleId sample_id_of(Fields& f, const EventDesc* event) {
  SampleId id;
  id.pid = f.u32("pid");
  id.tid = f.u32("tid", id.pid);
  id.time = f.u64("time");
  id.id = f.u64("id", event != nullptr && !event->ids.empty() ? event->ids.front() : 0);
  id.stream_id = f.u64("stream", id.id);
  id.cpu = f.u32("cpu");
  return id;
}

/// The id block uses the record's own fields unless it is given its own.
SampleId trailing_id_of(Fields& f, const EventDesc* event) {
  SampleId id = sample_id_of(f, event);
  id.pid = f.u32("id.pid", id.pid);
  id.tid = f.u32("id.tid", id.tid);
  id.time = f.u64("id.time", id.time);
  id.id = f.u64("id.id", id.id);
  id.stream_id = f.u64("id.stream", id.stream_id);
  id.cpu = f.u32("id.cpu", id.cpu);
  return id;
}

/// "value:id:lost" items, as the words that a ReadBlock views.
ReadBlock read_block_of(Fields& f, uint64_t format, ByteBuilder& store) {
  ReadBlock read;
  read.present = true;
  read.read_format = format;
  read.time_enabled = f.u64("enabled");
  read.time_running = f.u64("running");
  WordView values = f.words("values"), ids = f.words("ids"), lost = f.words("lost_values");
  read.count = (format & abi::kFormatGroup) != 0 ? values.size() : 1;
  for (size_t i = 0; i < read.count; ++i) {
    store.u64(i < values.size() ? values[i] : 0);
    if ((format & abi::kFormatId) != 0) store.u64(i < ids.size() ? ids[i] : 0);
    if ((format & abi::kFormatLost) != 0) store.u64(i < lost.size() ? lost[i] : 0);
  }
  read.values = WordView(store.view(), store.order());
  return read;
}

SampleRegs regs_of(Fields& f, std::string_view name, uint64_t mask) {
  SampleRegs regs;
  regs.words = f.words(name);
  regs.mask = mask;
  if (!regs.words.empty()) regs.abi = abi::kRegsAbi64;
  return regs;
}

Result<bool> put_sample(Line& line) {
  Fields& f = line.fields;
  if (line.event == nullptr)
    return fail(ErrorCode::kCorrupt, "a sample needs an event: none is described");
  const abi::EventAttr& attr = line.event->attr;
  Sample s;
  s.ip = f.u64("ip");
  bool kernel = static_cast<int64_t>(s.ip) < 0;
  bool told = f.has("misc") || f.has("mode");
  s.misc = told ? misc_of(f) : static_cast<uint16_t>(kernel ? abi::kMiscKernel : abi::kMiscUser);
  s.id = sample_id_of(f, line.event);
  s.addr = f.u64("addr");
  s.period = f.u64("period", 1);
  s.weight = f.u64("weight");
  s.ins_latency = f.u16("ins_latency");
  s.p_stage_cycles = f.u16("p_stage_cycles");
  s.data_src = f.u64("data_src");
  s.transaction = f.u64("transaction");
  s.phys_addr = f.u64("phys_addr");
  s.cgroup = f.u64("cgroup");
  s.data_page_size = f.u64("data_page_size");
  s.code_page_size = f.u64("code_page_size");
  ByteBuilder read_store;
  s.read = read_block_of(f, attr.read_format, read_store);
  s.callchain = f.words("chain");
  s.raw = f.bytes("raw");
  s.branch_hw_index = f.u64("hw_index");
  s.branches = f.words("branches");
  s.branch_counters = f.words("branch_counters");
  s.regs_user = regs_of(f, "regs_user", attr.sample_regs_user);
  s.regs_user.abi = f.u64("regs_user_abi", s.regs_user.abi);
  s.regs_intr = regs_of(f, "regs_intr", attr.sample_regs_intr);
  s.regs_intr.abi = f.u64("regs_intr_abi", s.regs_intr.abi);
  s.stack_user = f.bytes("stack");
  s.chain_cut = static_cast<ChainCut>(std::min<uint64_t>(f.u64("chain_cut"), kChainCuts - 1));
  s.aux = f.bytes("aux");
  return encode_sample(s, attr, line.out);
}

bool put_mmap(Line& line, bool v2) {
  Fields& f = line.fields;
  MmapRecord m{.pid = f.u32("pid"),
               .tid = f.u32("tid", f.u32("pid")),
               .start = RuntimeAddr(f.u64("start")),
               .length = f.u64("length"),
               .offset = FileOffset(f.u64("offset")),
               .path = f.text("path"),
               .build_id = {}};
  m.is_v2 = v2;
  if (v2) {
    m.major = f.u32("major");
    m.minor = f.u32("minor");
    m.inode = f.u64("inode");
    m.inode_generation = f.u64("inode_generation");
    m.protection = f.u32("protection", 5);  // r-x
    m.flags = f.u32("flags", 2);            // private
    m.build_id = f.bytes("build_id");
  }
  return encode(m, line.frame, line.out);
}

bool put_comm(Line& line) {
  Fields& f = line.fields;
  CommRecord comm{f.u32("pid"), f.u32("tid", f.u32("pid")), f.text("comm"), f.flag("exec")};
  return encode(comm, line.frame, line.out);
}

bool put_task(Line& line) {
  Fields& f = line.fields;
  TaskRecord task{f.u32("pid"), f.u32("ppid"), f.u32("tid", f.u32("pid")),
                  f.u32("ptid", f.u32("ppid")), f.u64("time")};
  return encode(task, line.frame, line.out);
}

bool put_switch(Line& line, bool wide) {
  Fields& f = line.fields;
  bool preempt = f.flag("preempt");
  SwitchRecord record{f.flag("out") || preempt, preempt, wide, 0, 0};
  if (wide) {
    record.other_pid = f.u32("other_pid");
    record.other_tid = f.u32("other_tid");
  }
  return encode(record, line.frame, line.out);
}

bool put_namespaces(Line& line) {
  Fields& f = line.fields;
  NamespacesRecord record{f.u32("pid"), f.u32("tid", f.u32("pid")), 0, f.words("links")};
  record.count = f.u64("count", record.links.size() / 2);
  return encode(record, line.frame, line.out);
}

bool put_read(Line& line) {
  Fields& f = line.fields;
  ByteBuilder store;
  ReadRecord record{f.u32("pid"), f.u32("tid", f.u32("pid")), {}};
  record.read = read_block_of(f, line.event != nullptr ? line.event->attr.read_format : 0, store);
  return encode(record, line.frame, line.out);
}

Result<bool> put_kernel_record(uint32_t type, Line& line) {
  Fields& f = line.fields;
  const RecordFrame& frame = line.frame;
  ByteBuilder& out = line.out;
  switch (type) {
    case abi::kRecordSample:
      return put_sample(line);
    case abi::kRecordMmap:
    case abi::kRecordMmap2:
      return put_mmap(line, type == abi::kRecordMmap2);
    case abi::kRecordComm:
      return put_comm(line);
    case abi::kRecordFork:
    case abi::kRecordExit:
      return put_task(line);
    case abi::kRecordLost:
      return encode(LostRecord{f.u64("id"), f.u64("lost")}, frame, out);
    case abi::kRecordLostSamples:
      return encode(LostSamplesRecord{f.u64("lost")}, frame, out);
    case abi::kRecordThrottle:
    case abi::kRecordUnthrottle:
      return encode(ThrottleRecord{f.u64("time"), f.u64("id"), f.u64("stream", f.u64("id"))}, frame,
                    out);
    case abi::kRecordSwitch:
    case abi::kRecordSwitchCpuWide:
      return put_switch(line, type == abi::kRecordSwitchCpuWide);
    case abi::kRecordNamespaces:
      return put_namespaces(line);
    case abi::kRecordKsymbol:
      return encode(KsymbolRecord{RuntimeAddr(f.u64("address")), f.u32("length"),
                                  f.u16("ksym_type"), f.u16("flags"), f.text("name")},
                    frame, out);
    case abi::kRecordBpfEvent:
      return encode(
          BpfEventRecord{f.u16("event_type"), f.u16("flags"), f.u32("bpf_id"), f.bytes("tag")},
          frame, out);
    case abi::kRecordCgroup:
      return encode(CgroupRecord{f.u64("cgroup"), f.text("path")}, frame, out);
    case abi::kRecordTextPoke:
      return encode(
          TextPokeRecord{RuntimeAddr(f.u64("address")), f.bytes("old_bytes"), f.bytes("new_bytes")},
          frame, out);
    case abi::kRecordAux:
      return encode(AuxRecord{f.u64("offset"), f.u64("size"), f.u64("flags")}, frame, out);
    case abi::kRecordItraceStart:
      return encode(ItraceStartRecord{f.u32("pid"), f.u32("tid", f.u32("pid"))}, frame, out);
    case abi::kRecordAuxOutputHwId:
      return encode(AuxOutputHwIdRecord{f.u64("hw_id")}, frame, out);
    case abi::kRecordCallchainDeferred:
      return encode(CallchainDeferredRecord{f.u64("cookie"), f.words("chain")}, frame, out);
    case abi::kRecordRead:
      return put_read(line);
    default:
      return fail(ErrorCode::kCorrupt, "this record can only be written as raw:");
  }
}

CpuMapRecord cpu_map_of(Fields& f) {
  CpuMapRecord map;
  WordView cpus = f.words("cpus");
  for (size_t i = 0; i < cpus.size(); ++i) map.cpus.push_back(static_cast<int>(cpus[i]));
  return map;
}

bool put_thread_map(Fields& f, ByteBuilder& out) {
  ThreadMapRecord map;
  WordView tids = f.words("tids");
  std::vector<std::string_view> comms = f.list("comms");
  for (size_t i = 0; i < tids.size(); ++i)
    map.threads.push_back({tids[i], i < comms.size() ? comms[i] : std::string_view()});
  return encode(map, out);
}

/// interpreted="…" has the text of a feature line of INTERPRETED_FILES, in quotes.
Result<bool> put_interpreted_update(Fields& f, ByteBuilder& out) {
  Features features;
  TRY(set_feature(abi::kFeatureInterpretedFiles, f.text("interpreted"), features));
  if (features.interpreted_files.empty())
    return fail(ErrorCode::kCorrupt, "interpreted=: a path, its start and its functions expected");
  encode_interpreted_updates(features.interpreted_files, f.u64("id"), out);
  return true;
}

Result<bool> put_event_update(Fields& f, ByteBuilder& out) {
  if (f.has("interpreted")) return put_interpreted_update(f, out);
  EventUpdateRecord update{
      .kind = EventUpdateKind::kUnit, .id = f.u64("id"), .text = {}, .scale = 1, .cpus = {}};
  if (f.has("unit")) {
    update.text = f.text("unit");
  } else if (f.has("name")) {
    update.kind = EventUpdateKind::kName;
    update.text = f.text("name");
  } else if (f.has("scale")) {
    update.kind = EventUpdateKind::kScale;
    update.scale = f.real("scale", 1.0);
  } else if (f.has("cpus")) {
    update.kind = EventUpdateKind::kCpus;
    update.cpus = cpu_map_of(f);
  } else {
    return fail(ErrorCode::kCorrupt,
                "EVENT_UPDATE needs unit=, scale=, name=, cpus= or interpreted=");
  }
  return encode(update, out);
}

bool put_time_conv(Fields& f, ByteBuilder& out) {
  TimeConvRecord conv{f.u64("shift"), f.u64("multiplier"), f.u64("zero")};
  conv.has_cycles = f.has("cycles") || f.has("mask");
  conv.cycles = f.u64("cycles");
  conv.mask = f.u64("mask");
  conv.cap_user_time_zero = static_cast<uint8_t>(f.u64("cap_user_time_zero"));
  conv.cap_user_time_short = static_cast<uint8_t>(f.u64("cap_user_time_short"));
  return encode(conv, out);
}

bool put_build_id(Fields& f, ByteBuilder& out) {
  BuildIdEntry entry;
  entry.misc = misc_of(f);
  entry.pid = static_cast<int32_t>(f.u64("pid", UINT64_MAX));
  entry.build_id = as_text(f.bytes("id"));
  entry.path = f.text("path");
  return encode(entry, abi::kRecordHeaderBuildId, out);
}

bool put_attr(Line& line) {
  HeaderAttrRecord record;
  ByteBuilder ids;
  if (line.event != nullptr) {
    record.attr = line.event->attr;
    for (uint64_t id : line.event->ids) ids.u64(id);
  }
  record.ids = WordView(ids.view(), ids.order());
  return encode(record, line.out);
}

Result<bool> put_user_record(uint32_t type, Line& line) {
  Fields& f = line.fields;
  ByteBuilder& out = line.out;
  switch (type) {
    case abi::kRecordHeaderAttr:
      return put_attr(line);
    case abi::kRecordHeaderEventType:
      return encode(EventTypeRecord{f.u64("id"), f.text("name")}, out);
    case abi::kRecordHeaderTracingData:
      return encode(TracingDataRecord{f.u32("size")}, out);
    case abi::kRecordHeaderBuildId:
      return put_build_id(f, out);
    case abi::kRecordFinishedRound:
    case abi::kRecordFinishedInit:
      encode_empty(type, out);
      return true;
    case abi::kRecordIdIndex:
      return encode(IdIndexRecord{f.words("entries"), f.words("guests")}, out);
    case abi::kRecordAuxtraceInfo:
      return encode(AuxtraceInfoRecord{f.u32("type"), f.words("priv")}, out);
    case abi::kRecordAuxtrace:
      return encode(AuxtraceRecord{f.u64("size"), f.u64("offset"), f.u64("reference"),
                                   f.u32("index"), f.u32("tid"), f.u32("cpu")},
                    out);
    case abi::kRecordAuxtraceError:
      return encode(
          AuxtraceErrorRecord{f.u32("type"), f.u32("code"), f.u32("cpu"), f.u32("pid"),
                              f.u32("tid"), f.u32("format", 2), f.u64("ip"), f.u64("time"),
                              f.text("message"), f.u32("machine_pid"), f.u32("vcpu")},
          out);
    case abi::kRecordThreadMap:
      return put_thread_map(f, out);
    case abi::kRecordCpuMap:
      return encode(cpu_map_of(f), out);
    case abi::kRecordStatConfig:
      return encode(StatConfigRecord{f.words("terms")}, out);
    case abi::kRecordStat:
      return encode(StatRecord{f.u64("id"), f.u32("cpu"), f.u32("thread"), f.u64("value"),
                               f.u64("enabled"), f.u64("running")},
                    out);
    case abi::kRecordStatRound:
      return encode(StatRoundRecord{f.u64("type"), f.u64("time")}, out);
    case abi::kRecordEventUpdate:
      return put_event_update(f, out);
    case abi::kRecordTimeConv:
      return put_time_conv(f, out);
    case abi::kRecordHeaderFeature:
      return encode(HeaderFeatureRecord{f.u64("feature"), f.bytes("content")}, out);
    default:
      return fail(ErrorCode::kCorrupt, "this record can only be written as raw:");
  }
}

}  // namespace

uint16_t misc_of(Fields& fields) {
  uint16_t misc = fields.u16("misc");
  if (!fields.has("mode")) return misc;
  auto mode = mode_named(fields.text("mode"));
  return misc | mode.value_or(0);
}

std::optional<uint32_t> record_type_named(std::string_view name) {
  constexpr uint32_t kTypesWithNames = 128;
  for (uint32_t type = 1; type < kTypesWithNames; ++type)
    if (abi::record_type_name(type) == name) return type;
  return std::nullopt;
}

Result<> assemble_record(std::string_view name, std::string_view text,
                         std::span<const EventDesc> events, ByteBuilder& out) {
  auto type = record_type_named(name);
  if (!type) return fail(ErrorCode::kCorrupt, "no record or directive {}", name);
  Fields fields = TRY(Fields::parse(text));
  Line line{fields, events, out, nullptr, {}};
  uint64_t index = fields.u64("event");
  if (index < events.size())
    line.event = &events[index];
  else if (fields.has("event"))
    return fail(ErrorCode::kCorrupt, "event={}: only {} are described", index, events.size());

  Result<bool> fits = true;
  if (*type < abi::kRecordUserStart) {
    line.frame.type = *type;
    if (*type != abi::kRecordSample) {
      line.frame.misc = misc_of(fields);
      line.frame.id = trailing_id_of(fields, line.event);
    }
    if (line.event != nullptr) line.frame.attr = &line.event->attr;
    fits = put_kernel_record(*type, line);
  } else {
    fits = put_user_record(*type, line);
  }
  if (!TRY(fits)) return fail(ErrorCode::kCorrupt, "{} is longer than a record can be", name);
  return fields.finish();
}

}  // namespace sonde
