#include "pt/flow_decoder.h"

#include <algorithm>
#include <memory>

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

#ifndef SONDE_HAS_LIBIPT

bool can_follow() {
  return false;
}

Result<> follow(Bytes, const TraceSetup&, CodeReader&, FlowObserver&) {
  return fail(ErrorCode::kUnsupported,
              "Intel PT is not decoded: this build has no libipt; use one for x86");
}

#else

namespace {

/// Code without a single packet: more of it than any program has between two branches.
constexpr uint32_t kMostWithoutPacket = 1u << 20;

InstructionKind kind_of(pt_insn_class iclass) {
  switch (iclass) {
    case ptic_call:
      return InstructionKind::kCall;
    case ptic_return:
      return InstructionKind::kReturn;
    case ptic_jump:
      return InstructionKind::kJump;
    case ptic_cond_jump:
      return InstructionKind::kConditional;
    case ptic_far_call:
      return InstructionKind::kFarCall;
    case ptic_far_return:
      return InstructionKind::kFarReturn;
    case ptic_far_jump:
      return InstructionKind::kFarJump;
    case ptic_ptwrite:
      return InstructionKind::kPtWrite;
    default:
      return InstructionKind::kOther;
  }
}

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

class Follower {
 public:
  Follower(CodeReader& code, FlowObserver& observer) : code_(code), observer_(observer) {}

  Result<> open(Bytes trace, const TraceSetup& setup) {
    pt_config config;
    pt_config_init(&config);
    // libipt only reads.
    config.begin = reinterpret_cast<uint8_t*>(const_cast<std::byte*>(trace.data()));
    config.end = config.begin + trace.size();
    if (setup.family != 0) {
      config.cpu.vendor = pcv_intel;
      config.cpu.family = static_cast<uint16_t>(setup.family);
      config.cpu.model = static_cast<uint8_t>(setup.model);
      config.cpu.stepping = static_cast<uint8_t>(setup.stepping);
      // A CPU that it doesn't know has no known errata.
      if (pt_cpu_errata(&config.errata, &config.cpu) < 0) config.errata = {};
    }
    // CPUID has denominator and numerator in this order.
    config.cpuid_0x15_eax = setup.crystal_denominator;
    config.cpuid_0x15_ebx = setup.crystal_numerator;
    config.mtc_freq = setup.mtc_period;
    config.nom_freq = setup.non_turbo_ratio;
    decoder_.reset(pt_insn_alloc_decoder(&config));
    if (!decoder_) return fail(ErrorCode::kFailed, "libipt cannot make a decoder for this trace");
    pt_image_set_callback(pt_insn_get_image(decoder_.get()), &Follower::read_code, this);
    return {};
  }

  void run() {
    for (;;) {
      int status = pt_insn_sync_forward(decoder_.get());
      if (status == -pte_eos) return;
      if (status < 0) {
        // Packets behind a PSB that libipt does not take: the next PSB is tried.
        tell_lost(error_of(status));
        if (!skip_psb()) return;
        continue;
      }
      if (!walk(status)) return;
    }
  }

 private:
  static int read_code(uint8_t* buffer, size_t size, const pt_asid* /*asid*/, uint64_t ip,
                       void* context) {
    auto& self = *static_cast<Follower*>(context);
    self.look_at_clock();
    size_t got = self.code_.read(ip, {reinterpret_cast<std::byte*>(buffer), size}, self.now_);
    return got == 0 ? -pte_nomap : static_cast<int>(got);
  }

  void look_at_clock() {
    uint64_t time = 0;
    if (pt_insn_time(decoder_.get(), &time, nullptr, nullptr) == 0) now_ = time;
  }

  /// From one synchronisation to the end or an error. False at the end.
  bool walk(int status) {
    uint64_t last_offset = UINT64_MAX;
    for (uint32_t since_packet = 0;; ++since_packet) {
      while (status >= 0 && (status & pts_event_pending) != 0) {
        pt_event event;
        status = pt_insn_event(decoder_.get(), &event, sizeof event);
        if (status >= 0) tell(event);
      }
      if (status < 0) break;
      if ((status & pts_eos) != 0) return false;
      pt_insn found{};
      status = pt_insn_next(decoder_.get(), &found, sizeof found);
      look_at_clock();
      if (found.ip != 0) ip_ = found.ip;
      if (found.iclass != ptic_error) tell(found);
      if (status < 0) break;
      if (since_packet % 1024 != 0) continue;
      uint64_t offset = 0;
      pt_insn_get_offset(decoder_.get(), &offset);
      if (offset != last_offset) since_packet = 0;
      last_offset = offset;
      if (since_packet < kMostWithoutPacket) continue;
      tell_lost(FlowError::kLoop);
      return true;
    }
    if (status == -pte_eos) return false;
    tell_lost(error_of(status));
    return true;
  }

  /// False if there is no further one.
  bool skip_psb() {
    uint64_t at = 0;
    if (pt_insn_get_sync_offset(decoder_.get(), &at) < 0 || (stuck_at_ == at)) return false;
    stuck_at_ = at;
    return true;
  }

  void tell_lost(FlowError why) { observer_.lost(why, ip_, now_); }

  void tell(const pt_insn& found) {
    Instruction instruction;
    instruction.ip = found.ip;
    instruction.size = found.size;
    instruction.kind = kind_of(found.iclass);
    instruction.in_transaction = found.speculative != 0;
    instruction.is_64_bit = found.mode == ptem_64bit;
    std::copy_n(found.raw, std::min<size_t>(found.size, sizeof found.raw),
                instruction.bytes.begin());
    observer_.instruction(instruction, now_);
  }

  void tell(const pt_event& event) {
    if (event.has_tsc != 0) now_ = event.tsc;
    auto known = [&](uint64_t ip) -> std::optional<uint64_t> {
      if (event.ip_suppressed != 0) return std::nullopt;
      return ip;
    };
    if (event.status_update != 0 && event.type != ptev_enabled) return;
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
        return tell_lost(FlowError::kOverflow);
      case ptev_tsx:
        return observer_.transaction(event.variant.tsx.speculative != 0,
                                     event.variant.tsx.aborted != 0, known(event.variant.tsx.ip),
                                     now_);
      case ptev_ptwrite:
        return observer_.ptwrite(known(event.variant.ptwrite.ip), event.variant.ptwrite.payload,
                                 now_);
      case ptev_cbr:
        return observer_.core_frequency(event.variant.cbr.ratio, now_);
      default:
        return;
    }
  }

  struct FreeDecoder {
    void operator()(pt_insn_decoder* decoder) const { pt_insn_free_decoder(decoder); }
  };

  CodeReader& code_;
  FlowObserver& observer_;
  std::unique_ptr<pt_insn_decoder, FreeDecoder> decoder_;
  uint64_t now_ = 0;
  uint64_t ip_ = 0;
  uint64_t stuck_at_ = UINT64_MAX;
};

}  // namespace

bool can_follow() {
  return true;
}

Result<> follow(Bytes trace, const TraceSetup& setup, CodeReader& code, FlowObserver& observer) {
  if (trace.empty()) return {};
  Follower follower(code, observer);
  TRY(follower.open(trace, setup));
  follower.run();
  return {};
}

#endif

}  // namespace sonde::pt
