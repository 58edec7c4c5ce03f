#include "pt/flow_decoder.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <tsl/robin_set.h>

#include "pt/cycle_packets.h"
#include "pt/instruction_table.h"
#include "pt/loop_guard.h"
#include "pt/packet.h"
#include "pt/trace_contents.h"
#include "pt/walker.h"

#ifdef SONDE_HAS_LIBIPT
#include <intel-pt.h>
#endif

namespace sonde::pt {

std::string_view describe(FlowError error) {
  switch (error) {
    case FlowError::kInternal:
      return "Internal error";
    case FlowError::kBadPacket:
      return "Bad packet";
    case FlowError::kNoData:
      return "No more data";
    case FlowError::kNoInstruction:
      return "Failed to get instruction";
    case FlowError::kMismatch:
      return "Trace doesn't match instruction";
    case FlowError::kOverflow:
      return "Overflow packet";
    case FlowError::kLost:
      return "Lost trace data";
    case FlowError::kLoop:
      return "Never-ending loop (refer perf config intel-pt.max-loops)";
  }
  return "Unknown error!";
}

bool consumes_trace(const Instruction& instruction) {
  switch (instruction.kind) {
    case InstructionKind::kOther:
    case InstructionKind::kPtWrite:
      return false;
    case InstructionKind::kCall:
    case InstructionKind::kJump: {
      // Direct ones are e8, e9 and eb, behind prefixes; the indirect ones are ff.
      constexpr uint8_t kCall = 0xe8, kJump = 0xe9, kShortJump = 0xeb, kIndirect = 0xff;
      for (uint8_t byte : std::span(instruction.bytes).first(instruction.size)) {
        if (byte == kCall || byte == kJump || byte == kShortJump) return false;
        if (byte == kIndirect) return true;
      }
      return false;
    }
    default:
      return true;
  }
}

void FlowObserver::ran(const Block& block, BlockSizes& sizes, uint64_t now) {
  Instruction one;
  one.ip = block.ip;
  one.in_transaction = block.last.in_transaction;
  one.is_64_bit = block.last.is_64_bit;
  if (block.count > 1) {
    for (uint8_t size : sizes.of(block).first(block.count - 1)) {
      one.size = size;
      instruction(one, block.began);
      one.ip += size;
    }
  }
  instruction(block.last, now);
}

#ifndef SONDE_HAS_LIBIPT

bool can_follow() {
  return false;
}

Result<> follow(Bytes trace, const TraceSetup& setup, CodeReader& code, FlowObserver& observer) {
  return follow_by_libipt(trace, setup, code, observer);
}

Result<> follow_by_libipt(Bytes, const TraceSetup&, CodeReader&, FlowObserver&) {
  return fail(ErrorCode::kUnsupported,
              "Intel PT is not decoded: this build has no libipt; use one for x86");
}

#else

namespace {

/// Files stay mapped up to this; libipt counts four bytes for each byte of code, of which it
/// touches those that ran.
constexpr uint64_t kMostMapped = uint64_t{16} << 30;

FlowError error_of(int status) {
  switch (pt_errcode(status)) {
    case pte_eos:
      return FlowError::kNoData;
    case pte_nomap:
    case pte_bad_insn:
      return FlowError::kNoInstruction;
    case pte_bad_opc:
    case pte_bad_packet:
      return FlowError::kBadPacket;
    case pte_overflow:
      return FlowError::kOverflow;
    case pte_bad_query:
    case pte_bad_context:
    case pte_bad_retcomp:
    case pte_bad_status_update:
    case pte_noip:
    case pte_ip_suppressed:
      return FlowError::kMismatch;
    default:
      return FlowError::kInternal;
  }
}

pt_cpu cpu_of(const TraceSetup& setup) {
  pt_cpu cpu{};
  cpu.vendor = pcv_intel;
  cpu.family = static_cast<uint16_t>(setup.family);
  cpu.model = static_cast<uint8_t>(setup.model);
  cpu.stepping = static_cast<uint8_t>(setup.stepping);
  return cpu;
}

/// Of a CPU that libipt doesn't know: none.
pt_errata errata_of(const TraceSetup& setup) {
  pt_errata errata{};
  pt_cpu cpu = cpu_of(setup);
  if (setup.family == 0 || pt_cpu_errata(&errata, &cpu) < 0) errata = {};
  return errata;
}

class Follower {
 public:
  Follower(Bytes trace, CodeReader& code, FlowObserver& observer)
      : trace_(trace),
        code_(code),
        observer_(observer),
        watches_packets_(observer.watches_packets()),
        instructions_(code),
        loops_(trace.size()) {}

