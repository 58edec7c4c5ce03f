#include "stepping/pt_stream.h"

#ifdef __x86_64__

#include <gtest/gtest.h>
#include <intel-pt.h>

#include <string>

namespace sonde {
namespace {

/// The packets as libipt's decoder reads them: the second opinion on what the writer wrote.
std::string packets_of(std::vector<std::byte> bytes) {
  pt_config config{};
  config.size = sizeof config;
  config.begin = reinterpret_cast<uint8_t*>(bytes.data());
  config.end = config.begin + bytes.size();
  pt_packet_decoder* decoder = pt_pkt_alloc_decoder(&config);
  std::string text;
  int found = bytes.empty() ? -pte_eos : pt_pkt_sync_set(decoder, 0);
  uint64_t last_ip = 0;
  while (found >= 0) {
    pt_packet packet{};
    found = pt_pkt_next(decoder, &packet, sizeof packet);
    if (found < 0) break;
    auto with_ip = [&](std::string_view name) {
      const pt_packet_ip& ip = packet.payload.ip;
      if (ip.ipc == pt_ipc_suppressed) return text += fmt::format("{} ", name);
      uint64_t known = ip.ipc == pt_ipc_update_16   ? ~uint64_t{0xffff}
                       : ip.ipc == pt_ipc_update_32 ? ~uint64_t{0xffffffff}
                                                    : 0;
      last_ip = (last_ip & known) | ip.ip;
      return text += fmt::format("{}:{:x} ", name, last_ip);
    };
    switch (packet.type) {
      case ppt_pad:
        break;
      case ppt_psb:
        last_ip = 0;
        text += "psb ";
        break;
      case ppt_psbend:
        text += "psbend ";
        break;
      case ppt_tsc:
        text += fmt::format("tsc:{} ", uint64_t{packet.payload.tsc.tsc});
        break;
      case ppt_mode:
        text += "mode ";
        break;
      case ppt_tnt_8:
      case ppt_tnt_64:
        text += "tnt:";
        for (int bit = packet.payload.tnt.bit_size - 1; bit >= 0; --bit)
          text += (packet.payload.tnt.payload >> bit & 1) != 0 ? 'T' : 'n';
        text += ' ';
        break;
      case ppt_tip:
        with_ip("tip");
        break;
      case ppt_tip_pge:
        with_ip("pge");
        break;
      case ppt_tip_pgd:
        with_ip("pgd");
        break;
      case ppt_fup:
        with_ip("fup");
        break;
      default:
        text += "other ";
    }
  }
  pt_pkt_free_decoder(decoder);
  if (found != -pte_eos) text += pt_errstr(pt_errcode(found));
  return text;
}

TEST(PtStream, BeginsWithASyncGroup) {
  PtStream stream;
  stream.enable(0x401000, 17);
  EXPECT_TRUE(stream.enabled());
  EXPECT_EQ(packets_of(stream.take()), "psb tsc:17 psbend mode pge:401000 ");
}

TEST(PtStream, GathersBranchesUntilAPacketNeedsThem) {
  PtStream stream;
  stream.enable(0x401000, 1);
  (void)stream.take();
  for (bool taken : {true, false, true}) stream.conditional(taken);
  stream.indirect(0x401020);
  for (int i = 0; i < 50; ++i) stream.conditional(i == 0);
  stream.leave();
  EXPECT_FALSE(stream.enabled());
  EXPECT_EQ(packets_of(stream.take()),
            "tnt:TnT tip:1020 tnt:T" + std::string(46, 'n') + " tnt:nnn pgd ");
}

TEST(PtStream, CompressesAddressesByWhatThePacketBeforeHad) {
  PtStream stream;
  stream.enable(0x7f00'0000'1000, 1);
  stream.indirect(0x7f00'0000'2000);
  stream.indirect(0x7f00'1234'2000);
  stream.indirect(0x5500'1234'2000);
  EXPECT_EQ(packets_of(stream.take()),
            "psb tsc:1 psbend mode pge:7f0000001000 tip:7f0000002000 tip:7f0012342000 "
            "tip:550012342000 ");
}

TEST(PtStream, AnInterruptionNamesTheInstructionThatWasNotExecuted) {
  PtStream stream;
  stream.enable(0x1000, 1);
  stream.conditional(true);
  stream.interrupt(0x1010);
  stream.enable(0x2000, 5);
  EXPECT_EQ(packets_of(stream.take()),
            "psb tsc:1 psbend mode pge:1000 tnt:T fup:1010 pgd tsc:5 pge:2000 ");
}

TEST(PtStream, SyncGroupsComeRegularlyAndStartAnew) {
  PtStream stream(64);
  stream.enable(0x401000, 1);
  while (!stream.wants_sync()) stream.indirect(0x402000);
  (void)stream.take();
  stream.conditional(true);
  stream.sync(0x402000, 9);
  EXPECT_FALSE(stream.wants_sync());
  stream.indirect(0x402004);
  EXPECT_EQ(packets_of(stream.take()), "tnt:T psb tsc:9 mode fup:402000 psbend tip:402004 ");
}

TEST(PtStream, PiecesAreWholeWords) {
  PtStream stream;
  for (uint64_t i = 0; i < 3000; ++i) {  // more than the encoder's buffer
    stream.enable(0x401000 + i, i);
    stream.leave();
    EXPECT_EQ(stream.take().size() % 8, 0u);
  }
}

}  // namespace
}  // namespace sonde

#endif
