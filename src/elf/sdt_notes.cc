#include "elf/sdt_notes.h"

#include "elf/notes.h"

namespace sonde {
namespace {

constexpr uint32_t kSdtNoteType = 3;
/// A virtual machine has a thousand. Each becomes a line with the object's path wherever probes are
/// kept, so an object with a million would cost whoever samples it gigabytes.
constexpr size_t kMaxNotes = size_t{1} << 16;

/// Text up to its NUL, which is required.
std::string_view take_text(ByteCursor& cursor) {
  std::string_view left = as_text(cursor.rest());
  size_t end = left.find('\0');
  cursor = ByteCursor(as_bytes(left.substr(end == std::string_view::npos ? left.size() : end + 1)),
                      cursor.order());
  return end == std::string_view::npos ? std::string_view() : left.substr(0, end);
}

}  // namespace

std::vector<SdtNote> sdt_notes(const ElfFile& file) {
  std::vector<SdtNote> found;
  const ElfSection* notes = file.section(".note.stapsdt");
  if (notes == nullptr) return found;
  const ElfSection* base = file.section(".stapsdt.base");
  for_each_note(file.content(*notes), file.order(), 4, [&](const ElfNote& note) {
    if (note.type != kSdtNoteType || note.owner != "stapsdt") return true;
    ByteCursor cursor(note.content, file.order());
    auto word = [&] { return file.is_64bit() ? cursor.u64() : cursor.u32(); };
    SdtNote probe;
    uint64_t location = word();
    uint64_t base_then = word();
    uint64_t semaphore = word();
    if (!cursor.ok()) return true;
    uint64_t moved = base != nullptr && base_then != 0 ? base->addr - base_then : 0;
    probe.location = ElfAddr(location + moved);
    probe.semaphore = ElfAddr(semaphore == 0 ? 0 : semaphore + moved);
    probe.provider = take_text(cursor);
    probe.name = take_text(cursor);
    probe.arguments = take_text(cursor);
    if (!probe.provider.empty() && !probe.name.empty()) found.push_back(probe);
    return found.size() < kMaxNotes;
  });
  return found;
}

}  // namespace sonde
