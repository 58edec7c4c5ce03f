// BtfText: values as the kernel's own types (BTF) describe them: the names of enumerators, and
// structures with their members. Types are named as tracefs declares fields and arguments.
//
//   BtfText types;
//   types.enumerator("enum hrtimer_mode", 1)          // "HRTIMER_MODE_REL"
//   types.declared("clock_nanosleep", 2)              // "const struct __kernel_timespec *"
//   types.append_pointed(declared, bytes, {}, out)    // (struct __kernel_timespec){.tv_sec = 1,}
//
// The types are read when the first is asked for, which takes milliseconds; without any, nothing
// has a name. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "event/print_fmt/tracefs.h"

struct btf;
struct btf_dump;

namespace sonde {

class BtfText {
 public:
  /// The running kernel's types.
  BtfText();
  BtfText(BtfText&&) noexcept;
  BtfText& operator=(BtfText&&) noexcept;
  ~BtfText();
  /// The content of a .BTF section, for tests. kCorrupt if it is invalid.
  static Result<BtfText> parse(Bytes bytes);
  /// None: of another kernel, whose types are not known.
  static BtfText none();

  /// kUnsupported if the kernel has no types, or they cannot be read.
  Result<> check();
  /// Empty if the type is not an enumeration, or has no such value.
  std::string_view enumerator(std::string_view declaration, uint64_t value);
  /// The type of argument `index` of a system call; empty if it is not known.
  std::string_view declared(std::string_view call, size_t index);

  struct Style {
    bool names = true, zeros = false;  // of members
  };
  /// Appends the structure that a pointer of this type leads to, in libbpf's form. False if it is
  /// no such pointer or `bytes` has less than the structure.
  bool append_pointed(std::string_view declaration, Bytes bytes, const Style& style,
                      std::string& out);

 private:
  struct Free {
    void operator()(btf* types) const;
    void operator()(btf_dump* dump) const;
  };
  struct Text;  // what libbpf prints into

  [[nodiscard]] bool load();
  /// Of a structure or enumeration by its full name, "struct NAME" or "enum NAME"; 0: not known.
  uint32_t type_of(std::string_view name);

  bool is_loaded_ = false;
  std::unique_ptr<Text> text_;
  std::unique_ptr<btf, Free> types_;
  std::unique_ptr<btf_dump, Free> dump_;
  std::map<std::string, uint32_t, std::less<>> ids_;
  Tracefs tracefs_;
  std::map<std::string, std::vector<std::string>, std::less<>> calls_;  // types of arguments
};

}  // namespace sonde
