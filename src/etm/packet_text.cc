#include "etm/packet_text.h"

#include <bitset>
#include <memory>
#include <vector>

#include "etm/opencsd_tree.h"

namespace sonde::etm {
namespace {

struct PacketPrinter {
  const OpencsdLibrary& library;
  Sink& out;
  const TraceUnit& unit;

  static ocsd_datapath_resp_t take(const void* self, ocsd_datapath_op_t operation,
                                   ocsd_trc_index_t position, const void* packet) {
    const auto& printer = *static_cast<const PacketPrinter*>(self);
    if (operation != OCSD_OP_DATA || packet == nullptr) return OCSD_RESP_CONT;
    char text[1024] = {};
    auto protocol =
        printer.unit.kind == TraceUnit::Kind::kEte ? OCSD_PROTOCOL_ETE : OCSD_PROTOCOL_ETMV4I;
    if (printer.library.pkt_str(protocol, packet, text, sizeof text) == OCSD_OK)
      printer.out.print("\tIdx:{}; ID:{:x};\t{}\n", position, printer.unit.trace_id,
                        static_cast<const char*>(text));
    return OCSD_RESP_CONT;
  }
};

void put_word(std::string_view title, uint64_t word, Sink& out) {
  out.print("\t{:<31}{:x}\n", title, word);
}

}  // namespace

std::string_view protocol_name(const TraceUnit& unit) {
  return unit.kind == TraceUnit::Kind::kEte ? OCSD_BUILTIN_DCD_ETE : OCSD_BUILTIN_DCD_ETMV4I;
}

Result<> put_packets(std::span<const TraceUnit> units, Format format, Bytes trace, Sink& out) {
  OpencsdTree tree = TRY(OpencsdTree::make(format));
  std::vector<std::unique_ptr<PacketPrinter>> printers;
  std::bitset<128> known;
  for (const TraceUnit& unit : units) {
    if (known.test(unit.trace_id % known.size())) continue;
    known.set(unit.trace_id % known.size());
    TRY(tree.add(unit, OCSD_CREATE_FLG_PACKET_PROC));
    printers.push_back(std::make_unique<PacketPrinter>(PacketPrinter{tree.library(), out, unit}));
    ocsd_err_t error = tree.library().dt_attach_packet_callback(
        tree.handle(), unit.trace_id, OCSD_C_API_CB_PKT_SINK,
        reinterpret_cast<void*>(PacketPrinter::take), printers.back().get());
    if (error != OCSD_OK) return fail(ErrorCode::kFailed, "OpenCSD took no reader of packets");
    if (format == Format::kRaw) break;
  }
  if (!tree.decode(trace)) out.write("\t(OpenCSD gave up: the rest is damaged)\n");
  return {};
}

void put_trace_units(std::span<const uint64_t> words, Sink& out) {
  static constexpr std::string_view kGlobal[] = {"Header version", "PMU type/num cpus", "Snapshot"};
  static constexpr std::string_view kRegisters[] = {
      "TRCCONFIGR", "TRCTRACEIDR", "TRCIDR0", "TRCIDR1", "TRCIDR2", "TRCIDR8", "TRCAUTHSTATUS"};
  auto units = parse_trace_units(words);
  if (!units) return;
  for (size_t i = 0; i < std::size(kGlobal); ++i) put_word(kGlobal[i], words[i], out);
  bool has_counts = words[0] != 0;
  size_t at = std::size(kGlobal);
  for (const TraceUnit& unit : units->units) {
    put_word("Magic number", words[at++], out);
    out.print("\t{:<31}{}\n", "CPU", words[at++]);
    size_t count = std::size(kRegisters);
    if (has_counts) {
      count = words[at++];
      put_word("NR_TRC_PARAMS", count, out);
    }
    bool is_ete = unit.kind == TraceUnit::Kind::kEte;
    for (size_t i = 0; i < count; ++i) {
      std::string_view title = i < std::size(kRegisters)       ? kRegisters[i]
                               : is_ete && i == 7              ? "TRCDEVARCH"
                               : i == (is_ete ? size_t{8} : 7) ? "TS_SOURCE"
                                                               : "unknown";
      put_word(title, words[at++], out);
    }
  }
}

}  // namespace sonde::etm
