#include "etm/flow_decoder.h"

#include <algorithm>

#include "etm/opencsd_library.h"

namespace sonde::etm {
namespace {

constexpr size_t kFrameSize = OCSD_DFRMTR_FRAME_SIZE;
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
          .was_taken = last != Last::kOther && element.last_instr_exec != 0};
}

ocsd_etmv4_cfg etm4_settings(const TraceUnit& unit) {
  ocsd_etmv4_cfg settings{};
  settings.reg_idr0 = unit.id[0];
  settings.reg_idr1 = unit.id[1];
  settings.reg_idr2 = unit.id[2];
  settings.reg_idr8 = unit.id8;
  settings.reg_configr = unit.config;
  settings.reg_traceidr = unit.trace_id;
  settings.arch_ver = ARCH_V8;
  settings.core_prof = profile_CortexA;
  return settings;
}

ocsd_ete_cfg ete_settings(const TraceUnit& unit) {
  ocsd_ete_cfg settings{};
  settings.reg_idr0 = unit.id[0];
  settings.reg_idr1 = unit.id[1];
  settings.reg_idr2 = unit.id[2];
  settings.reg_idr8 = unit.id8;
  settings.reg_configr = unit.config;
  settings.reg_traceidr = unit.trace_id;
  settings.reg_devarch = unit.architecture;
  settings.arch_ver = ARCH_AA64;
  settings.core_prof = profile_CortexA;
  return settings;
}

}  // namespace

struct FlowDecoder::State {
  State(const OpencsdLibrary& opencsd, Format how, CodeReader& read, FlowObserver& told)
      : library(opencsd), format(how), code(read), observer(told) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (tree != C_API_INVALID_TREE_HANDLE) library.destroy_dcd_tree(tree);
  }

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
      case OCSD_GEN_TRC_ELEM_TRACE_ON:
      case OCSD_GEN_TRC_ELEM_EO_TRACE:
        observer.interrupted(trace_id);
        break;
      case OCSD_GEN_TRC_ELEM_ADDR_NACC:
        observer.no_code(trace_id, element->st_addr);
        break;
      case OCSD_GEN_TRC_ELEM_EXCEPTION:
        observer.exception(trace_id, element->exception_number, element->en_addr);
        break;
      case OCSD_GEN_TRC_ELEM_TIMESTAMP:
        observer.timestamp(trace_id, element->timestamp);
        break;
      case OCSD_GEN_TRC_ELEM_PE_CONTEXT:
        if (element->context.ctxt_id_valid != 0)
          observer.context(trace_id, element->context.context_id);
        break;
      default:
        break;
    }
    return OCSD_RESP_CONT;
  }

  Result<> add(const TraceUnit& unit) {
    unsigned char trace_id = 0;
    auto create = [&](const char* kind, const auto& settings) {
      return library.dt_create_decoder(tree, kind, OCSD_CREATE_FLG_FULL_DECODER, &settings,
                                       &trace_id);
    };
    ocsd_err_t error = unit.kind == TraceUnit::Kind::kEte
                           ? create(OCSD_BUILTIN_DCD_ETE, ete_settings(unit))
                           : create(OCSD_BUILTIN_DCD_ETMV4I, etm4_settings(unit));
    if (error != OCSD_OK)
      return fail(ErrorCode::kCorrupt,
                  "the trace unit of CPU {} (trace id {}) has settings that OpenCSD refuses "
                  "(error {})",
                  unit.cpu, unit.trace_id, static_cast<int>(error));
    return {};
  }

  ocsd_datapath_resp_t process(ocsd_datapath_op_t operation, Bytes trace, uint32_t& used) {
    return library.dt_process_data(tree, operation, position, static_cast<uint32_t>(trace.size()),
                                   reinterpret_cast<const uint8_t*>(trace.data()), &used);
  }

  /// An operation without data.
  bool tell(ocsd_datapath_op_t operation) {
    uint32_t used = 0;
    return !OCSD_DATA_RESP_IS_FATAL(process(operation, {}, used));
  }

  bool feed(Bytes trace) {
    while (!trace.empty()) {
      uint32_t used = 0;
      // Far less than the 32 bits of a length, so that position and progress are seen.
      constexpr size_t kMost = size_t{1} << 20;
      ocsd_datapath_resp_t answer =
          process(OCSD_OP_DATA, trace.first(std::min(trace.size(), kMost)), used);
      if (OCSD_DATA_RESP_IS_FATAL(answer)) return false;
      if (OCSD_DATA_RESP_IS_WAIT(answer) && !tell(OCSD_OP_FLUSH)) return false;
      if (used == 0 && !OCSD_DATA_RESP_IS_WAIT(answer)) return false;
      position += used;
      trace = trace.subspan(std::min<size_t>(used, trace.size()));
    }
    return true;
  }

  const OpencsdLibrary& library;
  Format format;
  CodeReader& code;
  FlowObserver& observer;
  mutable uint64_t read_for_range = 0;  // bytes of code; callbacks see the state as const
  dcd_tree_handle_t tree = C_API_INVALID_TREE_HANDLE;
  ocsd_trc_index_t position = 0;  // in all that was decoded
};

FlowDecoder::FlowDecoder(std::unique_ptr<State> state) : state_(std::move(state)) {}
FlowDecoder::FlowDecoder(FlowDecoder&&) noexcept = default;
FlowDecoder& FlowDecoder::operator=(FlowDecoder&&) noexcept = default;
FlowDecoder::~FlowDecoder() = default;

Result<FlowDecoder> FlowDecoder::make(std::span<const TraceUnit> units, Format format,
                                      CodeReader& code, FlowObserver& observer) {
  const OpencsdLibrary* library = TRY(OpencsdLibrary::load());
  auto state = std::make_unique<State>(*library, format, code, observer);
  // perf's frames have no synchronization marks; four of the kernel's mark the start of a buffer.
  state->tree = format == Format::kFrames
                    ? library->create_dcd_tree(
                          OCSD_TRC_SRC_FRAME_FORMATTED,
                          OCSD_DFRMTR_FRAME_MEM_ALIGN | OCSD_DFRMTR_RESET_ON_4X_FSYNC)
                    : library->create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0);
  if (state->tree == C_API_INVALID_TREE_HANDLE)
    return fail(ErrorCode::kFailed, "OpenCSD made no decoder");
  for (const TraceUnit& unit : units) TRY(state->add(unit));
  if (library->dt_set_gen_elem_outfn(state->tree, State::take, state.get()) != OCSD_OK ||
      library->dt_add_callback_trcid_mem_acc(state->tree, 0, UINT64_MAX, OCSD_MEM_SPACE_ANY,
                                             State::read_code, state.get()) != OCSD_OK)
    return fail(ErrorCode::kFailed, "OpenCSD took no reader of code");
  return FlowDecoder(std::move(state));
}

bool FlowDecoder::decode(Bytes trace) {
  State& state = *state_;
  // A frame that was cut cannot be taken apart.
  if (state.format == Format::kFrames) trace = trace.first(trace.size() / kFrameSize * kFrameSize);
  if (trace.empty()) return true;
  bool is_whole = state.tell(OCSD_OP_RESET) && state.feed(trace);
  return state.tell(OCSD_OP_EOT) && is_whole;
}

}  // namespace sonde::etm