  Result<> open(const TraceSetup& setup) {
    pt_config config;
    pt_config_init(&config);
    // libipt only reads.
    config.begin = reinterpret_cast<uint8_t*>(const_cast<std::byte*>(trace_.data()));
    config.end = config.begin + trace_.size();
    if (setup.family != 0) {
      config.cpu = cpu_of(setup);
      config.errata = errata_of(setup);
    }
    // CPUID has denominator and numerator in this order.
    config.cpuid_0x15_eax = setup.crystal_denominator;
    config.cpuid_0x15_ebx = setup.crystal_numerator;
    config.mtc_freq = setup.mtc_period;
    config.nom_freq = setup.non_turbo_ratio;
    // Blocks end where instructions branch, so that only the last one of a block does.
    config.flags.variant.block.end_on_call = 1;
    config.flags.variant.block.end_on_jump = 1;
    decoder_.reset(pt_blk_alloc_decoder(&config));
    files_.reset(pt_iscache_alloc(nullptr));
    if (!decoder_ || !files_)
      return fail(ErrorCode::kFailed, "libipt cannot make a decoder for this trace");
    pt_iscache_set_limit(files_.get(), kMostMapped);
    if (setup.counts_cycles) cycles_.emplace(trace_);
    return begin_image();
  }

  void run() {
    for (;;) {
      int status = pt_blk_sync_forward(decoder_.get());
      if (status == -pte_eos) return;
      if (status < 0) {
        // Packets behind a PSB that libipt does not take: the next PSB is tried.
        tell_lost(error_of(status));
        if (!skip_psb()) return;
        continue;
      }
      pt_blk_get_sync_offset(decoder_.get(), &pwre_at_);
      if (cycles_) cycles_->begin(pwre_at_);
      if (!walk(status)) return;
    }
  }

 private:
  static int read_code(uint8_t* buffer, size_t size, const pt_asid* /*asid*/, uint64_t ip,
                       void* context) {
    auto& self = *static_cast<Follower*>(context);
    self.look_at_clock();
    self.unmapped_ = ip;
    size_t got = self.code_.read(ip, {reinterpret_cast<std::byte*>(buffer), size}, self.now_);
    return got == 0 ? -pte_nomap : static_cast<int>(got);
  }

  void look_at_clock() {
    uint64_t time = 0;
    if (pt_blk_time(decoder_.get(), &time, nullptr, nullptr) == 0) now_ = time;
  }

  Result<> begin_image() {
    std::unique_ptr<pt_image, FreeImage> image(pt_image_alloc(nullptr));
    if (!image) return fail(ErrorCode::kFailed, "libipt cannot make an image of the code");
    pt_image_set_callback(image.get(), &Follower::read_code, this);
    pt_blk_set_image(decoder_.get(), image.get());
    image_ = std::move(image);
    refused_.clear();
    instructions_.clear();
    return {};
  }

  /// What was read of a file is read from it directly from now on.
  void add_file() {
    uint64_t address = *std::exchange(unmapped_, std::nullopt);
    auto part = code_.file_part(address, now_);
    if (!part || refused_.contains(part->address)) return;
    int id = pt_iscache_add_file(files_.get(), part->path.c_str(), part->offset, part->size,
                                 part->address);
    if (id < 0 || pt_image_add_cached(image_.get(), files_.get(), id, nullptr) < 0)
      refused_.insert(part->address);
  }

  /// False if there is no memory for it.
  bool follow_code() {
    if (now_ == checked_at_) return true;
    checked_at_ = now_;
    uint64_t version = code_.version(now_);
    return std::exchange(version_, version) == version || begin_image();
  }

