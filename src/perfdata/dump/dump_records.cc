#include <sys/mman.h>

#include "base/text.h"
#include "etm/packet_text.h"
#include "perfdata/dump/dump.h"
#include "perfdata/records/auxtrace_kinds.h"
#include "perfdata/records/sideband.h"
#include "perfdata/records/user_records.h"
#include "perfdata/records/words.h"

namespace sonde::dump {
namespace {

/// Process and thread IDs are signed: -1 is the kernel, 0 the idle task.
int32_t signed_id(uint32_t id) {
  return static_cast<int32_t>(id);
}

void put(const MmapRecord& m, Sink& out) {
  out.print(" {}/{}: [{}({}) @ {}", signed_id(m.pid), signed_id(m.tid), prefixed_hex(m.start.value),
            prefixed_hex(m.length), prefixed_hex(m.offset.value));
  if (!m.is_v2) {
    out.print("]: {} {}\n", (m.misc & abi::kMiscMmapData) != 0 ? 'r' : 'x', m.path);
    return;
  }
  if ((m.misc & abi::kMiscMmapBuildId) != 0)
    out.print(" <{}>", to_hex(as_text(m.build_id)));
  else
    out.print(" {:02x}:{:02x} {} {}", m.major, m.minor, m.inode, m.inode_generation);
  auto may = [&](uint32_t bit, char letter) { return (m.protection & bit) != 0 ? letter : '-'; };
  out.print("]: {}{}{}{} {}\n", may(PROT_READ, 'r'), may(PROT_WRITE, 'w'), may(PROT_EXEC, 'x'),
            (m.flags & MAP_SHARED) != 0 ? 's' : 'p', m.path);
}

void put(const CommRecord& c, Sink& out) {
  out.print("{}: {}:{}/{}\n", c.exec ? " exec" : "", c.comm, signed_id(c.pid), signed_id(c.tid));
}

void put(const TaskRecord& t, Sink& out) {
  out.print("({}:{}):({}:{})\n", signed_id(t.pid), signed_id(t.tid), signed_id(t.ppid),
            signed_id(t.ptid));
}

void put(const LostRecord& l, Sink& out) {
  out.print(": id:{}: lost:{}\n", l.id, l.lost);
}

void put(const SwitchRecord& s, Sink& out) {
  std::string_view how = !s.out ? "IN         " : !s.preempt ? "OUT        " : "OUT preempt";
  if (!s.cpu_wide) {
    out.print(" {}\n", how);
    return;
  }
  out.print(" {}  {} pid/tid: {:5}/{:<5}\n", how, s.out ? "next" : "prev", signed_id(s.other_pid),
            signed_id(s.other_tid));
}

void put(const NamespacesRecord& n, Sink& out) {
  constexpr std::string_view kNames[] = {"net", "uts", "ipc", "pid", "user", "mnt", "cgroup"};
  out.print(" {}/{} - nr_namespaces: {}\n\t\t[", signed_id(n.pid), signed_id(n.tid), n.count);
  for (size_t i = 0; i < n.count; ++i) {
    if (i > 0 && i % 4 == 0) out.write("\n\t\t ");
    out.print("{}/{}: {}/{}", i, i < std::size(kNames) ? kNames[i] : "unknown", n.links[i * 2],
              prefixed_hex(n.links[i * 2 + 1]));
    out.write(i + 1 < n.count ? ", " : "]\n");
  }
}

void put(const KsymbolRecord& k, Sink& out) {
  out.print(" addr {:x} len {} type {} flags 0x{:x} name {}\n", k.address.value, k.length,
            k.ksym_type, k.flags, k.name);
}

void put(const BpfEventRecord& b, Sink& out) {
  out.print(" type {}, flags {}, id {}\n", b.event_type, b.flags, b.id);
}

void put(const CgroupRecord& c, Sink& out) {
  out.print(" cgroup: {} {}\n", c.id, c.path);
}

void put_code(std::string_view label, Bytes code, Sink& out) {
  constexpr size_t kPerLine = 16;
  for (size_t i = 0; i < code.size(); ++i) {
    if (i % kPerLine == 0 && i != 0) out.write("\n");
    if (i % kPerLine == 0) out.print("{:>12}:", i == 0 ? label : "");
    out.print(" {:02x}", std::to_integer<unsigned>(code[i]));
  }
  if (!code.empty()) out.put('\n');
}

void put(const TextPokeRecord& t, Sink& out) {
  out.print(" {:x}  old len {} new len {}\n", t.address.value, t.old_bytes.size(),
            t.new_bytes.size());
  put_code("old bytes", t.old_bytes, out);
  put_code("new bytes", t.new_bytes, out);
}

void put(const AuxRecord& a, Sink& out) {
  constexpr uint64_t kTruncated = 1, kOverwrite = 2, kPartial = 4;
  out.print(" offset: {} size: {} flags: {} [{}{}{}]\n", prefixed_hex(a.offset),
            prefixed_hex(a.size), prefixed_hex(a.flags), (a.flags & kTruncated) != 0 ? "T" : "",
            (a.flags & kOverwrite) != 0 ? "O" : "", (a.flags & kPartial) != 0 ? "P" : "");
}

void put(const ItraceStartRecord& i, Sink& out) {
  out.print(" pid: {} tid: {}\n", i.pid, i.tid);
}

void put(const AuxOutputHwIdRecord& a, Sink& out) {
  out.print(" hw_id: {}\n", prefixed_hex(a.hw_id));
}

void put_read(const ReadRecord& r, const EventDesc& event, Sink& out) {
  ReadValue value = r.read.at(0);
  uint64_t format = event.attr.read_format;
  out.print(": {} {} {} {}\n", signed_id(r.pid), signed_id(r.tid), event.name, value.value);
  if ((format & abi::kFormatTotalTimeEnabled) != 0)
    out.print("... time enabled : {}\n", r.read.time_enabled);
  if ((format & abi::kFormatTotalTimeRunning) != 0)
    out.print("... time running : {}\n", r.read.time_running);
  if ((format & abi::kFormatId) != 0) out.print("... id           : {}\n", value.id);
  if ((format & abi::kFormatLost) != 0) out.print("... lost         : {}\n", value.lost);
  out.write(": unhandled!\n");
}

template <typename Record>
bool put_decoded(const RecordView& record, const EventDesc& event, Sink& out) {
  auto decoded = decode_as<Record>(record, event.layout);
  if (!decoded) return false;
  put(*decoded, out);
  return true;
}

bool put_lost_samples(const RecordView& record, const EventDesc& event, Sink& out) {
  auto lost = decode_as<LostSamplesRecord>(record, event.layout);
  if (!lost) return false;
  out.print(": id:{}: lost samples :{}\n", decode_trailing_id(record, event.layout).id, lost->lost);
  return true;
}

// ---- the recorder's own records ----

std::string cpu_ranges(const std::vector<int>& cpus) {
  std::string text;
  for (size_t i = 0; i < cpus.size();) {
    size_t last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += last == i ? fmt::format("{}", cpus[i]) : fmt::format("{}-{}", cpus[i], cpus[last]);
    i = last + 1;
  }
  return text;
}

void put(const IdIndexRecord& index, Sink& out) {
  out.print(" nr: {}\n", index.size());
  for (size_t i = 0; i < index.size(); ++i) {
    IdIndexRecord::Entry e = index.entry(i);
    out.print(" ... id: {}  idx: {}  cpu: {}  tid: {}", e.id, e.index, static_cast<int64_t>(e.cpu),
              static_cast<int64_t>(e.tid));
    if (auto guest = index.guest(i))
      out.print("  machine_pid: {}  vcpu: {}", guest->machine_pid,
                static_cast<int64_t>(guest->vcpu));
    out.put('\n');
  }
}

void put(const ThreadMapRecord& map, Sink& out) {
  out.print(" nr: {} thread{}", map.threads.size(), map.threads.size() > 1 ? "s: " : ": ");
  for (size_t i = 0; i < map.threads.size(); ++i)
    out.print("{}{}", i > 0 ? ", " : "", static_cast<int32_t>(map.threads[i].tid));
  out.put('\n');
}

void put(const CpuMapRecord& map, Sink& out) {
  out.print(": {}\n", cpu_ranges(map.cpus));
}

void put(const StatConfigRecord& config, Sink& out) {
  enum : uint64_t { kAggregation, kInterval, kScale };
  uint64_t aggregation = 0, interval = 0, scale = 0;
  for (size_t i = 0; i + 1 < config.terms.size(); i += 2) {
    uint64_t value = config.terms[i + 1];
    if (config.terms[i] == kAggregation) aggregation = value;
    if (config.terms[i] == kInterval) interval = value;
    if (config.terms[i] == kScale) scale = value;
  }
  out.print("\n... aggr_mode {}\n... scale     {}\n... interval  {}\n", aggregation, scale,
            interval);
}

void put(const StatRecord& s, Sink& out) {
  out.print("\n... id {}, cpu {}, thread {}\n... value {}, enabled {}, running {}\n", s.id,
            static_cast<int32_t>(s.cpu), s.thread, s.value, s.enabled, s.running);
}

void put(const StatRoundRecord& r, Sink& out) {
  out.print("\n... time {}, type {}\n", r.time, r.type == 1 ? "FINAL" : "INTERVAL");
}

void put(const EventUpdateRecord& u, Sink& out) {
  out.print("\n... id:    {}\n", u.id);
  switch (u.kind) {
    case EventUpdateKind::kUnit:
      out.print("... unit:  {}\n", u.text);
      break;
    case EventUpdateKind::kScale:
      out.print("... scale: {:.6f}\n", u.scale);
      break;
    case EventUpdateKind::kName:
      out.print("... name:  {}\n", u.text);
      break;
    case EventUpdateKind::kCpus:
      out.print("... {}\n", cpu_ranges(u.cpus.cpus));
      break;
    case EventUpdateKind::kInterpretedFiles:
      out.print("... interpreted functions: {} bytes\n", u.files.size());
      break;
  }
}

void put(const TimeConvRecord& t, Sink& out) {
  out.print("\n... Time Shift      {}\n... Time Muliplier  {}\n... Time Zero       {}\n", t.shift,
            t.multiplier, t.zero);
  if (t.has_cycles)
    out.print(
        "... Time Cycles     {}\n... Time Mask       {}\n... Cap Time Zero   {}\n"
        "... Cap Time Short  {}\n",
        t.cycles, prefixed_hex(t.mask), t.cap_user_time_zero, t.cap_user_time_short);
}

void put(const AuxtraceRecord& a, Sink& out) {
  out.print(" size: {}  offset: {}  ref: {}  idx: {}  tid: {}  cpu: {}\n", prefixed_hex(a.size),
            prefixed_hex(a.offset), prefixed_hex(a.reference), a.index, signed_id(a.tid),
            signed_id(a.cpu));
}

void put_intel_bts_setup(const WordView& words, Sink& out) {
  static constexpr const char* kTitles[] = {"PMU Type      ", "Time Shift    ", "Time Muliplier",
                                            "Time Zero     ", "Cap Time Zero ", "Snapshot mode "};
  for (size_t i = 0; i < std::min(words.size(), std::size(kTitles)); ++i)
    out.print("  {}     {}\n", kTitles[i], words[i]);
}

void put_arm_spe_setup(const WordView& words, Sink& out) {
  if (words.size() > 0) out.print("  PMU Type           {}\n", words[0]);
}

/// How the processor was set up to trace: a number for each line, then the address filter.
void put_intel_pt_setup(const WordView& words, Sink& out) {
  struct Line {
    const char* title;
    bool is_hex;
  };
  static constexpr Line kLines[] = {
      {"PMU Type            ", false}, {"Time Shift          ", false},
      {"Time Muliplier      ", false}, {"Time Zero           ", false},
      {"Cap Time Zero       ", false}, {"TSC bit             ", true},
      {"NoRETComp bit       ", true},  {"Have sched_switch   ", false},
      {"Snapshot mode       ", false}, {"Per-cpu maps        ", false},
      {"MTC bit             ", true},  {"MTC freq bits       ", true},
      {"TSC:CTC numerator   ", false}, {"TSC:CTC denominator ", false},
      {"CYC bit             ", true},  {"Max non-turbo ratio ", false},
      {"Filter string len.  ", false}};
  constexpr size_t kFilter = std::size(kLines);
  for (size_t i = 0; i < std::min(words.size(), kFilter); ++i)
    out.print("  {}{}\n", kLines[i].title,
              kLines[i].is_hex ? prefixed_hex(words[i]) : fmt::to_string(words[i]));
  if (words.size() < kFilter) return;
  Bytes rest = words.without_first(kFilter).bytes();
  uint64_t length = words[kFilter - 1];
  std::string_view filter(reinterpret_cast<const char*>(rest.data()),
                          std::min<uint64_t>(rest.size(), length));
  out.print("  Filter string       {}\n", filter.substr(0, filter.find('\0')));
  // Behind the text and its NUL, since perf 5.17.
  size_t text_words = length == 0 ? 0 : std::min<uint64_t>(length, rest.size()) / 8 + 1;
  if (words.size() > kFilter + text_words)
    out.print("  Cap Event Trace     {}\n", words[kFilter + text_words]);
}

void put(const AuxtraceInfoRecord& a, Sink& out) {
  out.print(" type: {}\n", a.type);
  if (a.type == kAuxtraceIntelPt) put_intel_pt_setup(a.priv, out);
  if (a.type == kAuxtraceIntelBts) put_intel_bts_setup(a.priv, out);
  if (a.type == kAuxtraceArmSpe) put_arm_spe_setup(a.priv, out);
  if (a.type == kAuxtraceCoreSight) etm::put_trace_units(words_of(a.priv), out);
}

template <typename Record>
void put_user(const RecordView& record, Sink& out) {
  if (auto decoded = decode_user<Record>(record)) put(*decoded, out);
}

/// perf's commands share most handlers; these are for script only.
bool only_script_handles(uint32_t type) {
  switch (type) {
    case abi::kRecordThreadMap:
    case abi::kRecordCpuMap:
    case abi::kRecordStatConfig:
    case abi::kRecordStat:
    case abi::kRecordStatRound:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool put_kernel_record(const RecordView& record, const EventDesc& event, DumpFor command,
                       Sink& out) {
  switch (record.type) {
    case abi::kRecordThrottle:
    case abi::kRecordUnthrottle:
      return command == DumpFor::kScript;
    case abi::kRecordMmap:
    case abi::kRecordMmap2:
      return put_decoded<MmapRecord>(record, event, out);
    case abi::kRecordComm:
      return put_decoded<CommRecord>(record, event, out);
    case abi::kRecordFork:
    case abi::kRecordExit:
      return put_decoded<TaskRecord>(record, event, out);
    case abi::kRecordLost:
      return put_decoded<LostRecord>(record, event, out);
    case abi::kRecordLostSamples:
      return put_lost_samples(record, event, out);
    case abi::kRecordSwitch:
    case abi::kRecordSwitchCpuWide:
      return put_decoded<SwitchRecord>(record, event, out);
    case abi::kRecordNamespaces:
      return put_decoded<NamespacesRecord>(record, event, out);
    case abi::kRecordKsymbol:
      return put_decoded<KsymbolRecord>(record, event, out);
    case abi::kRecordBpfEvent:
      return put_decoded<BpfEventRecord>(record, event, out);
    case abi::kRecordCgroup:
      return put_decoded<CgroupRecord>(record, event, out);
    case abi::kRecordTextPoke:
      return put_decoded<TextPokeRecord>(record, event, out);
    case abi::kRecordAux:
      return put_decoded<AuxRecord>(record, event, out);
    case abi::kRecordItraceStart:
      return put_decoded<ItraceStartRecord>(record, event, out);
    case abi::kRecordAuxOutputHwId:
      return put_decoded<AuxOutputHwIdRecord>(record, event, out);
    case abi::kRecordRead: {
      auto read = decode_as<ReadRecord>(record, event.layout);
      if (!read || read->read.count == 0) return false;
      put_read(*read, event, out);
      return true;
    }
    default:
      return false;
  }
}

void put_user_record(const RecordView& record, DumpFor command, Sink& out) {
  switch (record.type) {
    case abi::kRecordHeaderAttr:
    case abi::kRecordHeaderEventType:
    case abi::kRecordHeaderTracingData:
    case abi::kRecordHeaderFeature:
    case abi::kRecordHeaderBuildId:
      return;  // perf prints nothing, not even the end of the line
    case abi::kRecordFinishedRound:
      return out.put('\n');
    case abi::kRecordIdIndex:
      return put_user<IdIndexRecord>(record, out);
    case abi::kRecordThreadMap:
      put_user<ThreadMapRecord>(record, out);
      break;
    case abi::kRecordCpuMap:
      put_user<CpuMapRecord>(record, out);
      break;
    case abi::kRecordStatConfig:
      put_user<StatConfigRecord>(record, out);
      break;
    case abi::kRecordStat:
      put_user<StatRecord>(record, out);
      break;
    case abi::kRecordStatRound:
      put_user<StatRoundRecord>(record, out);
      break;
    case abi::kRecordEventUpdate:
      return put_user<EventUpdateRecord>(record, out);
    case abi::kRecordTimeConv:
      put_user<TimeConvRecord>(record, out);
      break;
    case abi::kRecordAuxtrace:
      return put_user<AuxtraceRecord>(record, out);
    case abi::kRecordAuxtraceInfo:
      return put_user<AuxtraceInfoRecord>(record, out);
    default:
      break;
  }
  if (command == DumpFor::kScript && only_script_handles(record.type)) return;
  out.write(": unhandled!\n");
}

}  // namespace sonde::dump
