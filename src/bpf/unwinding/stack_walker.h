// StackWalker: a BPF program for sampling events that walks the user stack of the sampled thread by
// call frame information, in the kernel, and writes the chain in front of the sample.
//
//   StackWalker walker = TRY(StackWalker::open());
//   walker.put_rules(first, rules); walker.put_tables(slots, tables); walker.put_object(key,
//   object); walker.set_carrier(cpu, fd);            a bpf-output event that writes to the CPU's
//   ring ioctl(event, PERF_EVENT_IOC_SET_BPF, walker.program()) poll(walker.requests()) …
//   walker.take_requests()     objects that are not known yet
//
// Opened with StackSumOptions, it counts samples by their chains instead; what only readers can
// unwind, and what finds no room, is written all the same.
//
//   walker.attach_counted(fd, event) …  walker.sums().take()
//
// Which object is mapped where, the program sees in the kernel. Every map is bounded
// (programs/stack_walk.h). Nothing is pinned: all of it disappears with the process, however that
// ends.
#pragma once

#include <linux/types.h>
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"
#include "bpf/aggregation/stack_sums.h"
#include "bpf/programs/interpreted_code.h"
#include "bpf/programs/python_frames.h"
#include "bpf/programs/ruby_frames.h"
#include "bpf/programs/stack_walk.h"

namespace sonde {

class StackWalker {
 public:
  /// Errors name what the kernel lacks, or what it refused.
  static Result<StackWalker> open(const std::optional<StackSumOptions>& sums = {});
  StackWalker(StackWalker&&) noexcept;
  StackWalker& operator=(StackWalker&&) noexcept;
  ~StackWalker();

  /// Descriptor of the program; owned by this object.
  [[nodiscard]] int program() const;
  /// Of a walker that counts: gives it an event of which rows say `event`. Needed for several
  /// events; rows of an event that was given the program in another way say 0. The descriptor must
  /// stay open. Returns an error number, or 0.
  int attach_counted(int fd, uint16_t event);
  /// What was counted.
  [[nodiscard]] SumMaps& sums();
  Result<> set_carrier(int cpu, int fd);
  /// From now on the table of a program is asked for when it begins: of any, or only of those that
  /// the process `below` and its descendants execute.
  Result<> watch_programs(std::optional<pid_t> below);

  // Each returns false if the kernel refuses, mostly for want of memory.
  /// Rules from number `first` on, all or none.
  bool put_rules(uint32_t first, std::span<const walk_rule> rules);
  /// Descriptor of a table that walks cannot see yet; invalid if the kernel refuses.
  [[nodiscard]] static Fd make_table(std::span<const walk_row> rows);
  /// Makes tables visible. However many there are, the kernel waits once until no walk that began
  /// before is in progress (a grace period of RCU: 20 to 250 ms on a busy machine).
  bool put_tables(std::span<const uint32_t> slots, std::span<const int> tables);
  void drop_table(uint32_t slot);
  bool put_object(const walk_object_key& key, const walk_object& object);
  [[nodiscard]] std::optional<walk_object> find_object(const walk_object_key& key) const;
  void forget_object(const walk_object_key& key);

  /// Becomes readable when there are requests.
  [[nodiscard]] int requests() const;
  std::vector<walk_request> take_requests();

  /// From now on the walk goes through the Python frames of objects whose `python` is this index
  /// plus 1. False if the kernel refuses.
  bool put_python(uint32_t index, const python_layout& layout);
  /// Likewise for the Ruby frames of objects with this `ruby`.
  bool put_ruby(uint32_t index, const ruby_layout& layout);
  /// Code objects of interpreters that walks have met for the first time, with what there is of
  /// their table of lines. A description comes before the first chain that refers to it. Not
  /// thread-safe.
  void take_codes(const std::function<void(const code_description&, Bytes lines)>& visit);
  using CodeLosses = std::array<uint64_t, CODE_LOSSES>;  // by code_loss
  [[nodiscard]] CodeLosses codes_lost(interpreter of) const;

  struct Lost {
    uint64_t chains = 0;   // for which the ring had no room
    uint64_t objects = 0;  // requests for which there was no room
  };
  [[nodiscard]] Lost lost() const;

 private:
  struct Program;
  explicit StackWalker(std::unique_ptr<Program> program);
  std::unique_ptr<Program> program_;
};

}  // namespace sonde
