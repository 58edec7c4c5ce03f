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

/// A value of os-release(5).
std::string system_fact(const std::string& root, std::string_view name) {
  auto text = read_file(root + "/etc/os-release");
  if (!text) return {};
  for (std::string_view line : split(*text, '\n')) {
    if (!line.starts_with(name) || !line.substr(name.size()).starts_with('=')) continue;
    std::string value(line.substr(name.size() + 1));
    std::erase(value, '"');
    return value;
  }
  return {};
}

struct Distribution {
  std::string_view id;             // of os-release
  std::string_view debuginfod;     // its server
  std::string_view source;         // of its -dbgsym packages, before the code name
  std::string_view source_suffix;  // after it
};
constexpr Distribution kDistributions[] = {
    {"debian", "https://debuginfod.debian.net", "http://deb.debian.org/debian-debug",
     "-debug main"},
    {"ubuntu", "https://debuginfod.ubuntu.com", "http://ddebs.ubuntu.com",
     " main restricted universe multiverse"},
    {"fedora", "https://debuginfod.fedoraproject.org", "", ""},
    {"arch", "https://debuginfod.archlinux.org", "", ""},
    {"opensuse-tumbleweed", "https://debuginfod.opensuse.org", "", ""},
};

const Distribution* distribution(const std::string& root) {
  std::string id = system_fact(root, "ID");
  const auto* found = std::ranges::find(kDistributions, id, &Distribution::id);
  return found == std::end(kDistributions) ? nullptr : found;
}

/// Whether apt's sources have an archive with this in its address.
bool has_source(const std::string& root, std::string_view archive) {
  std::vector<fs::path> files = {root + "/etc/apt/sources.list"};
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root + "/etc/apt/sources.list.d", error))
    files.push_back(entry.path());
  return std::ranges::any_of(files, [&](const fs::path& file) {
    auto text = read_file(file);
    if (!text) return false;
    return std::ranges::any_of(split(*text, '\n'), [&](std::string_view line) {
      return !trim(line).starts_with('#') && line.contains(archive);
    });
  });
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

std::string missing_package_source(const std::string& command, const std::string& root) {
  const Distribution* here = distribution(root);
  if (here == nullptr || here->source.empty() || !command.contains("-dbgsym")) return {};
  std::string_view archive = here->source.substr(here->source.rfind('/') + 1);
  std::string codename = system_fact(root, "VERSION_CODENAME");
  if (codename.empty() || has_source(root, archive)) return {};
  return fmt::format("deb {} {}{}", here->source, codename, here->source_suffix);
}

std::string debuginfod_server(const std::string& root) {
  const Distribution* here = distribution(root);
  return std::string(here == nullptr ? "https://debuginfod.elfutils.org" : here->debuginfod);
}

std::string debug_symbols_advice(const std::vector<std::string>& paths, const std::string& root) {
  std::string command = debug_install_command(paths, root);
  std::string server = "--debuginfod=" + debuginfod_server(root);
  if (command.empty()) return server;
  std::string source = missing_package_source(command, root);
  return fmt::format("{}{}{}, or {}", command, source.empty() ? "" : " from ", source, server);
}

}  // namespace sonde
