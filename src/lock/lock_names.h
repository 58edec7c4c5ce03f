// Names of locks that are kernel variables: the kernel's symbol list includes data. Most locks are
// inside objects, and have no name.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace sonde {

class LockNames {
 public:
  /// `kallsyms`: the path of the symbol list; without one, there are no names. Read on first use.
  explicit LockNames(std::string kallsyms) : path_(std::move(kallsyms)) {}
  /// Takes names from the text of a list; for tests.
  static LockNames of_text(std::string_view kallsyms);

  /// The variable that contains an address; empty if there is none.
  [[nodiscard]] std::string name(uint64_t address);
  /// Converts words to addresses: "0xffff888100093dc0", or the name of a variable. Fails with
  /// kUsage on a word that is neither.
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
  std::vector<Variable> variables_;  // by address; includes code symbols, which end them
};

}  // namespace sonde
