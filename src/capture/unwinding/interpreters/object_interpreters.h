// ObjectInterpreters: the interpreters that objects contain, as the BPF stack walker numbers them.
//
//   ObjectInterpreters interpreters(walker);
//   FoundInterpreters found = find_interpreters(elf);
//   auto numbers = interpreters.add(key, path, found, loop_bytes);
//   … entry.python = numbers.python, entry.ruby = numbers.ruby …
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bpf/unwinding/stack_walker.h"
#include "capture/unwinding/chain_joiner.h"
#include "capture/unwinding/interpreters/python_layout.h"
#include "capture/unwinding/interpreters/ruby_layout.h"

namespace sonde {

struct FoundInterpreters {
  std::optional<PythonInterpreter> python;
  std::optional<RubyInterpreter> ruby;
};

/// Of an object.
[[nodiscard]] FoundInterpreters find_interpreters(const ElfFile& file);

class ObjectInterpreters {
 public:
  /// `walker` must outlive this object.
  explicit ObjectInterpreters(StackWalker& walker) : walker_(walker) {}

  /// 0: there is none, or one whose frames cannot be read.
  struct Numbers {
    uint32_t python = 0, ruby = 0;
  };
  /// Of the code from one file offset to another, the bytes of stack that most of it has.
  using FrameBytes = std::function<uint32_t(uint64_t start, uint64_t end)>;
  Numbers add(const walk_object_key& key, const std::string& path, FoundInterpreters found,
              const FrameBytes& frame_bytes);
  /// Objects with an interpreter whose frames cannot be read, and which are known:
  /// "libpython3.7m.so (CPython before 3.8): its Python frames cannot be read: CPython 3.8 to 3.13
  /// are known".
  [[nodiscard]] const std::vector<std::string>& unknown() const { return unknown_; }

 private:
  void add_unknown(std::string line);

  StackWalker& walker_;
  std::map<walk_object_key, Numbers, ObjectOrder> numbers_;
  uint32_t pythons_ = 0, rubies_ = 0;
  std::vector<std::string> unknown_;
};

}  // namespace sonde
