#include "symbol/debug_package.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/file.h"
#include "base/parallel.h"
#include "base/text.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;

/// A path as dpkg may have it: from before or after /lib became a link to /usr/lib.
std::vector<std::string> spellings(const std::string& path) {
  constexpr std::string_view kUsr = "/usr";
  if (path.starts_with("/usr/")) return {path, path.substr(kUsr.size())};
  return {path, std::string(kUsr) + path};
}

/// Whether a line of `list` is one of `paths`, which are sorted. Lists are megabytes, so most lines
/// are dismissed by their length.
bool lists_any(std::string_view list, const std::vector<std::string>& paths, uint64_t lengths) {
  while (!list.empty()) {
    std::string_view line = list.substr(0, list.find('\n'));
    if ((lengths >> line.size() % 64 & 1) != 0 && std::ranges::binary_search(paths, line))
      return true;
    list.remove_prefix(std::min(list.size(), line.size() + 1));
  }
  return false;
}

/// "libc6:amd64.list" is the list of libc6.
std::string debug_package(const fs::path& list) {
  std::string package = list.stem();
  package.resize(std::min(package.size(), package.find(':')));
  // The one package whose symbols are not in the archive of -dbgsym packages: tools need them.
  return package + (package == "libc6" ? "-dbg" : "-dbgsym");
}

std::vector<std::string> debian_packages(const std::string& lists_directory,
                                         const std::vector<std::string>& paths) {
  std::vector<std::string> wanted, packages;
  for (const std::string& path : paths)
    for (std::string& spelling : spellings(path)) wanted.push_back(std::move(spelling));
  std::ranges::sort(wanted);
  uint64_t lengths = 0;  // bit: length modulo 64
  for (const std::string& path : wanted) lengths |= uint64_t{1} << path.size() % 64;
  std::vector<fs::path> lists;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(lists_directory, error))
    if (entry.path().extension() == ".list") lists.push_back(entry.path());
  // Most of them are small: mapping them would take longer than reading.
  std::vector<char> found(lists.size());
  parallel_for(lists.size(), [&](size_t i) {
    auto list = read_file(lists[i]);
    found[i] = list && lists_any(*list, wanted, lengths) ? 1 : 0;
  });
  for (size_t i = 0; i < lists.size(); ++i)
    if (found[i] != 0) packages.push_back(debug_package(lists[i]));
  std::ranges::sort(packages);
  return packages;
}

}  // namespace

std::string debug_install_command(const std::vector<std::string>& paths, const std::string& root) {
  if (fs::path lists = root + "/var/lib/dpkg/info"; fs::exists(lists)) {
    std::vector<std::string> packages = debian_packages(lists, paths);
    return packages.empty() ? std::string() : "apt install " + join(packages, " ");
  }
  bool uses_rpm = fs::exists(root + "/usr/lib/sysimage/rpm") || fs::exists(root + "/var/lib/rpm");
  if (!uses_rpm || paths.empty()) return {};
  return fmt::format("dnf debuginfo-install $(rpm -qf {})", join(paths, " "));
}

}  // namespace sonde
