// The code of the recorded kernel, from its memory: its modules and the parts that it patched at
// run time are as they ran, which no vmlinux has.
//
// It is looked for in the copy beside the recording (record --kcore) or beside the given symbol
// list, in the build-id cache (buildid-cache --kcore), and in /proc/kcore, if that is the same
// kernel. After a reboot the kernel is at another address; each source has a symbol list that gives
// it.
#pragma once

#include <string>
#include <vector>

#include "elf/core_file.h"
#include "machine/dso.h"

namespace sonde {

class KernelCore {
 public:
  struct Query {
    std::string kallsyms;     // of the recording, or given by the user; empty: none
    std::string buildid_dir;  // empty: no cache
    std::string proc = "/proc";
  };
  /// kNotFound if there is none; the message says what would help.
  static Result<KernelCore> find(const Dso& kernel, const Query& query);

  /// The bytes at a recorded address. Modules move with each boot, so their code is available only
  /// from the boot that was recorded.
  [[nodiscard]] Result<std::vector<std::byte>> code(uint64_t address, uint64_t size,
                                                    bool of_module) const;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  KernelCore(std::string path, CoreFile file, uint64_t slide)
      : path_(std::move(path)), file_(std::move(file)), slide_(slide) {}
  static Result<KernelCore> open(const Dso& kernel, const std::string& directory);

  std::string path_;
  CoreFile file_;
  uint64_t slide_;  // from recorded addresses to the file's
};

}  // namespace sonde
