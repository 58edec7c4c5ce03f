#include "etm/flow_decoder.h"

#include <bitset>

#include "etm/opencsd_tree.h"

namespace sonde::etm {
namespace {

// OpenCSD reads on until it finds a branch. No function is that long without one: it is data.
constexpr uint64_t kMostCodeOfRange = 256 << 10;  // bytes

ExecutedRange range_of(const ocsd_generic_trace_elem& element) {
  using Last = ExecutedRange::Last;
  auto last = [&] {
    bool links = element.last_i_subtype == OCSD_S_INSTR_BR_LINK;
    if (element.last_i_type == OCSD_INSTR_BR) return links ? Last::kCall : Last::kJump;
    if (element.last_i_type != OCSD_INSTR_BR_INDIRECT) return Last::kOther;
    switch (element.last_i_subtype) {
      case OCSD_S_INSTR_BR_LINK:
        return Last::kIndirectCall;
      case OCSD_S_INSTR_V8_RET:
      case OCSD_S_INSTR_V7_IMPLIED_RET:
        return Last::kReturn;
      case OCSD_S_INSTR_V8_ERET:
        return Last::kExceptionReturn;
      default:
        return Last::kIndirectJump;
    }
  }();
  return {.start = element.st_addr,
          .end = element.en_addr,
          .last_size = static_cast<uint8_t>(element.last_instr_sz),
          .last = last,
          .is_conditional = element.last_instr_cond != 0,
          .was_taken = last != Last::kOther && element.last_instr_exec != 0,
          .is_thumb = element.isa == ocsd_isa_thumb2};
}

}  // namespace

struct FlowDecoder::State {
  State(OpencsdTree made, CodeReader& read, FlowObserver& told)
      : tree(std::move(made)), code(read), observer(told) {}

  static uint32_t read_code(const void* self, ocsd_vaddr_t address, ocsd_mem_space_acc_t /*space*/,
                            uint8_t trace_id, uint32_t size, uint8_t* to) {
    const auto& state = *static_cast<const State*>(self);
    if (state.read_for_range > kMostCodeOfRange) return 0;
    state.read_for_range += size;
    std::span<std::byte> bytes(reinterpret_cast<std::byte*>(to), size);
    return static_cast<uint32_t>(state.code.read(trace_id, address, bytes));
  }

  static ocsd_datapath_resp_t take(const void* self, ocsd_trc_index_t /*position*/,
                                   uint8_t trace_id, const ocsd_generic_trace_elem* element) {
    const auto& state = *static_cast<const State*>(self);
    FlowObserver& observer = state.observer;
    state.read_for_range = 0;
    switch (element->elem_type) {
      case OCSD_GEN_TRC_ELEM_INSTR_RANGE:
        observer.ran(trace_id, range_of(*element));
        break;
      case OCSD_GEN_TRC_ELEM_NO_SYNC:
        if (element->unsync_eot_info == UNSYNC_BAD_PACKET)
          observer.lost(trace_id, Lost::kBadPacket, 0);
        else if (element->unsync_eot_info == UNSYNC_OVERFLOW)
          observer.lost(trace_id, Lost::kOverflow, 0);
        else
          observer.interrupted(trace_id);
        break;
      case OCSD_GEN_TRC_ELEM_TRACE_ON:
      case OCSD_GEN_TRC_ELEM_EO_TRACE:
        observer.interrupted(trace_id);
        break;
      case OCSD_GEN_TRC_ELEM_ADDR_NACC:
        observer.lost(trace_id, Lost::kNoCode, element->st_addr);
        break;
      case OCSD_GEN_TRC_ELEM_EXCEPTION:
        observer.exception(trace_id, element->exception_number, element->en_addr);
        break;
      case OCSD_GEN_TRC_ELEM_TIMESTAMP:
        observer.timestamp(trace_id, element->timestamp);
        break;
      case OCSD_GEN_TRC_ELEM_PE_CONTEXT:
        state.take_context(trace_id, element->context);
        break;
      default:
        break;
    }
    return OCSD_RESP_CONT;
  }

  void take_context(uint8_t trace_id, const ocsd_pe_context& context) const {
    bool is_vmid = threads_are_vmids[trace_id % threads_are_vmids.size()];
    if (is_vmid && context.vmid_valid != 0)
      observer.context(trace_id, context.vmid);
    else if (!is_vmid && context.ctxt_id_valid != 0)
      observer.context(trace_id, context.context_id);
  }

  Result<> add(const TraceUnit& unit) {
    // TRCCONFIGR: virtual contexts are traced, and are CONTEXTIDR_EL2.
    constexpr uint32_t kVmid = 1U << 7, kVmidIsContext = 1U << 15;
    threads_are_vmids[unit.trace_id % threads_are_vmids.size()] =
        (unit.config & kVmid) != 0 && (unit.config & kVmidIsContext) != 0;
    return tree.add(unit, OCSD_CREATE_FLG_FULL_DECODER);
  }

  OpencsdTree tree;
  CodeReader& code;
  FlowObserver& observer;
  mutable uint64_t read_for_range = 0;  // bytes of code; callbacks see the state as const
  std::bitset<128> threads_are_vmids;   // by trace id
};

FlowDecoder::FlowDecoder(std::unique_ptr<State> state) : state_(std::move(state)) {}
FlowDecoder::FlowDecoder(FlowDecoder&&) noexcept = default;
FlowDecoder& FlowDecoder::operator=(FlowDecoder&&) noexcept = default;
FlowDecoder::~FlowDecoder() = default;

Result<FlowDecoder> FlowDecoder::make(std::span<const TraceUnit> units, Format format,
                                      CodeReader& code, FlowObserver& observer) {
  OpencsdTree tree = TRY(OpencsdTree::make(format));
  auto state = std::make_unique<State>(std::move(tree), code, observer);
  for (const TraceUnit& unit : units) TRY(state->add(unit));
  const OpencsdLibrary& library = state->tree.library();
  dcd_tree_handle_t handle = state->tree.handle();
  if (library.dt_set_gen_elem_outfn(handle, State::take, state.get()) != OCSD_OK ||
      library.dt_add_callback_trcid_mem_acc(handle, 0, UINT64_MAX, OCSD_MEM_SPACE_ANY,
                                            State::read_code, state.get()) != OCSD_OK)
    return fail(ErrorCode::kFailed, "OpenCSD took no reader of code");
  return FlowDecoder(std::move(state));
}

bool FlowDecoder::decode(Bytes trace) {
  return state_->tree.decode(trace);
}

uint64_t FlowDecoder::bytes_of_unknown_units() const {
  return state_->tree.bytes_of_unknown_units();
}

}  // namespace sonde::etm