  /// From one synchronisation to the end or an error. False at the end.
  bool walk(int status) {
    loops_.begin();
    for (;;) {
      while (status >= 0 && (status & pts_event_pending) != 0) {
        pt_event event;
        status = pt_blk_event(decoder_.get(), &event, sizeof event);
        tell_cycles();
        tell_packets();
        if (status >= 0) tell(event);
        look_at_clock();
      }
      if (status < 0) break;
      if ((status & pts_eos) != 0 || !follow_code()) return false;
      pt_block found{};
      uint64_t before = now_;  // reading code looks at the clock
      status = pt_blk_next(decoder_.get(), &found, sizeof found);
      look_at_clock();
      tell_packets();
      tell(found, status, before);
      if (cycles_ && found.ninsn > 0) cycles_->ran(block_.last, offset());
      tell_cycles();
      if (unmapped_) add_file();
      if (status < 0) break;
      if (!loops_.passed(found.ninsn + 1, [this] { return offset(); })) continue;
      tell_lost(FlowError::kLoop);
      return true;
    }
    if (status == -pte_eos) return false;
    tell_lost(error_of(status));
    return true;
  }

  [[nodiscard]] uint64_t offset() const {
    uint64_t at = 0;
    pt_blk_get_offset(decoder_.get(), &at);
    return at;
  }

  void tell_cycles() {
    if (!cycles_) return;
    if (uint64_t count = cycles_->due(offset()); count != 0) observer_.cycles(count);
  }

  void tell_packets() {
    if (watches_packets_) observer_.packets_read(offset());
  }

  /// False if there is no further one.
  bool skip_psb() {
    uint64_t at = 0;
    if (pt_blk_get_sync_offset(decoder_.get(), &at) < 0 || (stuck_at_ == at)) return false;
    stuck_at_ = at;
    return true;
  }

  void tell_lost(FlowError why) { observer_.lost(why, ip_, now_); }

  void tell(const pt_block& found, int status, uint64_t before) {
    if (found.ninsn == 0) {
      if (found.ip != 0) ip_ = found.ip;
      return;
    }
    block_.ip = found.ip;
    block_.count = found.ninsn;
    block_.began = before;
    block_.last = instructions_.at(found.end_ip, found.mode == ptem_64bit, now_);
    block_.last.in_transaction = found.speculative != 0;
    ip_ = found.end_ip;
    // A block that runs into code which is not there.
    if (status == -pte_nomap) ip_ += block_.last.size;
    observer_.ran(block_, instructions_, now_);
  }

  void tell(const pt_event& event) {
    if (event.has_tsc != 0) now_ = event.tsc;
    auto known = [&](uint64_t ip) -> std::optional<uint64_t> {
      if (event.ip_suppressed != 0) return std::nullopt;
      return ip;
    };
    if (event.status_update != 0 && event.type != ptev_enabled && event.type != ptev_cbr) return;
    switch (event.type) {
      case ptev_enabled:
        ip_ = event.variant.enabled.ip;
        return observer_.enabled(ip_, now_);
      case ptev_disabled:
        return observer_.disabled(std::nullopt, known(event.variant.disabled.ip), now_);
      case ptev_async_disabled:
        return observer_.disabled(event.variant.async_disabled.at,
                                  known(event.variant.async_disabled.ip), now_);
      case ptev_async_branch:
        return observer_.interrupted(event.variant.async_branch.from,
                                     known(event.variant.async_branch.to), now_);
      case ptev_overflow:
        if (auto ip = known(event.variant.overflow.ip)) ip_ = *ip;
        if (cycles_) cycles_->begin(offset());
        return tell_lost(FlowError::kOverflow);
      case ptev_tsx:
        return observer_.transaction(event.variant.tsx.speculative != 0,
                                     event.variant.tsx.aborted != 0, known(event.variant.tsx.ip),
                                     now_);
      case ptev_ptwrite:
        return observer_.ptwrite(known(event.variant.ptwrite.ip), event.variant.ptwrite.payload,
                                 now_);
      case ptev_mwait:
      case ptev_pwre:
      case ptev_exstop:
      case ptev_pwrx:
        return tell_power(event);
      case ptev_cbr:
        return observer_.core_frequency(event.variant.cbr.ratio, now_);
      default:
        return;
    }
  }

  /// Of the next PWRE: libipt 2.0 does not read the bit of transitions that hardware initiated.
  std::optional<uint64_t> pwre_payload() {
    uint64_t end = std::min<uint64_t>(offset(), trace_.size());
    for (Packet packet; pwre_at_ < end && read_packet(trace_.subspan(pwre_at_), packet);) {
      pwre_at_ += packet.size;
      if (packet.type == PacketType::kPwre) return packet.payload;
    }
    pwre_at_ = end;
    return std::nullopt;
  }

