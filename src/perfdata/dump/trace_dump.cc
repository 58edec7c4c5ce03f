#include "perfdata/dump/trace_dump.h"

#include "etm/packet_text.h"
#include "perfdata/records/auxtrace_kinds.h"
#include "perfdata/records/sideband.h"
#include "perfdata/records/user_records.h"
#include "perfdata/records/words.h"
#include "pt/packet.h"
#include "spe/packet.h"

namespace sonde::dump {
namespace {

/// Records of Intel BTS (Intel SDM vol. 3, "Branch Trace Store"): from, to, and whether the branch
/// was predicted.
void put_bts(Bytes trace, Sink& out) {
  constexpr size_t kRecord = 24;
  constexpr uint64_t kPredicted = 0x10;
  for (size_t at = 0; at < trace.size(); at += kRecord) {
    Bytes record = trace.subspan(at, std::min(kRecord, trace.size() - at));
    std::string line = fmt::format(".  {:08x}: ", at);
    for (std::byte byte : record)
      fmt::format_to(std::back_inserter(line), " {:02x}", std::to_integer<unsigned>(byte));
    line.append(3 * (kRecord - record.size()), ' ');
    if (record.size() < kRecord) {
      out.print("{} Bad record!\n", line);
      break;
    }
    auto word = [&](size_t i) { return load<uint64_t>(&record[8 * i], ByteOrder::kLittle); };
    out.print("{} {:x} -> {:x} {}\n", line, word(0), word(1),
              (word(2) & kPredicted) != 0 ? "pred" : "miss");
  }
}

void put_pt(Bytes trace, Sink& out) {
  out.print(". ... Intel Processor Trace data: size {} bytes\n", trace.size());
  pt::put_packets(trace, out);
}

}  // namespace

void TraceDump::take_info(const RecordView& record) {
  auto info = decode_user<AuxtraceInfoRecord>(record);
  if (!info) return;
  type_ = info->type;
  if (type_ == kAuxtraceCoreSight) units_ = etm::parse_trace_units(words_of(info->priv));
}

void TraceDump::note(const RecordView& record, const SampleLayout& layout) {
  if (record.type == abi::kRecordAux) {
    constexpr uint64_t kFormat = 0xff00, kRaw = 0x0100;  // linux/perf_event.h: PERF_AUX_FLAG_…
    if (auto aux = decode_as<AuxRecord>(record, layout))
      format_ = (aux->flags & kFormat) == kRaw ? etm::Format::kRaw : etm::Format::kFrames;
  } else if (record.type == abi::kRecordAuxOutputHwId && units_) {
    constexpr uint64_t kTraceId = 0x7f;
    auto told = decode_as<AuxOutputHwIdRecord>(record, layout);
    uint32_t cpu = decode_trailing_id(record, layout).cpu;
    for (etm::TraceUnit& unit : units_->units)
      if (told && unit.cpu == cpu) unit.trace_id = static_cast<uint8_t>(told->hw_id & kTraceId);
  }
}

void TraceDump::put_etm(Bytes trace, Sink& out) const {
  std::string_view name = "ETM";
  if (units_ && !units_->units.empty()) name = etm::protocol_name(units_->units.front());
  out.print("\n. ... CoreSight {} Trace data: size {:#x} bytes\n", name, trace.size());
  auto done = !units_ ? std::unexpected(units_.error())
                      : etm::put_packets(units_->units, format_, trace, out);
  if (!done) out.print("\t({})\n", done.error().message);
}

void TraceDump::put(Bytes trace, Sink& out) const {
  switch (type_) {
    case kAuxtraceIntelPt:
      out.write(".\n");
      return put_pt(trace, out);
    case kAuxtraceIntelBts:
      out.print(".\n. ... Intel BTS data: size {} bytes\n", trace.size());
      return put_bts(trace, out);
    case kAuxtraceCoreSight:
      return put_etm(trace, out);
    case kAuxtraceArmSpe:
      out.print(".\n. ... ARM SPE data: size {:#x} bytes\n", trace.size());
      return spe::put_packets(trace, out);
    default:
      break;
  }
}

void TraceDump::put_of_sample(Bytes trace, Sink& out) const {
  if (trace.empty() || type_ != kAuxtraceIntelPt) return;  // the only kind that samples carry
  out.put('\n');
  put_pt(trace, out);
}

}  // namespace sonde::dump
