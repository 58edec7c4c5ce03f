// Packets of an Intel Processor Trace, as the Intel SDM (volume 3, "Intel Processor Trace")
// describes them: where each one ends and what it says. Nothing is followed here: that takes the
// program's code (flow_decoder.h).
//
//   for (size_t at = 0; at < trace.size(); at += packet.size)
//     if (!read_packet(trace.subspan(at), packet)) ...   // not a packet: go on at the next PSB
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "base/sink.h"

namespace sonde::pt {

enum class PacketType : uint8_t {
  kPad,
  kTnt,
  kTip,
  kTipPge,
  kTipPgd,
  kFup,
  kPip,
  kModeExec,
  kModeTsx,
  kTraceStop,
  kCbr,
  kTsc,
  kMtc,
  kTma,
  kCyc,
  kVmcs,
  kOvf,
  kPsb,
  kPsbEnd,
  kMnt,
  kPtWrite,
  kExStop,
  kMwait,
  kPwre,
  kPwrx,
  kCfe,
  kEvd,
  kBbp,
  kBip,
  kBep,
};

struct Packet {
  PacketType type = PacketType::kPad;
  uint8_t size = 1;  // bytes
  /// TNT: bits; TIP, FUP …: bytes of the address, 0: none; PTWRITE: bytes; CFE, EVD, BBP, BIP: type
  uint8_t count = 0;
  bool flag = false;     // PIP: non-root; PTWRITE, EXSTOP, CFE, BEP: a FUP says where; BBP: 4 bytes
  uint64_t payload = 0;  // as in the packet; TNT: the first branch is the highest bit
  uint64_t payload2 = 0;  // TMA: FC; MWAIT: extensions
};

/// Reads the packet at the start of `bytes`. False if there is none, or only a part of one.
bool read_packet(Bytes bytes, Packet& packet);

/// Between BBP and BEP are blocks of items (BIP), which are told from TNT packets by where they
/// are.
class ItemBlock {
 public:
  /// The same as above, also of blocks; to be asked for one packet after the other.
  bool read_packet(Bytes bytes, Packet& packet);
  /// Whether the latest packet began a block, or was inside of one.
  [[nodiscard]] bool is_inside() const { return item_size_ > 0; }

 private:
  size_t item_size_ = 0;  // bytes of an item's value; 0: not in a block
};

/// The position of the next PSB at or after `from`, where decoding can begin; bytes.size() if there
/// is none.
size_t find_psb(Bytes bytes, size_t from);

/// "TIP.PGE 0xffffb960d302", as perf prints it.
void append_text(const Packet& packet, std::string& out);

/// "00000010:  99 01     MODE.Exec IF:0 64", a line for the packet at `at`, whose offset is shown
/// as `offset`, and for the padding behind it. Returns their size in bytes; 1 for what is not a
/// packet.
size_t append_packet_line(Bytes bytes, size_t at, uint64_t offset, ItemBlock& block,
                          std::string& line);

/// All packets, a line each, with their offsets and bytes, as in perf's dumps.
void put_packets(Bytes bytes, Sink& out);

}  // namespace sonde::pt
