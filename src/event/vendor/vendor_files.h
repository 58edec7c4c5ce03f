// Which files of events.directory are about a processor.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace sonde {

/// The processor by the fields of /proc/cpuinfo; parts that it lacks are empty.
struct CpuIdentity {
  std::string model = {};            // "GenuineIntel-6-55"
  std::string stepping = {};         // "4"
  std::string arm_implementer = {};  // "0x41"
  std::string arm_part = {};         // "0xd40"
};

[[nodiscard]] CpuIdentity parse_cpu_identity(std::string_view cpuinfo);

struct VendorFile {
  std::string path;
  std::string core;  // "cpu_core", "cpu_atom"; empty: all cores
};

/// The lines of mapfile.csv whose pattern matches all of the identity, with or without its
/// stepping. `directory` precedes the paths. Errors kCorrupt: a line that is malformed, a path that
/// leaves the directory, a pattern that is no regular expression.
Result<std::vector<VendorFile>> mapped_files(std::string_view text, const std::string& directory,
                                             const CpuIdentity& cpu);

/// The *.json files of a directory, sorted; without those of its subdirectories.
[[nodiscard]] std::vector<VendorFile> json_files(const std::string& directory);

}  // namespace sonde
