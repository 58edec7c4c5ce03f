// The input of a profile: the columns of a replayed recording, and two interfaces that are used
// rarely (names, and the full content of a sample). A struct of references, so that tests can build
// columns by hand and a Session can provide its own (session_input.h).
#pragma once

#include <string>
#include <string_view>

#include "machine/dso.h"
#include "perfdata/records/sample.h"
#include "replay/session.h"

namespace sonde {

/// Names and ranges of symbols, by id.
class SymbolNames {
 public:
  virtual ~SymbolNames() = default;
  /// Demangled as the user requested; valid as long as this object.
  [[nodiscard]] virtual std::string_view name(SymbolId symbol) const = 0;
  /// The name by which rows of several recordings are matched (Symbolizer::identity).
  [[nodiscard]] virtual std::string identity(SymbolId symbol) const {
    return std::string(name(symbol));
  }
  /// [start, end) inside the symbol's DSO.
  [[nodiscard]] virtual std::pair<uint64_t, uint64_t> range(SymbolId symbol) const = 0;
  /// A variable, not a function.
  [[nodiscard]] virtual bool is_data(SymbolId /*symbol*/) const { return false; }
  /// perf's letter for the source of an object's symbols.
  [[nodiscard]] virtual char origin(DsoId dso) const = 0;
  [[nodiscard]] virtual std::string srcline(DsoId dso, uint64_t address) const = 0;
  [[nodiscard]] virtual std::string srcfile(DsoId dso, uint64_t address) const = 0;
};

/// What the columns don't hold; each call decodes a record.
class SampleDetails {
 public:
  virtual ~SampleDetails() = default;
  virtual bool decode(size_t sample, Sample& out) const = 0;
  /// The run-time addresses of its call chain, one per frame that was not inlined, as far as the
  /// record holds them.
  virtual void chain_addresses(const Sample& sample, size_t index,
                               std::vector<uint64_t>& out) const {
    (void)index;
    for (size_t i = 0; i < sample.callchain.size(); ++i)
      if (!abi::is_callchain_context(sample.callchain[i])) out.push_back(sample.callchain[i]);
  }
  /// The machine, if every frame of a chain that does not come from a copied stack is where the
  /// machine's mappings put an address that was recorded, in the sample's process and at its time;
  /// otherwise null.
  [[nodiscard]] virtual const Machine* machine_of_chains() const { return nullptr; }
  /// The steps of its chain if that contains branches (Session::branch_history); otherwise none.
  virtual void branch_path(const Sample& sample, size_t index, std::vector<PathStep>& out) const {
    (void)sample, (void)index, (void)out;
  }
  /// Resolves any other address of a sample: the end of a branch, data.
  [[nodiscard]] virtual Frame resolve(size_t sample, uint64_t address) const = 0;
  /// The same for an address that may be in the program or in the kernel: branches go both ways. An
  /// address in neither gets the level that was tried last, the hypervisor's.
  [[nodiscard]] virtual Frame resolve_anywhere(size_t sample, uint64_t address) const {
    return resolve(sample, address);
  }
  /// The address shown for a sampled place without a symbol: relative to the start of a kernel
  /// module.
  [[nodiscard]] virtual uint64_t shown_address(const Frame& frame) const { return frame.address; }
  /// The last name of a thread; empty if not known.
  [[nodiscard]] virtual std::string_view last_comm(uint32_t tid) const = 0;
  /// -1 if the recording has no topology.
  [[nodiscard]] virtual int socket_of(uint32_t cpu) const = 0;
  /// Empty if no record named the cgroup.
  [[nodiscard]] virtual std::string_view cgroup_path(uint64_t id) const = 0;
  [[nodiscard]] virtual Machine::Namespace cgroup_namespace(size_t sample) const = 0;
  /// The mapping at a data address of a sample; null if there is none.
  [[nodiscard]] virtual const Mapping* mapping_at(size_t /*sample*/, uint64_t /*address*/) const {
    return nullptr;
  }
  /// Whether the sample may tell of a wait: those of counters and clocks are of code that ran.
  [[nodiscard]] virtual bool may_wait(size_t /*sample*/) const { return true; }
  /// The name of the thread that ended an off-CPU wait; empty if not known.
  [[nodiscard]] virtual std::string_view waker_of(const Sample& /*wait*/) const { return {}; }
  /// The size in bytes of the DSO's mapping at the sampled address; 0 if nothing is mapped.
  [[nodiscard]] virtual uint64_t mapped_size(size_t sample) const = 0;
};

struct ProfileInput {
  const SampleColumns& samples;
  const ChainTable& chains;
  const std::vector<Frame>& frames;
  const DsoTable& dsos;
  StringPool& strings;
  const SymbolNames& symbols;
  const SampleDetails& details;

  [[nodiscard]] const Frame& frame(FrameId id) const { return frames[id.index()]; }
  /// Short name of a DSO; "[unknown]" if nothing was mapped.
  [[nodiscard]] std::string_view dso_name(DsoId dso) const {
    return dso.valid() ? std::string_view(dsos[dso].short_name) : std::string_view("[unknown]");
  }
};

}  // namespace sonde
