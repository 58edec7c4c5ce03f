// SplitUnits: the units whose entries a compiler put into files of their own (-gsplit-dwarf):
// beside the object file as NAME.dwo, or all of a program in one package, PROGRAM.dwp.
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
  /// `program` is the path of the file with the skeletons; `root` is put before the paths that it
  /// tells of (--symfs).
  SplitUnits(std::string program, std::string root)
      : program_(std::move(program)), root_(std::move(root)) {}

  /// The unit that `skeleton` stands for, made complete; null where its file is not there or is of
  /// another build. From any thread.
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
