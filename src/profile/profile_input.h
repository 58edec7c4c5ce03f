// What a profile is made of: the columns of a replayed recording, and two questions that are asked
// rarely (names, and the full content of one sample). A struct of references, so that tests make
// their columns by hand and a Session gives its own (session_input.h).
#pragma once

#include <string>
#include <string_view>

#include "machine/dso.h"
#include "perfdata/sample.h"
#include "replay/session.h"

namespace sonde {

/// Names and ranges of symbols, by id.
class SymbolNames {
 public:
  virtual ~SymbolNames() = default;
  /// Demangled as the user wants it; valid as long as this object.
  [[nodiscard]] virtual std::string_view name(SymbolId symbol) const = 0;
  /// [start, end) inside the symbol's DSO.
  [[nodiscard]] virtual std::pair<uint64_t, uint64_t> range(SymbolId symbol) const = 0;
  /// A variable, not a function.
  [[nodiscard]] virtual bool is_data(SymbolId /*symbol*/) const { return false; }
  /// perf's letter for where an object's symbols came from.
  [[nodiscard]] virtual char origin(DsoId dso) const = 0;
  [[nodiscard]] virtual std::string srcline(DsoId dso, uint64_t address) const = 0;
  [[nodiscard]] virtual std::string srcfile(DsoId dso, uint64_t address) const = 0;
};

/// What the columns don't hold; each call decodes a record.
class SampleDetails {
 public:
  virtual ~SampleDetails() = default;
  virtual bool decode(size_t sample, Sample& out) const = 0;
  /// The addresses of its call chain as they were at run time, a frame that was not inlined each,
  /// as far as the record holds them.
  virtual void chain_addresses(const Sample& sample, size_t index,
                               std::vector<uint64_t>& out) const {
    (void)index;
    for (size_t i = 0; i < sample.callchain.size(); ++i)
      if (!abi::is_callchain_context(sample.callchain[i])) out.push_back(sample.callchain[i]);
  }
  /// Any other address of a sample: the end of a branch, data.
  [[nodiscard]] virtual Frame resolve(size_t sample, uint64_t address) const = 0;
  /// The same for an address that may lie in the program or in the kernel: branches go both ways.
  /// What lies in neither has the level that was tried last, the hypervisor's.
  [[nodiscard]] virtual Frame resolve_anywhere(size_t sample, uint64_t address) const {
    return resolve(sample, address);
  }
  /// What a sampled place without a symbol shows: kernel modules count from their own start.
  [[nodiscard]] virtual uint64_t shown_address(const Frame& frame) const { return frame.address; }
  /// The name that a thread had last; empty where it is not known.
  [[nodiscard]] virtual std::string_view last_comm(uint32_t tid) const = 0;
  /// -1 where the recording has no topology.
  [[nodiscard]] virtual int socket_of(uint32_t cpu) const = 0;
  /// Empty where no record named the cgroup.
  [[nodiscard]] virtual std::string_view cgroup_path(uint64_t id) const = 0;
  [[nodiscard]] virtual Machine::Namespace cgroup_namespace(size_t sample) const = 0;
  /// What is mapped at a data address of a sample; null where nothing is.
  [[nodiscard]] virtual const Mapping* mapping_at(size_t /*sample*/, uint64_t /*address*/) const {
    return nullptr;
  }
  /// The name of who ended a wait off the CPU; empty where nobody is known.
  [[nodiscard]] virtual std::string_view waker_of(const Sample& /*wait*/) const { return {}; }
  /// Bytes of a DSO's mapping at an address; 0 where nothing is mapped.
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
  /// Short name of a DSO; "[unknown]" where nothing was mapped.
  [[nodiscard]] std::string_view dso_name(DsoId dso) const {
    return dso.valid() ? std::string_view(dsos[dso].short_name) : std::string_view("[unknown]");
  }
};

}  // namespace sonde
