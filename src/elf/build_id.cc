#include "elf/build_id.h"

#include <elf.h>

#include <algorithm>

#include "base/file.h"

#include "elf/notes.h"

namespace sonde {
namespace {

/// The size that recordings have room for; of longer ids only the beginning is compared.
constexpr size_t kMaxBuildId = 20;

}  // namespace

std::string_view build_id_in_notes(Bytes notes, ByteOrder order, size_t alignment) {
  std::string_view found;
  for_each_note(notes, order, alignment, [&](const ElfNote& note) {
    if (note.type == NT_GNU_BUILD_ID && note.owner == "GNU") found = as_text(note.content);
    return found.empty();
  });
  return found;
}

std::string running_kernel_build_id() {
  auto notes = read_file("/sys/kernel/notes");
  return notes ? std::string(build_id_in_notes(as_bytes(*notes))) : std::string();
}

bool same_build_id(std::string_view a, std::string_view b) {
  a = a.substr(0, kMaxBuildId);
  b = b.substr(0, kMaxBuildId);
  if (a.size() < b.size()) std::swap(a, b);
  return a.substr(0, b.size()) == b &&
         std::ranges::all_of(a.substr(b.size()), [](char c) { return c == '\0'; });
}

}  // namespace sonde
