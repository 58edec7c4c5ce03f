// MachineBuilder: the one way in which records become a Machine: which of them change it, in what
// order, and what the header adds.
//
//   MachineBuilder builder(MachineLevel::kKernel);
//   … builder.keep(record) for every record that is not a sample, in file order …
//   builder.build(machine, events, features, losses);
#pragma once

#include <span>
#include <vector>

#include "base/loss.h"
#include "machine/machine.h"
#include "perfdata/header/event_table.h"
#include "perfdata/header/features.h"
#include "replay/passes/jit_replay.h"

namespace sonde {

/// A record that is not a sample, with its time.
struct OtherRecord {
  uint64_t time;
  EventId event;  // from its id block; invalid without one
  RecordView view;
};

/// How much of the recorded machine is wanted; each level includes those before it, but that with
/// kKernel, threads keep their names beyond their end.
enum class MachineLevel : uint8_t {
  kNames,   // threads, and their names over time
  kKernel,  // the kernel's own code
  kAll,     // the memory of processes, guests, cgroups and namespaces
};

/// Whether a record changes a machine of this level.
[[nodiscard]] bool changes_machine(const RecordView& record, MachineLevel level);

/// Applies records that are in time order, ignoring those that change nothing. `jit`, if given,
/// looks for jitdumps and adds their contents at their time. Leaves freezing the machine to the
/// caller.
void apply_in_order(std::span<const OtherRecord> records, const EventTable& events,
                    Machine& machine, JitReplay* jit, LossLedger& losses);

class MachineBuilder {
 public:
  explicit MachineBuilder(MachineLevel level) : level_(level) {}

  /// The record's memory must live until build().
  void keep(const OtherRecord& record) {
    if (changes_machine(record.view, level_)) records_.push_back(record);
  }
  /// Applies what was kept, once, adds the header's build ids, and freezes the machine.
  void build(Machine& machine, const EventTable& events, const Features& features,
             LossLedger& losses, JitReplay* jit = nullptr);

 private:
  MachineLevel level_;
  std::vector<OtherRecord> records_;
};

}  // namespace sonde
