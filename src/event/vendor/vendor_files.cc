#include "event/vendor/vendor_files.h"

#include <dirent.h>

#include <algorithm>
#include <optional>

#include "base/bounds/regex.h"
#include "base/text.h"

namespace sonde {
namespace {

/// The value of the first line "NAME<blanks>: VALUE".
std::string field_of(std::string_view cpuinfo, std::string_view name) {
  for (std::string_view line : split(cpuinfo, '\n')) {
    size_t colon = line.find(':');
    if (colon != std::string_view::npos && trim(line.substr(0, colon)) == name)
      return std::string(trim(line.substr(colon + 1)));
  }
  return {};
}

std::optional<bool> matches(std::string_view pattern, const CpuIdentity& cpu) {
  constexpr size_t kLongestPattern = 200;
  if (pattern.empty() || pattern.size() > kLongestPattern) return std::nullopt;
  Result<Regex> regex = Regex::compile(fmt::format("^({})$", pattern), Regex::Letters::kIgnoreCase);
  if (!regex) return std::nullopt;
  return regex->matches(cpu.model) || regex->matches(fmt::format("{}-{}", cpu.model, cpu.stepping));
}

/// "Core" and "Atom", the last of seven fields.
std::string core_of(const std::vector<std::string_view>& fields) {
  constexpr size_t kRole = 6;
  if (fields.size() <= kRole) return {};
  std::string_view role = trim(fields[kRole]);
  if (role == "Core") return "cpu_core";
  return role == "Atom" ? "cpu_atom" : "";
}

}  // namespace

CpuIdentity parse_cpu_identity(std::string_view cpuinfo) {
  CpuIdentity cpu{.model = {},
                  .stepping = {},
                  .arm_implementer = field_of(cpuinfo, "CPU implementer"),
                  .arm_part = field_of(cpuinfo, "CPU part")};
  std::optional<uint64_t> model = parse_number(field_of(cpuinfo, "model"));
  std::optional<uint64_t> stepping = parse_number(field_of(cpuinfo, "stepping"));
  if (model)
    cpu.model = fmt::format("{}-{}-{:X}", field_of(cpuinfo, "vendor_id"),
                            field_of(cpuinfo, "cpu family"), *model);
  if (stepping) cpu.stepping = fmt::format("{:X}", *stepping);
  return cpu;
}

Result<std::vector<VendorFile>> mapped_files(std::string_view text, const std::string& directory,
                                             const CpuIdentity& cpu) {
  std::vector<VendorFile> files;
  size_t number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++number;
    line = trim(line);
    if (line.empty() || line.starts_with('#') || line.starts_with("Family-model")) continue;
    auto wrong = [&](std::string_view what) {
      return fail(ErrorCode::kCorrupt, "{}/mapfile.csv:{}: {}; correct it or remove the line",
                  directory, number, what);
    };
    std::vector<std::string_view> fields = split(line, ',');
    if (fields.size() < 3) return wrong("fewer than three fields");
    std::optional<bool> is_this = matches(trim(fields[0]), cpu);
    if (!is_this) return wrong("its first field is not a pattern of processors");
    if (!*is_this) continue;
    std::string_view path = trim(fields[2]);
    while (path.starts_with('/')) path.remove_prefix(1);
    bool inside =
        std::ranges::none_of(split(path, '/'), [](std::string_view part) { return part == ".."; });
    if (path.empty() || path.find('\0') != std::string_view::npos || !inside)
      return wrong("its path leaves the directory");
    VendorFile file{.path = fmt::format("{}/{}", directory, path), .core = core_of(fields)};
    if (std::ranges::find(files, file.path, &VendorFile::path) == files.end())
      files.push_back(std::move(file));
  }
  return files;
}

std::vector<VendorFile> json_files(const std::string& directory) {
  std::vector<VendorFile> files;
  DIR* open = ::opendir(directory.c_str());
  if (open == nullptr) return files;
  while (const dirent* entry = ::readdir(open))
    if (std::string_view(entry->d_name).ends_with(".json"))
      files.push_back({.path = fmt::format("{}/{}", directory, entry->d_name), .core = {}});
  ::closedir(open);
  std::ranges::sort(files, {}, &VendorFile::path);
  return files;
}

}  // namespace sonde
