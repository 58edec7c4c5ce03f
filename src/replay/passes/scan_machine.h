// ScanMachine: thread names and the kernel's layout, for analyses that scan over a recording once
// (record_pipeline.h) instead of opening it as a Session.
//
//   ScanMachine machine(scan);
//   … machine.keep(record) for every record that is not a sample, during the scan …
//   machine.finalize(symbol_options, env);
//   machine.load(addresses);
//   machine.kernel_symbol(addresses[0]) …   machine.comm(tid) …
//
// Only thread names and the kernel's own mappings are kept: user space is not resolved.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "base/string_pool.h"
#include "perfdata/read/file_scan.h"
#include "replay/passes/machine_builder.h"
#include "symbol/symbolizer.h"

namespace sonde {

/// The kernel function that contains an address.
struct KernelSymbol {
  std::string_view name;
  uint64_t start = 0;   // its own address
  uint64_t offset = 0;  // of the address in it

  /// "schedule+0x23"; at its first address "schedule".
  [[nodiscard]] std::string label() const;
};

class ScanMachine {
 public:
  /// `scan` must outlive this object.
  explicit ScanMachine(const FileScan& scan);

  /// Called from one thread, before finalize.
  void keep(const OtherRecord& record) { builder_.keep(record); }
  /// Called when the scan is over.
  void finalize(SymbolOptions options, const Env& env);

  /// Afterwards kernel_symbol knows these addresses, and others if that is cheap. Most efficient if
  /// called once for all.
  void load(std::span<const uint64_t> addresses);
  /// The same for all symbols of the kernel and its modules; kernel_symbol then knows everything.
  void load_all();
  [[nodiscard]] std::optional<KernelSymbol> kernel_symbol(uint64_t address) const;
  /// The label of its symbol, or "0xffff…" if none is known.
  [[nodiscard]] std::string kernel_label(uint64_t address) const;
  /// The source of the symbol names, a path if it is one.
  [[nodiscard]] std::string_view symbol_source() const;

  /// The last name of a thread; ":tid" if none was recorded.
  [[nodiscard]] std::string_view comm(uint32_t tid) const;
  [[nodiscard]] const Machine& machine() const { return machine_; }

 private:
  const FileScan& scan_;
  StringPool strings_;
  Machine machine_;
  MachineBuilder builder_{MachineLevel::kKernel};
  std::unique_ptr<Symbolizer> symbolizer_;
};

}  // namespace sonde
