// DataSymbols: which variable of a program or library lies at an address. The address need not be
// in a mapping that was recorded (recorders leave data out): a variable lies where its object's
// code does, as far away as in the object's file.
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
    std::string name;     // of a variable; empty where none of the object is known to lie there
    uint64_t offset = 0;  // in it, or in the object as its addresses count
    /// "queue+0x28"
    [[nodiscard]] std::string label() const;
  };

  /// Both must outlive this.
  DataSymbols(const Machine& machine, const Symbolizer& symbolizer);
  ~DataSymbols();

  /// Nothing where no object with that address was mapped then: heaps, stacks, shared memory. An
  /// object's symbols are read when it is asked for first.
  [[nodiscard]] std::optional<Found> find(uint32_t pid, uint64_t time_ns, RuntimeAddr address);

 private:
  struct Variables;
  const Variables& variables_of(DsoId dso);

  const Machine& machine_;
  const Symbolizer& symbolizer_;
  std::vector<std::unique_ptr<Variables>> by_dso_;
};

}  // namespace sonde