  void tell_power(const pt_event& event) {
    using Kind = PowerEvent::Kind;
    auto tell = [&](Kind kind, uint64_t payload, std::optional<uint64_t> ip) {
      observer_.power({kind, payload}, ip, now_);
    };
    auto known = [&](uint64_t ip) -> std::optional<uint64_t> {
      if (event.ip_suppressed != 0) return std::nullopt;
      return ip;
    };
    if (event.type == ptev_mwait) {
      const auto& mwait = event.variant.mwait;
      return tell(Kind::kMwait, mwait.hints | uint64_t{mwait.ext} << 32, known(mwait.ip));
    }
    if (event.type == ptev_exstop) return tell(Kind::kExStop, 0, known(event.variant.exstop.ip));
    if (event.type == ptev_pwre) {
      const auto& pwre = event.variant.pwre;
      uint64_t states = uint64_t{pwre.sub_state} << 8 | uint64_t{pwre.state} << 12;
      return tell(Kind::kPwre, pwre_payload().value_or(states), {});
    }
    const auto& pwrx = event.variant.pwrx;
    uint64_t reasons = (pwrx.interrupt != 0 ? 0x100u : 0u) | (pwrx.store != 0 ? 0x400u : 0u) |
                       (pwrx.autonomous != 0 ? 0x800u : 0u);
    tell(Kind::kPwrx, (pwrx.deepest & 0xfu) | uint64_t{pwrx.last} << 4 | reasons, {});
  }

  struct FreeDecoder {
    void operator()(pt_block_decoder* decoder) const { pt_blk_free_decoder(decoder); }
  };
  struct FreeImage {
    void operator()(pt_image* image) const { pt_image_free(image); }
  };
  struct FreeFiles {
    void operator()(pt_image_section_cache* files) const { pt_iscache_free(files); }
  };

  Bytes trace_;
  CodeReader& code_;
  FlowObserver& observer_;
  bool watches_packets_;
  InstructionTable instructions_;
  std::unique_ptr<pt_image_section_cache, FreeFiles> files_;
  std::unique_ptr<pt_image, FreeImage> image_;
  std::unique_ptr<pt_block_decoder, FreeDecoder> decoder_;  // uses the image
  std::optional<uint64_t> unmapped_;                // the latest address that no file was known for
  tsl::robin_set<uint64_t> refused_;                // parts of files that libipt does not take
  uint64_t version_ = 0, checked_at_ = UINT64_MAX;  // of the code
  LoopGuard loops_;
  Block block_;
  std::optional<CyclePackets> cycles_;
  uint64_t pwre_at_ = 0;  // the latest PWRE was before
  uint64_t now_ = 0;
  uint64_t ip_ = 0;
  uint64_t stuck_at_ = UINT64_MAX;
};

}  // namespace

bool can_follow() {
  return true;
}

Result<> follow_by_libipt(Bytes trace, const TraceSetup& setup, CodeReader& code,
                          FlowObserver& observer) {
  if (trace.empty()) return {};
  Follower follower(trace, code, observer);
  TRY(follower.open(setup));
  follower.run();
  return {};
}

Result<> follow(Bytes trace, const TraceSetup& setup, CodeReader& code, FlowObserver& observer) {
  pt_errata errata = errata_of(setup);
  TraceContents contents = look_through(trace, setup);
  // Packets that were not asked for are damage, too, and the walk passes them.
  bool is_simple = contents.is_readable || (contents.is_damaged && !setup.traces_other);
  if (contents.has_overflows)
    is_simple &= errata.skd010 == 0 && errata.apl11 == 0 && errata.apl12 == 0;
  if (contents.has_transactions) is_simple &= errata.bdm64 == 0;
  if (contents.has_event_packets && setup.counts_cycles && contents.is_readable)
    return fail(
        ErrorCode::kUnsupported,
        "a trace with event packets (intel_pt/event/) or samples (aux-output) is followed without "
        "cycles: leave out -F ipc and --itrace=A");
  // The walk does not tell how many cycles passed.
  if (!is_simple || setup.counts_cycles) return follow_by_libipt(trace, setup, code, observer);
  walk(trace, setup, {.skd022 = errata.skd022 != 0, .bdm70 = errata.bdm70 != 0}, code, observer);
  return {};
}

#endif

}  // namespace sonde::pt
