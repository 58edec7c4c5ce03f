#include "etm/opencsd_tree.h"

#include <algorithm>

namespace sonde::etm {
namespace {

constexpr size_t kFrameSize = OCSD_DFRMTR_FRAME_SIZE;

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

Result<OpencsdTree> OpencsdTree::make(Format format) {
  const OpencsdLibrary* library = TRY(OpencsdLibrary::load());
  // perf's frames have no synchronization marks; four of the kernel's mark the start of a buffer.
  dcd_tree_handle_t handle =
      format == Format::kFrames
          ? library->create_dcd_tree(OCSD_TRC_SRC_FRAME_FORMATTED,
                                     OCSD_DFRMTR_FRAME_MEM_ALIGN | OCSD_DFRMTR_RESET_ON_4X_FSYNC)
          : library->create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0);
  if (handle == C_API_INVALID_TREE_HANDLE)
    return fail(ErrorCode::kFailed, "OpenCSD made no decoder");
  return OpencsdTree(library, format, handle);
}

OpencsdTree::~OpencsdTree() {
  if (handle_ != C_API_INVALID_TREE_HANDLE) library_->destroy_dcd_tree(handle_);
}

Result<> OpencsdTree::add(const TraceUnit& unit, int flags) {
  unsigned char trace_id = 0;
  auto create = [&](const char* kind, const auto& settings) {
    return library_->dt_create_decoder(handle_, kind, flags, &settings, &trace_id);
  };
  ocsd_err_t error = unit.kind == TraceUnit::Kind::kEte
                         ? create(OCSD_BUILTIN_DCD_ETE, ete_settings(unit))
                         : create(OCSD_BUILTIN_DCD_ETMV4I, etm4_settings(unit));
  if (error != OCSD_OK)
    return fail(
        ErrorCode::kCorrupt,
        "the trace unit of CPU {} (trace id {}) has settings that OpenCSD refuses (error {})",
        unit.cpu, unit.trace_id, static_cast<int>(error));
  trace_id_ = unit.trace_id;
  return {};
}

ocsd_datapath_resp_t OpencsdTree::process(ocsd_datapath_op_t operation, Bytes trace,
                                          uint32_t& used) {
  return library_->dt_process_data(handle_, operation, position_,
                                   static_cast<uint32_t>(trace.size()),
                                   reinterpret_cast<const uint8_t*>(trace.data()), &used);
}

/// An operation without data.
bool OpencsdTree::tell(ocsd_datapath_op_t operation) {
  uint32_t used = 0;
  return !OCSD_DATA_RESP_IS_FATAL(process(operation, {}, used));
}

bool OpencsdTree::feed(Bytes trace) {
  while (!trace.empty()) {
    uint32_t used = 0;
    // Far less than the 32 bits of a length, so that position and progress are seen.
    constexpr size_t kMost = size_t{1} << 20;
    ocsd_datapath_resp_t answer =
        process(OCSD_OP_DATA, trace.first(std::min(trace.size(), kMost)), used);
    if (OCSD_DATA_RESP_IS_FATAL(answer)) return false;
    if (OCSD_DATA_RESP_IS_WAIT(answer) && !tell(OCSD_OP_FLUSH)) return false;
    if (used == 0 && !OCSD_DATA_RESP_IS_WAIT(answer)) return false;
    position_ += used;
    trace = trace.subspan(std::min<size_t>(used, trace.size()));
  }
  return true;
}

uint64_t OpencsdTree::bytes_of_unknown_units() const {
  if (format_ != Format::kFrames || !trace_id_) return 0;
  // What takes frames apart counts for all units, and every unit's statistics have its counts.
  ocsd_decode_stats_t* statistics = nullptr;
  if (library_->dt_get_decode_stats(handle_, *trace_id_, &statistics) != OCSD_OK ||
      statistics->revision < OCSD_STATS_REVISION)
    return 0;
  return statistics->demux.no_id_bytes;
}

bool OpencsdTree::decode(Bytes trace) {
  // A frame that was cut cannot be taken apart.
  if (format_ == Format::kFrames) trace = trace.first(trace.size() / kFrameSize * kFrameSize);
  if (trace.empty()) return true;
  bool is_whole = tell(OCSD_OP_RESET) && feed(trace);
  return tell(OCSD_OP_EOT) && is_whole;
}

}  // namespace sonde::etm
