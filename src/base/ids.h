// Typed 32-bit ids and typed addresses: tables own things, everything else holds an id; and the
// three address spaces of a profiler (run time, file, ELF virtual) don't convert into each other
// implicitly.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace sonde {

/// An index into the table named by `Tag`. Default-constructed ids are `kNone`.
template <typename Tag>
struct Id {
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t value = kNone;

  constexpr Id() = default;
  constexpr explicit Id(size_t index) : value(static_cast<uint32_t>(index)) {}
  [[nodiscard]] constexpr bool valid() const { return value != kNone; }
  [[nodiscard]] constexpr size_t index() const { return value; }
  constexpr auto operator<=>(const Id&) const = default;
};

/// A 64-bit address in the space named by `Tag`. Distances are plain integers.
template <typename Tag>
struct Address {
  uint64_t value = 0;

  constexpr Address() = default;
  constexpr explicit Address(uint64_t v) : value(v) {}
  constexpr auto operator<=>(const Address&) const = default;
  constexpr Address operator+(uint64_t distance) const { return Address(value + distance); }
  constexpr Address operator-(uint64_t distance) const { return Address(value - distance); }
  constexpr uint64_t operator-(Address other) const { return value - other.value; }
};

using RuntimeAddr = Address<struct RuntimeAddrTag>;  // as the running program or kernel saw it
using FileOffset = Address<struct FileOffsetTag>;    // bytes from the start of an object's file
using ElfAddr =
    Address<struct ElfAddrTag>;  // st_value, p_vaddr: the object's own virtual addresses

}  // namespace sonde

template <typename Tag>
struct std::hash<sonde::Id<Tag>> {
  size_t operator()(sonde::Id<Tag> id) const noexcept { return std::hash<uint32_t>()(id.value); }
};
template <typename Tag>
struct std::hash<sonde::Address<Tag>> {
  size_t operator()(sonde::Address<Tag> a) const noexcept { return std::hash<uint64_t>()(a.value); }
};
