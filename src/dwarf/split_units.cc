#include "dwarf/split_units.h"

#include <dwarf.h>

#include "base/files/process_root.h"
#include "dwarf/source_file.h"

namespace sonde {

const DwarfUnit* SplitUnits::find(const DwarfUnit& skeleton) {
  if (!skeleton.dwo_id) return nullptr;
  std::scoped_lock lock(mutex_);
  DwarfUnit* unit = find_in_package(skeleton);
  if (unit == nullptr) unit = find_in_file(skeleton);
  return unit;
}

DwarfUnit* SplitUnits::find_in_package(const DwarfUnit& skeleton) {
  if (!looked_for_package_) {
    looked_for_package_ = true;
    auto elf = ElfFile::open(program_ + ".dwp");
    if (!elf) return nullptr;
    auto file = DwarfFile::open(std::move(*elf), DwarfFile::Kind::kSplit);
    if (!file) return nullptr;
    package_ = files_.emplace_back(std::move(*file)).get();
    package_->read_type_roots();
    for (DwarfUnit& unit : package_->units())
      if (unit.dwo_id) in_package_.emplace(*unit.dwo_id, &unit);
  }
  auto found = in_package_.find(*skeleton.dwo_id);
  if (found == in_package_.end()) return nullptr;
  DwarfUnit* unit = found->second;
  if (unit->skeleton == nullptr) {
    unit->skeleton = &skeleton;
    package_->read_root(*unit);
  }
  return unit->skeleton == &skeleton ? unit : nullptr;
}

DwarfUnit* SplitUnits::find_in_file(const DwarfUnit& skeleton) {
  std::string path = SourceFile{skeleton.directory, {}, skeleton.dwo_name}.path();
  if (path.empty()) return nullptr;
  auto elf = ElfFile::open(path_below(root_, path));
  // For a program that was moved together with its .dwo files.
  if (!elf && !skeleton.dwo_name.starts_with('/'))
    elf = ElfFile::open(
        SourceFile{program_.substr(0, program_.rfind('/') + 1), {}, skeleton.dwo_name}.path());
  if (!elf) return nullptr;
  auto file = DwarfFile::open(std::move(*elf), DwarfFile::Kind::kSplit);
  if (!file) return nullptr;
  for (DwarfUnit& unit : (*file)->units()) {
    if (unit.type != 0 && unit.type != DW_UT_split_compile) continue;
    unit.skeleton = &skeleton;
    (*file)->read_root(unit);  // before DWARF 5 the id is there
    if (unit.dwo_id != skeleton.dwo_id || unit.abbrevs == nullptr) continue;
    (*file)->read_type_roots();
    files_.push_back(std::move(*file));
    return &unit;
  }
  return nullptr;
}

}  // namespace sonde
