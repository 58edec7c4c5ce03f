#include "probe/source/debug_index.h"

#include <elf.h>
#include <xxhash.h>

#include <utility>

#include "probe/source/name_list.h"

namespace sonde {
namespace {

constexpr std::string_view kUnits = "units", kFunctions = "functions";

/// Of less, all units are read in a few milliseconds.
bool is_large(const ElfFile& elf) {
  constexpr uint64_t kLeastBytes = uint64_t{4} << 20, kLeastPacked = uint64_t{1} << 20;
  const ElfSection* info = elf.section(".debug_info");
  if (info == nullptr) return false;
  return info->size >= ((info->flags & SHF_COMPRESSED) != 0 ? kLeastPacked : kLeastBytes);
}

uint64_t stamp_of(const NamedFile& file) {
  uint64_t facts[] = {file.bytes, static_cast<uint64_t>(file.changed_ns)};
  return XXH3_64bits(facts, sizeof facts);
}

}  // namespace

DebugIndex::DebugIndex(const ElfFile& elf, std::string object_cache)
    : cache_(std::move(object_cache)), build_id_(elf.build_id()) {
  auto file = NamedFile::of(elf.name());
  is_used_ = file && is_large(elf) && cache_.keeps(build_id_);
  if (!is_used_) return;
  stamp_ = stamp_of(*file);
  kept_units_ = cache_.find(build_id_, kUnits, UnitTable::kPackedVersion);
  if (kept_units_) units_ = UnitTable::restore(kept_units_->bytes(), stamp_);
}

const FunctionIndex* DebugIndex::functions(const DwarfFile& file) {
  if (is_used_ && !std::exchange(knows_functions_, true)) {
    kept_functions_ = cache_.find(build_id_, kFunctions, FunctionIndex::kPackedVersion);
    bool was_asked = kept_functions_.has_value();  // what is kept then is empty
    if (was_asked) functions_ = FunctionIndex::restore(kept_functions_->bytes(), file);
    bool is_new = !functions_;
    if (was_asked && is_new) functions_ = FunctionIndex::read(file);
    if (is_new)
      cache_.keep(build_id_, kFunctions, FunctionIndex::kPackedVersion,
                  functions_ ? functions_->pack(file) : std::vector<std::byte>());
    std::vector<std::byte> units;
    if (functions_ && !units_) units = UnitTable::pack(file, stamp_);
    if (!units.empty()) cache_.keep(build_id_, kUnits, UnitTable::kPackedVersion, units);
  }
  return functions_ ? &*functions_ : nullptr;
}

}  // namespace sonde
