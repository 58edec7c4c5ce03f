// `inject --aslr`: a copy of a recording that does not tell where code and data were in memory, so
// that it can be given away without weakening the address space layout randomisation of the machine
// that it comes from. Objects get other addresses, the same in the order of their appearance for
// all recordings; offsets inside them stay, so symbols and lines are found as before.
//
//   libc.so  7f31c0a26000 → 010040026000     kernel  ffffffffa2e00000 → ffffffff81000000
//
// What may contain addresses and cannot be translated is left out: registers, stack copies, raw
// data of tracepoints, physical addresses, code that was patched, images of BPF programs. An
// address outside all mappings becomes 0. Records must come in order of time.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "objects/record_rewriter.h"
#include "perfdata/read/recording.h"
#include "perfdata/records/sideband.h"

namespace sonde {

class HiddenAddresses final : public RecordRewriter {
 public:
  explicit HiddenAddresses(const Recording& recording);
  /// The events as the copy has them.
  [[nodiscard]] const std::vector<EventDesc>& events() const { return events_; }
  /// Removes what contains addresses from the header's sections. This object must outlive them.
  void clean(Features& features);

  bool rewrite(const InjectedRecord& record, ByteBuilder& out) override;

 private:
  /// Added to the addresses from its key, the start, up to `end`.
  struct Piece {
    uint64_t end, shift;
  };
  using Space = std::map<uint64_t, Piece>;
  struct Region {
    uint64_t base, size;
  };
  static void map(Space& space, uint64_t start, uint64_t end, uint64_t shift);
  static uint64_t translate(const Space& space, uint64_t address);
  [[nodiscard]] uint64_t hidden(uint32_t pid, uint64_t address) const;
  [[nodiscard]] std::vector<uint64_t> hidden_chain(uint32_t pid, const WordView& chain) const;

  bool mapping(const InjectedRecord& record, ByteBuilder& out);
  bool map_user(MmapRecord& mapped);
  void map_kernel(MmapRecord& mapped);
  bool kernel_symbol(const InjectedRecord& record, ByteBuilder& out);
  bool deferred_chain(const InjectedRecord& record, ByteBuilder& out) const;
  bool sample(const InjectedRecord& record, ByteBuilder& out) const;
  void task(const InjectedRecord& record);
  /// Room for `size` bytes among modules and BPF programs.
  uint64_t place_in_kernel(uint64_t size);

  std::vector<EventDesc> events_;
  std::vector<std::byte> formats_;  // of tracepoints, without the symbols that follow
  uint64_t kernel_base_;
  Space kernel_;
  uint64_t next_module_;
  std::map<uint32_t, Space> processes_;
  std::map<std::pair<std::string, uint64_t>, Region> regions_;  // by path and address of offset 0
  uint64_t next_region_;
};

}  // namespace sonde
