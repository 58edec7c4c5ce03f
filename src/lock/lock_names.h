// Names of locks that are variables of the kernel: its list of symbols has the data, too. Most
// locks lie in objects, and have none.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace sonde {

class LockNames {
 public:
  /// `kallsyms`: the path of the list; where it is none, there are no names. Read when first asked.
  explicit LockNames(std::string kallsyms) : path_(std::move(kallsyms)) {}
  /// Names from a list's text; for tests.
  static LockNames of_text(std::string_view kallsyms);

  /// The variable that an address lies in; empty where it is none.
  [[nodiscard]] std::string name(uint64_t address);
  /// Words as addresses: "0xffff888100093dc0", or the name of a variable. kUsage where one is
  /// neither.
  Result<std::vector<uint64_t>> addresses(std::span<const std::string> words);

 private:
  struct Variable {
    uint64_t address;
    std::string name;
    bool is_data;
  };
  void read();
  void parse(std::string_view text);

  std::string path_;
  bool is_read_ = false;
  std::vector<Variable> variables_;  // by address; with the symbols of code, which end them
};

}  // namespace sonde
