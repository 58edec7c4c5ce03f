// What is known about the values in registers and stack slots at one point in the code.
//
//   mov  0x10(%rdi),%rax     rdi: pointer to struct list   ⟹  rax: pointer to struct node
//   lea  0x8(%rax),%rcx                                        rcx: pointer into struct node, at 8
//   mov  %rcx,0x18(%rsp)     rsp: CFA-64                       the slot at CFA-40: the same
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "dwarf/data_index.h"

namespace sonde::datatype {

struct Value {
  enum class Kind : uint8_t {
    kUnknown,
    kPointer,   // to `offset` bytes into an object of `type`
    kFrame,     // the frame's CFA + offset
    kConstant,  // `offset` itself: an address of static data, or 0
    kThread,    // `offset` bytes into the object's block of thread-local storage
  };
  Kind kind = Kind::kUnknown;
  /// It may point to any element of an array: offsets beyond the type are in other elements.
  bool of_array = false;
  DataTypeId type;
  int64_t offset = 0;
  bool operator==(const Value&) const = default;
};

inline constexpr size_t kRegisters = 32;

class RegisterValues {
 public:
  [[nodiscard]] const Value& operator[](uint8_t reg) const {
    static constexpr Value kNothing;
    return reg < kRegisters ? registers_[reg] : kNothing;
  }
  void set(uint8_t reg, const Value& value) {
    if (reg < kRegisters) registers_[reg] = value;
  }
  void forget(uint64_t registers);

  /// By offset from the CFA; unknown if nothing was stored.
  [[nodiscard]] Value slot(int64_t offset) const;
  void set_slot(int64_t offset, const Value& value);

  bool operator==(const RegisterValues&) const = default;

 private:
  friend class ValueMeeting;
  std::array<Value, kRegisters> registers_{};
  std::vector<std::pair<int64_t, Value>> slots_;  // by offset; known values only
};

/// Merges values at a control flow join: keeps what both sides agree on.
class ValueMeeting {
 public:
  explicit ValueMeeting(DataIndex& index) : index_(index), types_(index.types()) {}
  /// Whether `into` changed. Values only ever lose information, so iteration terminates.
  bool meet(RegisterValues& into, const RegisterValues& other);

 private:
  [[nodiscard]] Value meet(const Value& a, const Value& b);
  [[nodiscard]] Value into_variable(const Value& address);
  [[nodiscard]] bool is_same_array(const Value& a, const Value& b);
  DataIndex& index_;
  DataTypes& types_;
};

}  // namespace sonde::datatype
