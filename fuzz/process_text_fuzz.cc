// What a recorder reads of other people's processes, and a report of small files: lines of
// /proc/PID/maps, tables of lines in an interpreter's memory, lists of build ids, copies of the
// kernel's memory, compressed objects.
#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "capture/unwinding/interpreters/code_lines.h"
#include "elf/core_file.h"
#include "elf/packed_file.h"
#include "fuzz/allowance.h"
#include "fuzz/fuzz_target.h"
#include "objects/build_id_text.h"
#include "store/expand.h"
#include "store/proc_maps.h"

namespace {

using namespace sonde;

void read_code_lines(Bytes table) {
  for (uint32_t format : {PYTHON_LOCATIONS, PYTHON_RANGES, PYTHON_LINE_STARTS, RUBY_INSTRUCTIONS})
    for (bool is_cut : {false, true}) {
      CodeLines lines(table, 10, {.format = format, .is_cut = is_cut});
      for (uint32_t unit : {0U, 1U, 100U, UINT32_MAX})
        if (auto line = lines.line_at(unit))
          CHECK(*line >= lines.lowest() && *line <= lines.highest());
    }
}

void read_core(Bytes bytes) {
  auto file = memory_file("core");
  CHECK(file && write_all(file->get(), "core", bytes));
  auto core = CoreFile::open("/proc/self/fd/" + std::to_string(file->get()));
  if (!core) return;
  for (const CoreFile::Segment& segment : core->segments()) {
    auto memory = core->memory(segment.p_vaddr, std::min<uint64_t>(segment.p_filesz, 4096));
    CHECK(!memory || memory->size() <= 4096);
  }
}

}  // namespace

FUZZ_TARGET(process_text)(const uint8_t* data, size_t size) {
  constexpr size_t kMaxBytes = 16384;
  if (size > kMaxBytes) return 0;
  Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
  std::string_view text = as_text(bytes);
  spend(size, {.bytes_per_byte = 256, .free_bytes = size_t{8} << 20}, [&] {
    for (std::string_view line : split(text, '\n'))
      if (auto mapping = parse_proc_mapping(line)) CHECK(mapping->path.size() <= line.size());
    read_code_lines(bytes);
    if (auto id = build_id_of_digits(text)) CHECK(id->size() <= 20);
    read_core(bytes);
  });
  if (is_packed(bytes)) (void)unpack_file("fuzz", bytes);
  return 0;
}
