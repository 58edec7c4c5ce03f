// What a processor wrote into its trace instead of into a PEBS record (Intel SDM, volume 3, "PEBS
// output to Intel PT"): blocks of numbered items, by the block's type.
//
//   BlockItems items;
//   items.read(packets);                                     // BBP, BIP …, without the BEP
//   items.get(BlockType::kBasic, BlockItems::kIp)            // nothing: it was not written
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "base/bytes.h"

namespace sonde::pt {

/// The types of a BBP packet.
enum class BlockType : uint8_t {
  kRegisters = 0x01,
  kBasic = 0x04,
  kMemory = 0x05,
  kBranches = 0x08,      // the latest ten; each has three items: from, to, LBR_INFO
  kMoreBranches = 0x09,  // the ten before
  kMostBranches = 0x0a,
  kXmm = 0x10,  // each register has two items, the lower half first
};

class BlockItems {
 public:
  // Numbers of items.
  enum Register : uint8_t { kFlags = 0, kRip = 1, kRax = 2 };
  enum Basic : uint8_t { kIp = 0, kCounters = 1, kTimestamp = 2 };
  enum Memory : uint8_t { kAddress = 0, kAuxInfo = 1, kLatency = 2, kTransaction = 3 };
  static constexpr size_t kItems = 32;  // of a block at most

  /// Forgets what was read before. Of items that come twice, the later one counts; blocks of other
  /// types are left out.
  void read(Bytes packets);

  [[nodiscard]] std::optional<uint64_t> get(BlockType type, size_t number) const {
    size_t at = place_of(static_cast<uint8_t>(type));
    if ((present_[at] >> number & 1) == 0) return std::nullopt;
    return values_[at][number];
  }
  /// A bit for each item that is there.
  [[nodiscard]] uint32_t present(BlockType type) const {
    return present_[place_of(static_cast<uint8_t>(type))];
  }
  /// Those that are not there mean nothing.
  [[nodiscard]] std::span<const uint64_t, kItems> all(BlockType type) const {
    return values_[place_of(static_cast<uint8_t>(type))];
  }
  /// Whether registers were written as 32 bits.
  [[nodiscard]] bool is_32_bit() const { return is_32_bit_; }

 private:
  static constexpr size_t kTypes = 7;
  /// kTypes: a type that is not known.
  static size_t place_of(uint8_t type);

  std::array<uint32_t, kTypes> present_{};
  std::array<std::array<uint64_t, kItems>, kTypes> values_{};
  bool is_32_bit_ = false;
};

}  // namespace sonde::pt
