// Printers of system call arguments, over whatever memory a program may have there. The input: a
// byte for the ABI, two for the call, one for what has happened, the result, six arguments, then
// pieces of memory (register, part and flags, length, bytes).
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "fuzz/fuzz_target.h"
#include "trace/arguments/arg_text.h"

namespace {

using namespace sonde;

std::vector<ArgMemory> pieces(ByteCursor& cursor) {
  std::vector<ArgMemory> memory;
  while (cursor.left() >= 4 && memory.size() < 64) {
    ArgMemory piece;
    piece.arg = cursor.u8() % 6;
    uint8_t flags = cursor.u8();
    piece.part = flags >> 2;
    piece.at_exit = (flags & 1) != 0;
    piece.is_fault = (flags & 2) != 0 && piece.part == 0;
    uint16_t wanted = cursor.u16();
    piece.bytes = cursor.take(std::min<uint64_t>(wanted % 512, cursor.left()));
    piece.wanted_bytes = wanted;
    memory.push_back(piece);
  }
  return memory;
}

}  // namespace

FUZZ_TARGET(syscall_args)(const uint8_t* data, size_t size) {
  ByteCursor cursor(std::as_bytes(std::span(data, size)));
  SyscallEvent event;
  event.abi = static_cast<SyscallAbi>(cursor.u8() % 4);
  event.number = cursor.u16();
  const SyscallTable& table = SyscallTable::get();
  const Syscall* call = table.find(event.abi, event.number);
  if (call == nullptr) call = &table.all()[event.number % table.all().size()];
  uint8_t flags = cursor.u8();
  event.has_entry = (flags & 1) != 0;
  event.has_exit = (flags & 2) != 0;
  event.pid = event.tid = flags >> 4;
  event.result = static_cast<int64_t>(cursor.u64());
  for (uint64_t& arg : event.args) arg = cursor.u64();
  std::vector<ArgMemory> memory = pieces(cursor);
  event.memory = memory;
  FdNames fds;
  // perf's once more, when descriptors have names.
  for (ArgFormat spelling : {ArgFormat::kPerf, ArgFormat::kStrace, ArgFormat::kPerf}) {
    std::string out;
    append_arguments(out, event, *call, fds, {.format = spelling, .show_zeros = (flags & 4) != 0});
    append_result(out, event, *call, fds, {.format = spelling});
    // A byte of memory becomes at most four characters, a set bit a word of a dozen or so.
    CHECK(out.size() < 200 * size + 8192);
    for (char c : out) CHECK(c >= ' ' && c < 0x7f);
    fds.follow(event, *call);
  }
  return 0;
}
