// Bytes of untrusted input: a byte order, and a cursor that never reads past its end.
//
// The cursor does not return errors per field. It remembers that it ran out; the reader of a
// structure checks `ok()` once at the end, and until then gets zeros. So a decoder reads as the
// list of fields that it decodes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace sonde {

using Bytes = std::span<const std::byte>;

enum class ByteOrder : uint8_t { kLittle, kBig };
inline constexpr ByteOrder kHostOrder =
    std::endian::native == std::endian::little ? ByteOrder::kLittle : ByteOrder::kBig;

/// Reads an integer at `at`, which must have sizeof(T) bytes.
template <typename T>
[[nodiscard]] inline T load(const std::byte* at, ByteOrder order = kHostOrder) {
  static_assert(std::is_integral_v<T>);
  T value;
  std::memcpy(&value, at, sizeof value);
  if constexpr (sizeof(T) > 1)
    if (order != kHostOrder) value = std::byteswap(value);
  return value;
}

class ByteCursor {
 public:
  explicit ByteCursor(Bytes bytes, ByteOrder order = kHostOrder)
      : at_(bytes.data()), end_(bytes.data() + bytes.size()), begin_(bytes.data()), order_(order) {}

  template <typename T>
  T get() {
    if (left() < sizeof(T)) [[unlikely]]
      return fail_and<T>();
    T value = load<T>(at_, order_);
    at_ += sizeof(T);
    return value;
  }
  uint8_t u8() { return get<uint8_t>(); }
  uint16_t u16() { return get<uint16_t>(); }
  uint32_t u32() { return get<uint32_t>(); }
  uint64_t u64() { return get<uint64_t>(); }

  /// The next `size` bytes; empty, and not ok, if fewer are left.
  Bytes take(uint64_t size) {
    if (left() < size) [[unlikely]] {
      fail_and<int>();
      return {};
    }
    Bytes taken(at_, static_cast<size_t>(size));
    at_ += size;
    return taken;
  }
  void skip(uint64_t size) { take(size); }
  /// A string in a fixed-size field, up to its terminating NUL.
  std::string_view fixed_string(uint64_t size) {
    Bytes field = take(size);
    std::string_view text(reinterpret_cast<const char*>(field.data()), field.size());
    return text.substr(0, text.find('\0'));
  }
  /// Everything that is left.
  Bytes rest() { return take(left()); }

  [[nodiscard]] size_t left() const { return static_cast<size_t>(end_ - at_); }
  [[nodiscard]] size_t position() const { return static_cast<size_t>(at_ - begin_); }
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] ByteOrder order() const { return order_; }
  /// Whether `count` items of `item_size` bytes can still follow: check this before reserving for
  /// an untrusted count.
  [[nodiscard]] bool fits(uint64_t count, size_t item_size) const {
    return count <= left() / item_size;
  }

 private:
  template <typename T>
  T fail_and() {
    ok_ = false;
    at_ = end_;
    return T{};
  }

  const std::byte* at_;
  const std::byte* end_;
  const std::byte* begin_;
  ByteOrder order_;
  bool ok_ = true;
};

/// Views text as bytes and bytes as text.
[[nodiscard]] inline Bytes as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}
[[nodiscard]] inline std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Appends integers and strings in a chosen byte order: the inverse of ByteCursor.
class ByteBuilder {
 public:
  explicit ByteBuilder(ByteOrder order = kHostOrder) : order_(order) {}
  template <typename T>
  void put(T value) {
    static_assert(std::is_integral_v<T>);
    if constexpr (sizeof(T) > 1)
      if (order_ != kHostOrder) value = std::byteswap(value);
    append(&value, sizeof value);
  }
  void u8(uint8_t v) { put(v); }
  void u16(uint16_t v) { put(v); }
  void u32(uint32_t v) { put(v); }
  void u64(uint64_t v) { put(v); }
  void bytes(Bytes b) { append(b.data(), b.size()); }
  void text(std::string_view t) { append(t.data(), t.size()); }
  void zeros(size_t count) { data_.resize(data_.size() + count); }
  /// Text, NUL, and zeros up to a multiple of `alignment`, counted from the start of the text.
  void padded_string(std::string_view t, size_t alignment);
  /// Overwrites an integer that was written before.
  template <typename T>
  void patch(size_t position, T value) {
    if constexpr (sizeof(T) > 1)
      if (order_ != kHostOrder) value = std::byteswap(value);
    std::memcpy(data_.data() + position, &value, sizeof value);
  }

  [[nodiscard]] size_t size() const { return data_.size(); }
  [[nodiscard]] Bytes view() const { return data_; }
  [[nodiscard]] ByteOrder order() const { return order_; }
  void clear() { data_.clear(); }
  /// Drops everything after the first `size` bytes.
  void truncate(size_t size) { data_.resize(size); }

 private:
  void append(const void* from, size_t size);
  std::vector<std::byte> data_;
  ByteOrder order_;
};

}  // namespace sonde
