// The recorded kernel's code, for following traces through it.
//
// Of the kernel and its modules it is that of the kernel's memory (KernelCore: the recording's own
// copy, one in the build-id cache, this boot's /proc/kcore), which is patched as it ran; else the
// kernel's is that of its vmlinux (--vmlinux, or a file with its build id). BPF programs are in the
// recording. A module's .ko is not used: its calls are not filled in.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include <tsl/robin_map.h>

#include "base/hashing/number_hash.h"
#include "machine/machine.h"
#include "symbol/kernel_core.h"
#include "symbol/object_finder.h"

namespace sonde::itrace {

inline bool is_kernel_address(uint64_t address) {
  return static_cast<int64_t>(address) < 0;
}

class KernelCode {
 public:
  /// Where it is looked for, when it is needed.
  struct Sources {
    std::function<Result<KernelCore>(const Dso& kernel)> memory;
    std::function<FoundObject(DsoId id, const Dso& kernel)> vmlinux;
  };
  KernelCode(const Recording& recording, const Machine& machine, Sources sources)
      : recording_(recording), machine_(machine), sources_(std::move(sources)) {}

  /// Copies code at an address of the kernel's, as much as is there; returns the size.
  size_t read(uint64_t time_ns, uint64_t address, std::span<std::byte> to);
  /// What is mapped at an address, if nothing of it is here.
  DsoId missing_object(uint64_t time_ns, uint64_t address);
  /// When the latest answer holds: from the first time, and before the second.
  [[nodiscard]] std::pair<uint64_t, uint64_t> valid() const { return valid_; }

 private:
  /// A section of the vmlinux, at the addresses of the recording.
  struct Text {
    uint64_t start;
    Bytes bytes;
  };

  void open();
  void open_vmlinux(const Dso& kernel);
  size_t read_core(uint64_t address, std::span<std::byte> to, bool of_module);
  [[nodiscard]] size_t read_vmlinux(uint64_t address, std::span<std::byte> to) const;

  const Recording& recording_;
  const Machine& machine_;
  Sources sources_;
  bool is_open_ = false;
  std::pair<uint64_t, uint64_t> valid_ = {0, UINT64_MAX};
  std::optional<KernelCore> core_;
  FoundObject vmlinux_;
  std::vector<Text> texts_;
  /// Pages of the kernel's memory; empty: they are not there.
  tsl::robin_map<uint64_t, std::vector<std::byte>, NumberHash> pages_;
};

}  // namespace sonde::itrace
