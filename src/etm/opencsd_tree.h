// A decoder of OpenCSD: what takes frames apart, and a decoder for each unit behind it. What comes
// out goes to the callbacks that users attach to its handle.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "base/error.h"
#include "etm/opencsd_library.h"
#include "etm/trace_unit.h"

namespace sonde::etm {

class OpencsdTree {
 public:
  /// kUnsupported without the library.
  [[nodiscard]] static Result<OpencsdTree> make(Format format);
  OpencsdTree(OpencsdTree&& other) noexcept
      : library_(other.library_),
        format_(other.format_),
        handle_(std::exchange(other.handle_, C_API_INVALID_TREE_HANDLE)),
        trace_id_(other.trace_id_),
        position_(other.position_) {}
  OpencsdTree& operator=(OpencsdTree&&) = delete;
  ~OpencsdTree();

  /// `flags`: OCSD_CREATE_FLG_… kCorrupt if the unit's settings are refused.
  Result<> add(const TraceUnit& unit, int flags);

  /// A stretch of trace from its beginning. False if the library gave up within it.
  [[nodiscard]] bool decode(Bytes trace);

  /// Of all frames that were decoded, the bytes whose trace id is that of no added unit.
  [[nodiscard]] uint64_t bytes_of_unknown_units() const;

  [[nodiscard]] const OpencsdLibrary& library() const { return *library_; }
  [[nodiscard]] dcd_tree_handle_t handle() const { return handle_; }

 private:
  OpencsdTree(const OpencsdLibrary* library, Format format, dcd_tree_handle_t handle)
      : library_(library), format_(format), handle_(handle) {}
  ocsd_datapath_resp_t process(ocsd_datapath_op_t operation, Bytes trace, uint32_t& used);
  bool tell(ocsd_datapath_op_t operation);
  bool feed(Bytes trace);

  const OpencsdLibrary* library_;
  Format format_;
  dcd_tree_handle_t handle_;
  std::optional<uint8_t> trace_id_;  // of one of the units
  ocsd_trc_index_t position_ = 0;    // in all that was decoded
};

}  // namespace sonde::etm
