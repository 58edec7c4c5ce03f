// Resolved samples as Python values: the dictionary that `process_event` gets (and handlers of
// tracepoints, as perf_sample_dict), and call chains. Keys and their order are perf's
// (perf-script-python(1), "process_event").
#pragma once

#include <vector>

#include "abi/regs.h"
#include "python/python_library.h"
#include "replay/session.h"
#include "script/sample_target.h"

namespace sonde::python {

/// The place of a sample's address, if has_target(). Only objects whose symbols are loaded give a
/// symbol (Session::load_all_symbols).
[[nodiscard]] Frame target_of(const Session& session, size_t index, const Sample& sample);
/// The run time addresses of a chain's frames, as recorded; where some frames were unwound or
/// inlined, their addresses inside their objects.
[[nodiscard]] std::vector<uint64_t> recorded_ips(const Session& session,
                                                 std::span<const FrameId> frames,
                                                 const Sample& sample);

class SampleObjects {
 public:
  explicit SampleObjects(const Session& session);

  /// The call chain, innermost first: a list of {ip, sym: {start, end, binding, name}, sym_off,
  /// dso}.
  [[nodiscard]] PyRef chain(size_t index, const Sample& sample) const;
  [[nodiscard]] PyRef dict(size_t index, const Sample& sample) const;

 private:
  struct Place {
    uint64_t ip;
    const Frame& frame;
  };
  [[nodiscard]] PyRef frame(const Place& place) const;
  [[nodiscard]] PyRef fields(size_t index, const Sample& sample) const;
  /// Entries named prefix + "dso", "symbol" …, of an address in a frame; none if nothing was
  /// mapped.
  void put_place(PyObject* dict, const std::string& prefix, size_t index, const Place& place) const;
  void put_branches(PyObject* dict, size_t index, const Sample& sample) const;
  [[nodiscard]] PyRef registers(const SampleRegs& regs) const;
  PyObject* name(SymbolId symbol) const;
  PyObject* dso_name(DsoId dso) const;

  const Session& session_;
  abi::Arch arch_;
  mutable std::vector<PyRef> names_;  // by SymbolId
  mutable std::vector<PyRef> dsos_;   // by DsoId
};

}  // namespace sonde::python
