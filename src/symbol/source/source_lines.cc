#include "symbol/source/source_lines.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>

#include "base/file.h"
#include "base/files/regular_file.h"
#include "base/text.h"

namespace sonde {
namespace {

/// In lower case.
constexpr std::string_view kSourceEndings[] = {
    // C, C++, Objective-C, CUDA, OpenCL, and what is included there
    "c", "h", "cc", "hh", "cpp", "hpp", "cxx", "hxx", "c++", "h++", "cp", "i", "ii", "ipp", "ixx",
    "ino", "inc", "inl", "tcc", "tpp", "txx", "def", "m", "mm", "cu", "cuh", "cl", "cppm",
    // assembly
    "s", "asm", "sx",
    // Fortran
    "f", "for", "ftn", "fpp", "f77", "f90", "f95", "f03", "f08", "f15",
    // other compiled languages
    "rs", "go", "d", "di", "swift", "zig", "nim", "cr", "v", "odin", "jai", "ada", "adb", "ads",
    "pas", "lpr", "dpr", "ml", "mli", "hs", "lhs", "hsc", "vala", "vapi", "cob", "cbl", "fs", "fsi",
    "vb", "cs", "java", "kt", "kts", "scala", "groovy", "clj", "cljs", "jl", "dart", "lisp", "lsp",
    "scm", "rkt", "sml", "pony", "hx", "bas",
    // interpreted languages
    "py", "pyx", "pxd", "pxi", "rb", "js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "php",
    "pl", "pm", "lua", "luau", "r", "tcl", "erl", "hrl", "ex", "exs", "elm", "coffee", "sh", "awk",
    "bt", "stp",
    // generators of source
    "y", "yy", "l", "ll", "lex", "rl", "g4", "gperf", "td"};

/// A directory with the slash behind it.
std::string as_prefix(std::string directory) {
  if (!directory.ends_with('/')) directory += '/';
  return directory;
}

bool lies_below(std::string_view path, std::string_view directory) {
  // The root would be everything.
  return directory.starts_with('/') && directory != "/" &&
         path.starts_with(as_prefix(std::string(directory)));
}

std::string normal(const std::string& path) {
  std::string text = std::filesystem::path(path).lexically_normal().string();
  if (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

std::string real_path(const std::string& path) {
  char buffer[PATH_MAX];
  return ::realpath(path.c_str(), buffer) == nullptr ? std::string() : buffer;
}

/// Where a system keeps what is no source.
bool is_of_system(std::string_view path) {
  return std::ranges::any_of(
      std::to_array<std::string_view>({"/etc/", "/proc/", "/sys/", "/dev/", "/run/", "/boot/"}),
      [path](std::string_view directory) { return path.starts_with(directory); });
}

/// Headers of the C++ library have no ending: "/usr/include/c++/12/vector".
bool is_library_header(std::string_view path) {
  return path.find("/include/") != std::string_view::npos;
}

/// Whether this user may read the file, and get to it. What groups allow is not counted.
bool may_read(uint32_t user, const std::string& path, const struct stat& file) {
  if (user == 0 || user == ::geteuid()) return true;
  auto allows = [user](const struct stat& status, mode_t to_owner, mode_t to_others) {
    return (status.st_mode & (status.st_uid == user ? to_owner : to_others)) != 0;
  };
  if (!allows(file, S_IRUSR, S_IROTH)) return false;
  for (size_t at = path.find('/'); at != std::string::npos; at = path.find('/', at + 1)) {
    struct stat directory{};
    std::string name = path.substr(0, std::max<size_t>(at, 1));
    if (::stat(name.c_str(), &directory) != 0 || !allows(directory, S_IXUSR, S_IXOTH)) return false;
  }
  return true;
}

std::unexpected<Error> refuse(const std::string& path, std::string_view why) {
  return fail(ErrorCode::kPermission, "{} is not read as source: {}", path, why);
}

/// Where an open file is, links followed.
std::string place_of(int fd) {
  return real_path(fmt::format("/proc/self/fd/{}", fd));
}

}  // namespace

std::vector<uint32_t> owners_on_the_way_to(const std::string& path) {
  constexpr int kMostLinks = 40;  // as the kernel
  std::vector<uint32_t> owners;
  auto add = [&owners](uint32_t owner) {
    if (std::ranges::find(owners, owner) == owners.end()) owners.push_back(owner);
  };
  std::error_code error;
  std::string left = std::filesystem::absolute(path, error).string();
  if (path.empty() || error) return {};
  int links = 0;
  for (size_t end = 0; end != std::string::npos;) {
    end = left.find('/', end + 1);
    std::string place = left.substr(0, end);
    struct stat status{};
    if (place.size() >= PATH_MAX || ::lstat(place.c_str(), &status) != 0) return {};
    add(status.st_uid);
    bool is_directory = S_ISDIR(status.st_mode);
    if (is_directory && (status.st_mode & S_IWOTH) != 0 && (status.st_mode & S_ISVTX) == 0)
      add(Symbolizer::kUnknownOwner);
    if (!S_ISLNK(status.st_mode)) continue;
    std::filesystem::path to = std::filesystem::read_symlink(place, error);
    if (error || ++links > kMostLinks) return {};
    // From the beginning again: the link may lead anywhere.
    left = (std::filesystem::path(place).parent_path() / to).string() +
           (end == std::string::npos ? "" : left.substr(end));
    end = 0;
  }
  return owners;
}

bool has_source_ending(std::string_view path) {
  std::string_view name = path.substr(path.rfind('/') + 1);
  size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return false;
  std::string ending(name.substr(dot + 1));
  std::ranges::transform(ending, ending.begin(), to_ascii_lower);
  return std::ranges::find(kSourceEndings, ending) != std::end(kSourceEndings);
}

Result<std::string> read_source(const std::string& path, const SourceClaim& claim, size_t limit) {
  Fd file = TRY(open_regular(path));
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return failed_to_open(path, errno);
  if (static_cast<uint64_t>(status.st_size) > limit)
    return refuse(path, fmt::format("it is larger than {} MB", limit >> 20));
  std::string said = normal(path), real = place_of(file.get());
  // Files of /proc have no size; those of source trees are seldom empty.
  bool is_public = (status.st_mode & S_IROTH) != 0 && status.st_size > 0;
  auto is_source = [&](const std::string& place, const std::string& directory) {
    return has_source_ending(place) || (is_public && !is_of_system(place) &&
                                        (is_library_header(place) || lies_below(place, directory)));
  };
  if (real.empty() || !is_source(said, normal(claim.directory)) ||
      !is_source(real, real_path(claim.directory)))
    return refuse(path,
                  "its name does not end like that of a source file, nor is it a public file in "
                  "the compilation's directory");
  for (uint32_t owner : claim.owners)
    if (!may_read(owner, real, status))
      return refuse(path, "the owner of the object that names it may not read it");
  return read_all(file.get(), path, limit);
}

SourceFileText::SourceFileText(std::string whole)
    : text(std::move(whole)), lines(split(text, '\n')) {
  if (lines.back().empty()) lines.pop_back();
}

std::span<const std::string_view> SourceLines::of(DsoId object, const std::string& path,
                                                  const std::string& directory) {
  auto [owners, is_new_object] = owners_.try_emplace(object.value);
  if (is_new_object) owners->second = symbols_.owners_of(object);
  SourceClaim claim{directory, owners->second};
  auto [entry, is_new] = files_.try_emplace({path, claim});
  if (is_new)
    entry->second =
        std::make_unique<SourceFileText>(read_source(path, claim).value_or(std::string()));
  return entry->second->lines;
}

}  // namespace sonde
