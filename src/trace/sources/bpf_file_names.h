// BpfFileNames: what the descriptors of calls refer to, from the pieces that BPF programs send for
// them (struct trace_file of bpf/programs/syscall_trace.h): the names of a file once for each
// thread that uses it, after that a label that stands for it.
//
//   item.call.files = names.take(item.call);   // for each record, in their order
//
// A label that was never explained (its record was lost) has no name. The bytes are untrusted.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "bpf/programs/syscall_trace.h"
#include "trace/sources/trace_event.h"

namespace sonde {

/// The name that /proc shows for a file, from a struct trace_file and its names: a path,
/// "socket:[123]", "anon_inode:[eventpoll]". Empty if there is none.
[[nodiscard]] std::string name_of_file(Bytes file);

class BpfFileNames {
 public:
  /// Whether a thread has ended: what it said is dropped once there are many threads.
  using IsGone = std::function<bool(int32_t tid)>;
  explicit BpfFileNames(IsGone is_gone = {}, size_t many = 4096);

  /// Valid until the next call.
  [[nodiscard]] std::span<const ArgFile> take(const SyscallEvent& call);
  /// Threads that are remembered.
  [[nodiscard]] size_t threads() const { return threads_.size(); }

 private:
  struct Known {
    uint64_t label = 0;
    uint32_t fd = 0;
    std::string name;
  };
  /// As the kernel side keeps them: by the lowest bits of the descriptor.
  using Slots = std::array<Known, TRACE_FILE_SLOTS>;
  Slots& slots_of(int32_t tid);
  void drop_the_gone();

  IsGone is_gone_;
  size_t least_, many_;
  std::unordered_map<int32_t, std::unique_ptr<Slots>> threads_;
  std::array<std::string, 6> texts_;
  std::vector<ArgFile> files_;
};

}  // namespace sonde
