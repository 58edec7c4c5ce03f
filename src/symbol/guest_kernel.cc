#include "symbol/guest_kernel.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "base/files/process_root.h"
#include "base/text.h"
#include "machine/machine.h"
#include "symbol/elf_symbols.h"
#include "symbol/kallsyms_lines.h"

namespace sonde {
namespace {

constexpr size_t kMostBytes = size_t{256} << 20;  // a kernel's list has some ten megabytes
constexpr size_t kMostGuests = 4096;
constexpr size_t kMostModules = 65536;

std::unexpected<Error> cannot_open(const std::string& path, int error) {
  return fail(error == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo, "failed to open {}: {}",
              path, std::strerror(error));
}

/// Regular files only: nothing that never ends, or waits for a writer.
Result<std::string> read_named(const std::string& path) {
  return read_file(path, kMostBytes);
}

/// Fills in where the kernel is. False if the list does not say.
bool place_kernel(std::string_view list, GuestLayout& layout) {
  std::string_view found;
  uint64_t start = 0, stext = 0, text_end = 0;
  KallsymsLines lines(list);
  for (KallsymsLine line; lines.next(line);) {
    if (line.address == 0 || !line.module().empty()) continue;
    std::string_view name = line.name();
    if (name == "_text" && start == 0) start = line.address;
    if (name == "_stext" && stext == 0) stext = line.address;
    if (name == "_etext" && text_end == 0) text_end = line.address;
  }
  found = start != 0 ? "_text" : "_stext";
  if (start == 0) start = stext;
  if (start == 0) return false;
  std::string kernel = layout.pid == kAnyGuest
                           ? "[guest.kernel.kallsyms]"
                           : fmt::format("[guest.kernel.kallsyms.{}]", layout.pid);
  layout.path = fmt::format("{}{}", kernel, found);
  layout.start = layout.text = RuntimeAddr(start);
  if (text_end <= start) {
    // Up to the first module, if that is above.
    text_end = UINT64_MAX;
    for (const GuestModule& module : layout.modules)
      if (module.start.value > start) text_end = std::min(text_end, module.start.value);
  }
  layout.end = RuntimeAddr(text_end);
  return true;
}

/// The numbers that are names in a directory, ascending.
std::vector<uint32_t> guests_below(const std::string& mount) {
  std::vector<uint32_t> pids;
  DIR* directory = ::opendir(mount.c_str());
  if (directory == nullptr) return pids;
  while (const dirent* entry = ::readdir(directory)) {
    std::string_view name = entry->d_name;
    if (name.empty() || !std::ranges::all_of(name, is_ascii_digit)) continue;
    auto pid = parse_number(name);
    if (!pid || *pid == 0 || *pid > INT32_MAX || name.starts_with('0')) continue;
    pids.push_back(static_cast<uint32_t>(*pid));
    if (pids.size() == kMostGuests) break;
  }
  ::closedir(directory);
  std::ranges::sort(pids);
  return pids;
}

GuestSymbols symbols_of_list(Result<std::string> text, const std::string& path,
                             std::string_view reference) {
  GuestSymbols symbols;
  if (!text) {
    symbols.source = text.error().message;
    return symbols;
  }
  symbols.list = Kallsyms::parse(std::move(*text));
  if (symbols.list->restricted()) {
    symbols.source = path + " hides its addresses: copy it as the guest's root";
    return symbols;
  }
  symbols.table = &symbols.list->table();
  symbols.text = symbols.list->address_of(reference);
  symbols.source = path;
  symbols.origin = 'g';
  return symbols;
}

GuestSymbols symbols_of_image(const std::string& path, std::string_view reference) {
  GuestSymbols symbols;
  auto image = ElfFile::open(path);
  if (!image) {
    symbols.source = image.error().message;
    return symbols;
  }
  symbols.image = load_elf_symbols(std::move(*image), std::nullopt);
  symbols.table = &symbols.image;
  if (auto found = symbols.image.find_by_name(reference); !found.empty())
    symbols.text = found.front()->start;
  symbols.source = path;
  symbols.origin = 'V';
  return symbols;
}

}  // namespace

Result<std::string> read_guest_file(const std::string& root, const std::string& name) {
  ProcessRoot guest = TRY(ProcessRoot::at(root));
  Fd file = TRY(guest.open_regular(name));
  return read_all(file.get(), root + "/" + name, kMostBytes);
}

std::string guest_root(const GuestFiles& files, uint32_t pid) {
  return fmt::format("{}/{}", files.mount, pid);
}

std::vector<GuestModule> parse_guest_modules(std::string_view text) {
  std::vector<GuestModule> modules;
  for (std::string_view line : split(text, '\n')) {
    std::vector<std::string_view> words = split(line, ' ');
    if (words.size() < 6 || words[0].empty()) continue;
    auto size = parse_number(words[1]);
    auto start = parse_hex(words[5]);
    if (!size || !start || *size == 0 || *start == 0 || *start > UINT64_MAX - *size) continue;
    modules.push_back(
        {fmt::format("[{}]", words[0]), RuntimeAddr(*start), RuntimeAddr(*start + *size)});
    if (modules.size() == kMostModules) break;
  }
  return modules;
}

Result<std::vector<GuestLayout>> guest_layouts(const GuestFiles& files) {
  std::vector<GuestLayout> layouts;
  if (!files.kallsyms.empty() || !files.modules.empty()) {
    GuestLayout layout;
    layout.pid = kAnyGuest;
    if (!files.modules.empty())
      layout.modules = parse_guest_modules(TRY(read_named(files.modules)));
    bool is_placed =
        !files.kallsyms.empty() && place_kernel(TRY(read_named(files.kallsyms)), layout);
    if (!files.kallsyms.empty() && !is_placed)
      return fail(ErrorCode::kCorrupt,
                  "--guestkallsyms {}: it gives no address of _text or _stext; copy /proc/kallsyms "
                  "as the guest's root",
                  files.kallsyms);
    layouts.push_back(std::move(layout));
  }
  if (!files.vmlinux.empty() && ::access(files.vmlinux.c_str(), R_OK) != 0)
    return cannot_open(files.vmlinux, errno);
  if (files.mount.empty()) return layouts;
  std::vector<uint32_t> pids = guests_below(files.mount);
  if (pids.empty())
    return fail(ErrorCode::kNotFound,
                "--guestmount {}: no directory there is named after the process of a virtual "
                "machine",
                files.mount);
  for (uint32_t pid : pids) {
    GuestLayout layout;
    layout.pid = pid;
    std::string root = guest_root(files, pid);
    auto list = read_guest_file(root, "proc/kallsyms");
    if (auto modules = read_guest_file(root, "proc/modules"))
      layout.modules = parse_guest_modules(*modules);
    if (list && place_kernel(*list, layout)) layouts.push_back(std::move(layout));
  }
  return layouts;
}

const GuestSymbols& GuestKernels::of(uint32_t pid, std::string_view reference) {
  std::scoped_lock lock(mutex_);
  std::unique_ptr<GuestSymbols>& known = known_[pid];
  if (known != nullptr) return *known;
  GuestSymbols symbols;
  std::string root = pid == kAnyGuest || files_.mount.empty() ? "" : guest_root(files_, pid);
  std::string copy = fmt::format("{}/kcore_dir__{}/kallsyms", files_.recording, pid);
  if (!files_.recording.empty() && ::access(copy.c_str(), R_OK) == 0) {
    symbols = symbols_of_list(read_named(copy), copy, reference);  // of exactly that boot
  } else if (!root.empty()) {
    symbols =
        symbols_of_list(read_guest_file(root, "proc/kallsyms"), root + "/proc/kallsyms", reference);
  } else if (!files_.vmlinux.empty()) {
    symbols = symbols_of_image(files_.vmlinux, reference);
  } else if (!files_.kallsyms.empty()) {
    symbols = symbols_of_list(read_named(files_.kallsyms), files_.kallsyms, reference);
  } else if (pid != kAnyGuest) {
    symbols.source =
        fmt::format("give the files of the guest of process {} with --guestmount", pid);
  } else {
    symbols.source = "give the guest's symbols with --guestkallsyms or --guestvmlinux";
  }
  known = std::make_unique<GuestSymbols>(std::move(symbols));
  // The object moved, and its list with it.
  if (known->table != nullptr) known->table = known->list ? &known->list->table() : &known->image;
  return *known;
}

}  // namespace sonde
