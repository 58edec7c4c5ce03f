// SplitUnits: the units whose entries the compiler put into separate files (-gsplit-dwarf):
// NAME.dwo beside the object file, or one package for the whole program, PROGRAM.dwp.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "dwarf/dwarf_file.h"

namespace sonde {

class SplitUnits {
 public:
  /// `program` is the path of the file with the skeletons; `root` is the prefix for the paths that
  /// it contains (--symfs).
  SplitUnits(std::string program, std::string root)
      : program_(std::move(program)), root_(std::move(root)) {}

  /// The unit that `skeleton` stands for, completed; null if its file is missing or from another
  /// build. Thread-safe.
  const DwarfUnit* find(const DwarfUnit& skeleton);

 private:
  DwarfUnit* find_in_package(const DwarfUnit& skeleton);
  DwarfUnit* find_in_file(const DwarfUnit& skeleton);

  std::string program_, root_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<DwarfFile>> files_;
  bool looked_for_package_ = false;
  DwarfFile* package_ = nullptr;
  std::map<uint64_t, DwarfUnit*> in_package_;  // by dwo_id
};

}  // namespace sonde
