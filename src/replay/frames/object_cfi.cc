#include "replay/frames/object_cfi.h"

#include "store/object_cache.h"

namespace sonde {
namespace {

/// Rows of a table that takes some milliseconds to build: smaller ones are not cached on disk.
constexpr size_t kWorthKeeping = 20000;

}  // namespace

void ObjectCfi::grow() {
  while (objects_.size() < machine_.dsos().size()) objects_.emplace_back();
}

UnwindPlace ObjectCfi::find(DsoId dso, uint64_t address) const {
  if (!dso.valid()) return {};
  DsoKind kind = machine_.dsos()[dso].kind;
  UnwindPlace place{true, nullptr, ElfAddr(address), kind == DsoKind::kVdso};
  if (kind == DsoKind::kNoSymbols) return {};  // a heap or a stack: no code
  if (kind != DsoKind::kFile && kind != DsoKind::kVdso && kind != DsoKind::kJitDump) return place;
  Object& object = objects_[dso.index()];
  std::call_once(object.once, [&] { read(dso, object); });
  if (object.table.empty()) return place;
  if (kind == DsoKind::kJitDump) {  // its addresses are those of its table
    place.cfi = &object.table;
    return place;
  }
  std::optional<ElfAddr> in_object = object.segments.addr_of(FileOffset(address));
  if (!in_object) return place;
  place.cfi = &object.table;
  place.address = *in_object;
  return place;
}

void ObjectCfi::read(DsoId dso, Object& object) const {
  if (const JitObject* jit = jit_.of(dso)) {
    object.table = jit->call_frame_information();
    return;
  }
  const Dso& of = machine_.dsos()[dso];
  FoundObject found = finder_.find(query_of(of));
  if (!found.usable()) return;
  const ElfFile* symbols = found.symbols ? &*found.symbols : nullptr;
  object.segments = found.segments();
  ObjectCache cache(finder_.options().object_cache);
  // A separate debug file may cover code that the object itself does not.
  std::string_view kind = found.runtime && symbols != nullptr ? "cfi+debug" : "cfi";
  if (auto kept = cache.find(of.build_id, kind, CfiTable::kPackedVersion)) {
    if (auto table = CfiTable::unpack(kept->bytes())) {
      object.table = std::move(*table);
      return;
    }
  }
  object.table =
      found.runtime ? CfiTable::build(*found.runtime, symbols) : CfiTable::build(*symbols, nullptr);
  if (object.table.row_count() >= kWorthKeeping)
    cache.keep(of.build_id, kind, CfiTable::kPackedVersion, object.table.pack());
}

}  // namespace sonde
