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
};

struct Packet {
  PacketType type = PacketType::kPad;
  uint8_t size = 1;       // bytes
  uint8_t count = 0;      // TNT: bits; TIP, FUP …: bytes of the address, 0: none; PTWRITE: bytes
  bool flag = false;      // PIP: non-root; PTWRITE, EXSTOP: a FUP says where
  uint64_t payload = 0;   // as in the packet; TNT: the first branch is the highest bit
  uint64_t payload2 = 0;  // TMA: FC; MWAIT: extensions
};

/// Reads the packet at the start of `bytes`. False if there is none, or only a part of one.
bool read_packet(Bytes bytes, Packet& packet);

/// The position of the next PSB at or after `from`, where decoding can begin; bytes.size() if there
/// is none.
size_t find_psb(Bytes bytes, size_t from);

/// "TIP.PGE 0xffffb960d302", as perf prints it.
void append_text(const Packet& packet, std::string& out);

/// All packets, a line each, with their offsets and bytes, as in perf's dumps.
void put_packets(Bytes bytes, Sink& out);

}  // namespace sonde::pt
