// RelocatableCode: the functions of a file that was not linked, a module of the kernel: where it
// was loaded its file does not say, so they are found by their names.
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
  /// Copies the sections with code, and puts into them what their relocations say.
  explicit RelocatableCode(const ElfFile& image);

  struct Function {
    Bytes code;
    uint64_t address = 0;  // as RelocatableFile makes them up
  };
  [[nodiscard]] bool is_64bit() const { return is_64bit_; }
  /// Nothing where there is no function of that name, or more than one.
  [[nodiscard]] std::optional<Function> find(std::string_view name) const;

 private:
  bool is_64bit_;
  std::map<uint32_t, std::vector<std::byte>> sections_;  // by index
  std::map<std::string, std::vector<Function>, std::less<>> functions_;
};

}  // namespace sonde::datatype
