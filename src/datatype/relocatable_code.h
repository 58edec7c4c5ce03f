// RelocatableCode: the functions of an unlinked file, such as a kernel module: the file does not
// say where it was loaded, so they are found by name.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elf/elf_file.h"

namespace sonde::datatype {

class RelocatableCode {
 public:
  /// Copies the code sections and applies their relocations.
  explicit RelocatableCode(const ElfFile& image);

  struct Function {
    Bytes code;
    uint64_t address = 0;  // as assigned by RelocatableFile
  };
  [[nodiscard]] bool is_64bit() const { return is_64bit_; }
  /// Nullopt if there is no function of that name, or more than one.
  [[nodiscard]] std::optional<Function> find(std::string_view name) const;

 private:
  bool is_64bit_;
  std::map<uint32_t, std::vector<std::byte>> sections_;  // by index
  std::map<std::string, std::vector<Function>, std::less<>> functions_;
};

}  // namespace sonde::datatype
