#include "stepping/pt_stream.h"

#ifdef __x86_64__

#include <intel-pt.h>

#include <array>
#include <optional>
#include <utility>

#include "base/check.h"

namespace sonde {
namespace {

constexpr uint8_t kShortTntBits = 6, kLongTntBits = 47;
constexpr uint64_t kTscMask = (uint64_t{1} << 56) - 1;

struct FreeEncoder {
  void operator()(pt_encoder* encoder) const { pt_free_encoder(encoder); }
};

}  // namespace

struct PtStream::State {
  explicit State(size_t sync_bytes) : sync_interval(sync_bytes) {
    pt_config config{};
    config.size = sizeof config;
    config.begin = room.data();
    config.end = room.data() + room.size();
    encoder.reset(pt_alloc_encoder(&config));
    CHECK(encoder != nullptr);
  }

  void put(const pt_packet& packet) {
    int written = pt_enc_next(encoder.get(), &packet);
    if (written == -pte_eos) {
      empty_room();
      written = pt_enc_next(encoder.get(), &packet);
    }
    CHECK(written > 0);
    in_room += static_cast<size_t>(written);
    since_sync += static_cast<size_t>(written);
  }
  void put(pt_packet_type type) {
    pt_packet packet{};
    packet.type = type;
    put(packet);
  }
  void put_ip(pt_packet_type type, uint64_t ip) {
    pt_packet packet{};
    packet.type = type;
    packet.payload.ip = compressed(ip);
    last_ip = ip;
    put(packet);
  }
  void put_without_ip(pt_packet_type type) {
    pt_packet packet{};
    packet.type = type;
    packet.payload.ip.ipc = pt_ipc_suppressed;
    put(packet);
  }
  void put_time(uint64_t time_ns) {
    pt_packet packet{};
    packet.type = ppt_tsc;
    packet.payload.tsc.tsc = time_ns & kTscMask;
    put(packet);
  }
  void put_mode() {
    pt_packet packet{};
    packet.type = ppt_mode;
    packet.payload.mode.leaf = pt_mol_exec;
    packet.payload.mode.bits.exec = pt_set_exec_mode(ptem_64bit);
    put(packet);
  }

  /// Only the bits that differ from the address before; after a PSB, everything.
  [[nodiscard]] pt_packet_ip compressed(uint64_t ip) const {
    if (!last_ip) return {pt_ipc_sext_48, ip & ((uint64_t{1} << 48) - 1)};
    uint64_t changed = ip ^ *last_ip;
    if (changed >> 16 == 0) return {pt_ipc_update_16, ip & 0xffff};
    if (changed >> 32 == 0) return {pt_ipc_update_32, ip & 0xffffffff};
    return {pt_ipc_sext_48, ip & ((uint64_t{1} << 48) - 1)};
  }

  void flush_bits() {
    if (bit_count == 0) return;
    pt_packet packet{};
    packet.type = bit_count <= kShortTntBits ? ppt_tnt_8 : ppt_tnt_64;
    packet.payload.tnt.bit_size = bit_count;
    packet.payload.tnt.payload = bits;
    put(packet);
    bits = 0;
    bit_count = 0;
  }

  void begin_sync(uint64_t time_ns) {
    flush_bits();
    put(ppt_psb);
    since_sync = 0;
    last_ip.reset();
    put_time(time_ns);
  }

  void empty_room() {
    const auto* from = reinterpret_cast<const std::byte*>(room.data());
    bytes.insert(bytes.end(), from, from + in_room);
    in_room = 0;
    CHECK(pt_enc_sync_set(encoder.get(), 0) == 0);
  }

  size_t sync_interval;
  std::array<uint8_t, 4096> room{};  // where the encoder writes
  size_t in_room = 0;
  std::unique_ptr<pt_encoder, FreeEncoder> encoder;
  std::vector<std::byte> bytes;
  size_t since_sync = SIZE_MAX / 2;  // bytes; at the beginning a PSB group is due
  std::optional<uint64_t> last_ip;   // of the last packet that has one, since the PSB
  uint64_t bits = 0;                 // of conditional branches, the oldest one highest
  uint8_t bit_count = 0;
  bool enabled = false;
};

PtStream::PtStream(size_t sync_bytes) : state_(std::make_unique<State>(sync_bytes)) {}
PtStream::PtStream(PtStream&&) noexcept = default;
PtStream& PtStream::operator=(PtStream&&) noexcept = default;
PtStream::~PtStream() = default;

void PtStream::enable(uint64_t ip, uint64_t time_ns) {
  if (wants_sync()) {
    state_->begin_sync(time_ns);
    state_->put(ppt_psbend);
    state_->put_mode();
  } else {
    state_->put_time(time_ns);
  }
  state_->put_ip(ppt_tip_pge, ip);
  state_->enabled = true;
}

void PtStream::conditional(bool taken) {
  state_->bits = state_->bits << 1 | uint64_t{taken};
  if (++state_->bit_count == kLongTntBits) state_->flush_bits();
}

void PtStream::indirect(uint64_t target) {
  state_->flush_bits();
  state_->put_ip(ppt_tip, target);
}

void PtStream::leave() {
  state_->flush_bits();
  state_->put_without_ip(ppt_tip_pgd);
  state_->enabled = false;
}

void PtStream::interrupt(uint64_t ip) {
  state_->flush_bits();
  state_->put_ip(ppt_fup, ip);
  state_->put_without_ip(ppt_tip_pgd);
  state_->enabled = false;
}

void PtStream::set_time(uint64_t time_ns) {
  state_->flush_bits();
  state_->put_time(time_ns);
}

bool PtStream::wants_sync() const {
  return state_->since_sync >= state_->sync_interval;
}

void PtStream::sync(uint64_t ip, uint64_t time_ns) {
  state_->begin_sync(time_ns);
  state_->put_mode();
  state_->put_ip(ppt_fup, ip);
  state_->put(ppt_psbend);
}

size_t PtStream::size() const {
  return state_->bytes.size() + state_->in_room;
}

bool PtStream::enabled() const {
  return state_->enabled;
}

std::vector<std::byte> PtStream::take() {
  state_->flush_bits();
  state_->empty_room();
  std::vector<std::byte> taken = std::exchange(state_->bytes, {});
  taken.resize((taken.size() + 7) / 8 * 8);  // PAD packets are zeros
  return taken;
}

}  // namespace sonde

#endif
