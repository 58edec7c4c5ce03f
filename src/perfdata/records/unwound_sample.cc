#include "perfdata/records/unwound_sample.h"

#include <cstring>

#include "perfdata/records/record.h"

namespace sonde {
namespace {

constexpr size_t kMaxRecordBytes = UINT16_MAX;

/// The index of the USER marker, or the size of the chain.
size_t user_marker(const WordView& chain) {
  size_t i = 0;
  while (i < chain.size() && chain[i] != abi::kContextUser) ++i;
  return i;
}

/// Builds a record in the host's byte order from pieces of another; the header's size is set at the
/// end.
class RecordCopy {
 public:
  RecordCopy(const RecordView& record, std::vector<std::byte>& out)
      : out_(out), start_(out.size()) {
    bytes(record.raw().first(sizeof(abi::RecordHeader)));
  }
  void bytes(Bytes piece) { out_.insert(out_.end(), piece.begin(), piece.end()); }
  void bytes(const std::byte* first, const std::byte* end) { bytes(Bytes(first, end)); }
  void word(uint64_t value) { bytes(std::as_bytes(std::span(&value, 1))); }
  /// Returns false, and removes the copy, if it is too large for a record.
  bool finish() {
    constexpr size_t kSizeOffset = offsetof(abi::RecordHeader, size);
    size_t size = out_.size() - start_;
    if (size > kMaxRecordBytes) {
      out_.resize(start_);
      return false;
    }
    auto stored = static_cast<uint16_t>(size);
    std::memcpy(out_.data() + start_ + kSizeOffset, &stored, sizeof stored);
    return true;
  }

 private:
  std::vector<std::byte>& out_;
  size_t start_;
};

/// STACK_USER of a sample that has it; it follows REGS_USER.
const std::byte* stack_of(const Sample& sample) {
  Bytes registers = sample.regs_user.words.bytes();
  return registers.data() + registers.size();
}

/// Its size, and unless that is 0 the copy and how much of it is valid.
const std::byte* end_of_stack(const std::byte* stack) {
  auto size = load<uint64_t>(stack);
  return stack + sizeof size + (size == 0 ? 0 : size + sizeof size);
}

/// All fields up to the call chain, with `user_chain` for its user part.
void put_chain(const RecordView& record, const Sample& sample, std::span<const uint64_t> user_chain,
               RecordCopy& to) {
  Bytes chain = sample.callchain.bytes();
  size_t kernel_words = user_marker(sample.callchain);
  to.bytes(record.payload.data(), chain.data() - sizeof(uint64_t));
  to.word(kernel_words + (user_chain.empty() ? 0 : 1 + user_chain.size()));
  to.bytes(chain.first(kernel_words * sizeof(uint64_t)));
  if (!user_chain.empty()) to.word(abi::kContextUser);
  for (uint64_t address : user_chain) to.word(address);
}

}  // namespace

WordView user_part(const WordView& chain) {
  size_t marker = user_marker(chain);
  if (marker == chain.size()) return {};
  return chain.without_first(marker + 1);
}

bool append_unwound(const RecordView& record, const Sample& sample,
                    std::span<const uint64_t> user_chain, ChainCut cut, bool keep_registers,
                    std::vector<std::byte>& out) {
  const std::byte* payload_end = record.payload.data() + record.payload.size();
  Bytes registers = sample.regs_user.words.bytes();

  RecordCopy to(record, out);
  put_chain(record, sample, user_chain, to);
  const std::byte* chain_end = sample.callchain.bytes().data() + sample.callchain.bytes().size();
  to.bytes(chain_end, registers.data() - sizeof(uint64_t));
  to.word(keep_registers ? sample.regs_user.abi : uint64_t{abi::kRegsAbiNone});
  if (keep_registers) to.bytes(registers);
  if (cut == ChainCut::kNone) {
    to.word(0);
  } else {
    to.word(sizeof(uint64_t));
    to.word(static_cast<uint64_t>(cut));
    to.word(0);
  }
  to.bytes(end_of_stack(stack_of(sample)), payload_end);
  return to.finish();
}

bool append_with_chain(const RecordView& record, const Sample& sample,
                       std::span<const uint64_t> user_chain, std::vector<std::byte>& out) {
  Bytes chain = sample.callchain.bytes();
  RecordCopy to(record, out);
  put_chain(record, sample, user_chain, to);
  to.bytes(chain.data() + chain.size(), record.payload.data() + record.payload.size());
  return to.finish();
}

void append_without_user_chain(const RecordView& record, const Sample& sample,
                               std::vector<std::byte>& out) {
  Bytes chain = sample.callchain.bytes();
  size_t marker = user_marker(sample.callchain);
  RecordCopy to(record, out);
  if (marker == sample.callchain.size()) {
    to.bytes(record.payload);
  } else {
    to.bytes(record.payload.data(), chain.data() - sizeof(uint64_t));
    to.word(marker);
    to.bytes(chain.first(marker * sizeof(uint64_t)));
    to.bytes(chain.data() + chain.size(), record.payload.data() + record.payload.size());
  }
  to.finish();
}

bool append_with_stack(const RecordView& record, const Sample& sample, Bytes stack,
                       std::vector<std::byte>& out) {
  const std::byte* own = stack_of(sample);
  RecordCopy to(record, out);
  to.bytes(record.payload.data(), own);
  to.word(stack.size());
  to.bytes(stack);
  if (!stack.empty()) to.word(stack.size());  // all of it is valid
  to.bytes(end_of_stack(own), record.payload.data() + record.payload.size());
  return to.finish();
}

}  // namespace sonde
