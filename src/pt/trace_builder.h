// Builds small Intel PT traces for tests, by libipt's encoder.
//
//   TraceBuilder trace;
//   trace.synchronize(0x1000);        // PSB, TSC, PSBEND
//   trace.enable(0x401000);
//   trace.branches("TTN");
//   trace.disable();
#pragma once

#if __has_include(<intel-pt.h>)

#include <intel-pt.h>

#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace sonde::pt {

class TraceBuilder {
 public:
  void synchronize(uint64_t tsc) {
    put(ppt_psb);
    packet_.payload.mode.leaf = pt_mol_exec;
    packet_.payload.mode.bits.exec = pt_set_exec_mode(ptem_64bit);
    put(ppt_mode);
    time(tsc);
    put(ppt_psbend);
  }
  void time(uint64_t tsc) {
    packet_.payload.tsc.tsc = tsc;
    put(ppt_tsc);
  }
  void enable(uint64_t ip) { address(ppt_tip_pge, ip); }
  void disable() { address(ppt_tip_pgd, 0, pt_ipc_suppressed); }
  void disable_at(uint64_t ip, uint64_t to) {
    address(ppt_fup, ip);
    address(ppt_tip_pgd, to);
  }
  void target(uint64_t ip) { address(ppt_tip, ip); }
  /// T and N, up to six.
  void branches(std::string_view taken) {
    packet_.payload.tnt.bit_size = static_cast<uint8_t>(taken.size());
    packet_.payload.tnt.payload = 0;
    for (char c : taken)
      packet_.payload.tnt.payload = packet_.payload.tnt.payload << 1 | (c == 'T' ? 1u : 0u);
    put(taken.size() > 6 ? ppt_tnt_64 : ppt_tnt_8);
  }
  void happened_at(uint64_t ip) { address(ppt_fup, ip); }
  void transaction(bool begins, bool aborts) {
    packet_.payload.mode.leaf = pt_mol_tsx;
    packet_.payload.mode.bits.tsx.intx = begins;
    packet_.payload.mode.bits.tsx.abrt = aborts;
    put(ppt_mode);
  }
  void overflow() { put(ppt_ovf); }
  void pad() { put(ppt_pad); }
  void put(const pt_packet& packet) {
    packet_ = packet;
    put(packet.type);
  }
  void bytes(std::initializer_list<uint8_t> raw) {
    for (uint8_t byte : raw) data_.push_back(std::byte{byte});
  }

  [[nodiscard]] Bytes view() const { return data_; }

 private:
  void address(pt_packet_type type, uint64_t ip, pt_ip_compression form = pt_ipc_sext_48) {
    packet_.payload.ip.ip = ip;
    packet_.payload.ip.ipc = form;
    put(type);
  }
  void put(pt_packet_type type) {
    uint8_t room[64];
    pt_config config;
    pt_config_init(&config);
    config.begin = room;
    config.end = room + sizeof room;
    pt_encoder* encoder = pt_alloc_encoder(&config);
    packet_.type = type;
    int size = pt_enc_next(encoder, &packet_);
    pt_free_encoder(encoder);
    for (int i = 0; i < size; ++i) data_.push_back(std::byte{room[i]});
    packet_ = {};
  }

  pt_packet packet_{};
  std::vector<std::byte> data_;
};

}  // namespace sonde::pt

#endif
