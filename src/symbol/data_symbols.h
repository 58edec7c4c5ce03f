// DataSymbols: looks up the variable of a program or library at an address. The address need not be
// in a recorded mapping (recorders leave data out): the distance between an object's variables and
// its code is the same in memory as in its ELF file.
//
//   DataSymbols variables(machine, symbolizer);
//   if (auto found = variables.find(pid, time_ns, address)) … found->label() …
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "machine/machine.h"
#include "symbol/symbolizer.h"

namespace sonde {

class DataSymbols {
 public:
  struct Found {
    DsoId dso;
    std::string name;     // of a variable; empty if the object has no known one there
    uint64_t offset = 0;  // in the variable, or the object's own address
    /// "queue+0x28"
    [[nodiscard]] std::string label() const;
  };

  /// Both must outlive this object.
  DataSymbols(const Machine& machine, const Symbolizer& symbolizer);
  ~DataSymbols();

  /// Returns nothing if no object with that address was mapped then: heaps, stacks, shared memory.
  /// An object's symbols are read on first use.
  [[nodiscard]] std::optional<Found> find(uint32_t pid, uint64_t time_ns, RuntimeAddr address);

 private:
  struct Variables;
  const Variables& variables_of(DsoId dso);

  const Machine& machine_;
  const Symbolizer& symbolizer_;
  std::vector<std::unique_ptr<Variables>> by_dso_;
};

}  // namespace sonde
