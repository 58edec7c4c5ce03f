// FetchText: a fetch argument under construction, in the kernel's syntax (kernel documentation,
// "Uprobe-tracer", "Kprobe-based Event Tracing"): a register, an address or a number, then memory
// that pointers lead to.
//
//   FetchText fetch = FetchText::of_register("%di");
//   fetch.follow(24, false);  fetch.move(8);       "+32(%di)"
//   fetch.follow(0, false);                        "+0(+32(%di))"
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "probe/requested_probe.h"

namespace sonde {

class FetchText {
 public:
  static FetchText of_register(std::string name);
  static FetchText of_constant(int64_t value);
  /// `base` is what the kernel calls a place in memory: "@jiffies"; `offset` is added to it.
  static FetchText of_symbol(std::string base, int64_t offset);
  /// An address in the probed object's own file.
  static FetchText of_file_offset(uint64_t offset);

  /// The place's address, not its content: only what is there can be fetched.
  static FetchText of_address(FetchText place) {
    place.is_address_ = true;
    return place;
  }

  [[nodiscard]] bool is_address() const { return is_address_; }
  /// Whether it is a place in memory, of which parts can be fetched.
  [[nodiscard]] bool is_memory() const {
    return !is_address_ && (kind_ >= Kind::kSymbol || !steps_.empty());
  }
  [[nodiscard]] bool is_constant() const { return kind_ == Kind::kConstant; }

  /// The memory `offset` bytes after where the value so far points. `user`: of the process, when
  /// the kernel is probed.
  void follow(int64_t offset, bool user);
  /// The memory `offset` bytes further. Requires is_memory().
  void move(int64_t offset);

  [[nodiscard]] std::string text() const;

 private:
  enum class Kind : uint8_t { kRegister, kConstant, kSymbol, kFileOffset };
  struct Step {
    int64_t offset;
    bool user;
  };
  Kind kind_ = Kind::kRegister;
  std::string base_;
  int64_t offset_ = 0;
  std::vector<Step> steps_;
  bool is_address_ = false;
};

/// The tracer's name of a register ("%di", "%x0") by its DWARF number; nullopt if the tracer has no
/// such register (those of floating-point numbers).
[[nodiscard]] std::optional<std::string> fetch_register(uint64_t number, uint16_t machine);

/// The name of an argument: the user's; else that of the last member, or of the variable with its
/// type: "state", "size", "path_string".
[[nodiscard]] std::string fetch_name(const RequestedArgument& argument);

/// A bit field: the container that holds it, and its type: offset 4 and "b3@5/32".
struct BitFieldFetch {
  uint64_t offset = 0;  // bytes
  std::string type;
};
/// `first_bit` counts from the start of the record, from the least significant bit of each byte;
/// `size` is that of the declared type. nullopt if no container holds all of it.
[[nodiscard]] std::optional<BitFieldFetch> bit_field_fetch(uint64_t first_bit, uint32_t bits,
                                                           uint64_t size);

/// Whether a type that the user gave is one of text, to which a pointer leads.
[[nodiscard]] bool is_string_type(std::string_view type);
/// "x", "u", "s": the size is to be that of the variable.
[[nodiscard]] bool is_bare_type(std::string_view type);

}  // namespace sonde
