#include "replay/frames/call_sites.h"

#include <algorithm>

#include "unwind/return_address.h"

namespace sonde {
namespace {

/// The segment of code that has an offset of the file; null if none has.
const ElfSegment* code_at(const ElfFile& file, uint64_t offset) {
  for (const ElfSegment& segment : file.segments().segments())
    if (segment.executable && offset - segment.offset.value < segment.file_size) return &segment;
  return nullptr;
}

bool has_segments_of_code(const ElfFile& file) {
  return std::ranges::any_of(file.segments().segments(), &ElfSegment::executable);
}

}  // namespace

void CallSites::grow() {
  while (objects_.size() < machine_.dsos().size()) objects_.emplace_back();
}

bool CallSites::may_return_to(DsoId dso, uint64_t address) const {
  if (!dso.valid()) return false;
  const Dso& of = machine_.dsos()[dso];
  // The heap and the stack are data. Memory that has a name may be generated code.
  if (of.kind == DsoKind::kNoSymbols) return of.path.starts_with("[anon");
  if (of.kind != DsoKind::kFile || of.is_guest) return true;
  Object& object = objects_[dso.index()];
  std::call_once(object.once, [&] { read(dso, object); });
  if (!object.code || !has_segments_of_code(*object.code)) return true;
  const ElfSegment* segment = code_at(*object.code, address);
  if (segment == nullptr) return false;  // data
  Bytes file = object.code->bytes();
  uint64_t begin = segment->offset.value, end = begin + segment->file_size;
  if (end > file.size() || begin > end) return true;  // a part of the file is missing
  uint64_t before = std::min<uint64_t>(address - begin, kCallBytes);
  uint64_t after = std::min<uint64_t>(end - address, kReturnBytes);
  return can_return_to(arch_, file.subspan(address - before, before), file.subspan(address, after));
}

void CallSites::read(DsoId dso, Object& object) const {
  FoundObject found = finder_.find(query_of(machine_.dsos()[dso]));
  // A file of debug information alone has no code.
  if (found.runtime)
    object.code = std::move(found.runtime);
  else if (found.symbols && !found.runtime_path.empty())
    object.code = std::move(found.symbols);
}

}  // namespace sonde
