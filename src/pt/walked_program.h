// A program for tests of walks, whose code has all that traces tell of, and a listener that writes
// down what it is told.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "pt/flow_decoder.h"

namespace sonde::pt {

inline constexpr uint64_t kProgramStart = 0x401000;

/// All that events bind to and branches can be.
inline const std::vector<uint8_t> kCodeBytes = {
    0xe8, 0x1b, 0,    0,    0,  // 00 call 20
    0x75, 0x05,                 // 05 jne 0c
    0xff, 0xe0,                 // 07 jmp *rax
    0x90, 0x90, 0x90,           // 09 nop, nop, nop
    0xff, 0xd0,                 // 0c call *rax
    0x0f, 0x22, 0xd8,           // 0e mov rax, cr3
    0x0f, 0xc7, 0x30,           // 11 vmptrld (rax)
    0xeb, 0x02,                 // 14 jmp 18
    0x0f, 0x05,                 // 16 syscall
    0xe8, 0,    0,    0,    0,  // 18 call 1d
    0x58,                       // 1d pop rax
    0x75, 0xe0,                 // 1e jne 00
    0x55, 0x48, 0x89, 0xe5,     // 20 push rbp; mov rsp, rbp
    0x74, 0x01,                 // 24 je 27
    0x90,                       // 26 nop
    0x0f, 0x01, 0xc2,           // 27 vmlaunch
    0x5d, 0xc3,                 // 2a pop rbp; ret
    0x0f, 0x01, 0xd5,           // 2c xend
    0x48, 0xcf,                 // 2f iretq
    0xeb, 0xcd,                 // 31 jmp 00
};
inline const std::vector<uint8_t> kInstructions = {0x00, 0x05, 0x07, 0x09, 0x0a, 0x0b, 0x0c, 0x0e,
                                                   0x11, 0x14, 0x16, 0x18, 0x1d, 0x1e, 0x20, 0x21,
                                                   0x24, 0x26, 0x27, 0x2a, 0x2b, 0x2c, 0x2f, 0x31};

class ProgramCode final : public CodeReader {
 public:
  size_t read(uint64_t address, std::span<std::byte> to, uint64_t) override {
    if (address < kProgramStart || address - kProgramStart >= kCodeBytes.size()) return 0;
    size_t at = address - kProgramStart;
    size_t count = std::min(to.size(), kCodeBytes.size() - at);
    std::memcpy(to.data(), kCodeBytes.data() + at, count);
    return count;
  }
};

struct Told {
  std::string text;
  InstructionKind kind = InstructionKind::kOther;
  bool is_instruction = false;
  uint64_t ip = 0;
};

class Listener : public FlowObserver {
 public:
  void instruction(const Instruction& i, uint64_t now) override {
    if (told.size() >= kMostTold) return;
    told.push_back({fmt::format("{:x} {} {} {}{} at {}", i.ip, i.size, static_cast<int>(i.kind),
                                i.is_64_bit ? 64 : 32, i.in_transaction ? " tx" : "", now),
                    i.kind, true, i.ip});
  }
  void enabled(uint64_t ip, uint64_t now) override { add("on {:x} {}", ip, now); }
  void disabled(std::optional<uint64_t> at, std::optional<uint64_t> to, uint64_t now) override {
    add("off {:x} {:x} {}", at.value_or(1), to.value_or(1), now);
  }
  void interrupted(uint64_t from, std::optional<uint64_t> to, uint64_t now) override {
    add("interrupt {:x} {:x} {}", from, to.value_or(1), now);
  }
  void transaction(bool begins, bool aborted, std::optional<uint64_t> ip, uint64_t now) override {
    add("transaction {} {} {:x} {}", begins, aborted, ip.value_or(1), now);
  }
  void ptwrite(std::optional<uint64_t>, uint64_t value, uint64_t now) override {
    add("ptwrite {:x} {}", value, now);
  }
  void core_frequency(uint32_t ratio, uint64_t now) override { add("ratio {} {}", ratio, now); }
  void lost(FlowError why, uint64_t ip, uint64_t now) override {
    add("{} {:x} {}", describe(why), ip, now);
  }

  static constexpr size_t kMostTold = 4000;  // of code in circles
  std::vector<Told> told;

 protected:
  template <typename... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    told.push_back({fmt::format(format, std::forward<Args>(args)...)});
  }
};

inline std::string text_of(const std::vector<Told>& told) {
  std::string text;
  for (const Told& one : told) text += one.text + "\n";
  return text;
}

}  // namespace sonde::pt
