// CodeImage: the instructions of a process that is being stepped, and the mappings they come from.
//
// A trace has no instructions: whoever decodes it reads them from the mapped files. So only code
// that is in its file, unchanged, can be traced. Anything else is refused, by name.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "stepping/instruction_kind.h"

namespace sonde {

/// An executable mapping, as /proc/PID/maps has it.
struct CodeMapping {
  uint64_t start = 0, end = 0, offset = 0, inode = 0;
  uint32_t major = 0, minor = 0;
  bool readable = false, writable = false, shared = false;
  std::string path;
  bool operator==(const CodeMapping&) const = default;
};

class CodeImage {
 public:
  explicit CodeImage(pid_t pid) : pid_(pid) {}

  /// The instruction at `ip`. Fails with kUnsupported if a decoder could not read it later, with
  /// kNotFound if there is no code.
  Result<StepInstruction> at(uint64_t ip);
  /// Mappings may have changed: reads them anew, and forgets code. The mappings that were not there
  /// before.
  std::vector<CodeMapping> reload();

  [[nodiscard]] const std::vector<CodeMapping>& mappings() const { return mappings_; }

 private:
  static constexpr uint64_t kPageBits = 12, kPageSize = uint64_t{1} << kPageBits;
  struct Page {
    std::vector<std::byte> bytes;  // and the beginning of the next page
    std::array<StepInstruction, kPageSize> instructions;
  };

  Result<Page*> load(uint64_t number);
  Result<> check_unchanged(const CodeMapping& mapping, uint64_t start, Page& page) const;
  [[nodiscard]] const CodeMapping* find(uint64_t ip) const;
  [[nodiscard]] std::vector<std::byte> read_memory(uint64_t start, size_t size);

  pid_t pid_;
  Fd memory_;
  std::vector<CodeMapping> mappings_;
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
  uint64_t last_number_ = UINT64_MAX;
  Page* last_page_ = nullptr;
};

}  // namespace sonde
