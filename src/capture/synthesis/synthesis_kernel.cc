#include "capture/synthesis/synthesis_kernel.h"

#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <unordered_map>

#include "base/file.h"
#include "base/text.h"
#include "perfdata/records/record_encoder.h"

namespace sonde {
namespace {

/// Reads the lines of a file that is too long to be read whole, until `visit` returns false.
template <typename Visit>
void each_line(const std::string& path, const Visit& visit) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return;
  std::string buffer(64 * 1024, '\0');
  size_t have = 0;
  while (true) {
    ssize_t got = ::read(fd.get(), buffer.data() + have, buffer.size() - have);
    if (got <= 0) return;
    have += static_cast<size_t>(got);
    std::string_view rest(buffer.data(), have);
    for (size_t end; (end = rest.find('\n')) != std::string_view::npos; rest = rest.substr(end + 1))
      if (!visit(rest.substr(0, end))) return;
    if (rest.size() == buffer.size()) return;
    std::copy(rest.begin(), rest.end(), buffer.begin());
    have = rest.size();
  }
}

struct Kallsym {
  uint64_t address = 0;
  char type = 0;
  std::string_view name;

  [[nodiscard]] bool is_code() const { return type == 'T' || type == 't'; }
};

std::optional<Kallsym> parse_kallsym(std::string_view line) {
  size_t blank = line.find(' ');
  if (blank == std::string_view::npos || line.size() < blank + 4) return std::nullopt;
  std::optional<uint64_t> address = parse_hex(line.substr(0, blank));
  if (!address) return std::nullopt;
  std::string_view name = line.substr(blank + 3);
  return Kallsym{*address, line[blank + 1], name.substr(0, name.find('\t'))};
}

/// The size of the kernel's code according to the resource tree: exactly _text to _etext.
std::optional<uint64_t> code_size(const std::string& proc) {
  std::optional<uint64_t> size;
  each_line(proc + "/iomem", [&](std::string_view line) {
    if (!line.ends_with(" : Kernel code")) return true;
    line = trim(line.substr(0, line.find(" : ")));
    size_t dash = line.find('-');
    if (dash == std::string_view::npos) return false;
    std::optional<uint64_t> first = parse_hex(line.substr(0, dash));
    std::optional<uint64_t> last = parse_hex(line.substr(dash + 1));
    if (first && last && *last > *first) size = *last - *first + 1;
    return false;
  });
  return size;
}

/// Paths of module files by module name, from depmod's list.
std::unordered_map<std::string, std::string> module_paths() {
  std::unordered_map<std::string, std::string> paths;
  utsname system{};
  if (::uname(&system) != 0) return paths;
  std::string root = fmt::format("/lib/modules/{}/", system.release);
  each_line(root + "modules.dep", [&](std::string_view line) {
    std::string_view path = line.substr(0, line.find(':'));
    std::string_view file = path.substr(path.rfind('/') + 1);
    std::string name(file.substr(0, file.find(".ko")));
    std::ranges::replace(name, '-', '_');
    paths.emplace(std::move(name), root + std::string(path));
    return true;
  });
  return paths;
}

}  // namespace

std::optional<KernelText> kernel_text(const std::string& proc) {
  KernelText text;
  std::optional<uint64_t> size = code_size(proc);
  each_line(proc + "/kallsyms", [&](std::string_view line) {
    std::optional<Kallsym> symbol = parse_kallsym(line);
    if (!symbol) return true;
    // Lines are sorted by address, and _text never follows _stext; some kernels (arm64) list only
    // the latter.
    bool is_text = symbol->name == "_text" && symbol->is_code();
    bool is_stext = symbol->name == "_stext" && text.start == 0;
    if (is_text || is_stext) {
      text.start = symbol->address;
      text.symbol = symbol->name;
    }
    if (size && text.start != 0 && symbol->address > text.start) return false;
    if (symbol->name == "_etext") {
      text.end = symbol->address;
      return false;
    }
    return true;
  });
  if (text.start == 0) return std::nullopt;
  if (size) text.end = text.start + *size;
  if (text.end <= text.start) return std::nullopt;
  return text;
}

std::vector<KernelModule> kernel_modules(const std::string& proc) {
  std::vector<KernelModule> modules;
  // name size users dependencies state address
  each_line(proc + "/modules", [&](std::string_view line) {
    std::vector<std::string_view> words = split(line, ' ');
    if (words.size() < 6) return true;
    std::optional<uint64_t> size = parse_number(words[1]);
    std::optional<uint64_t> start = parse_hex(words[5]);
    if (size && start && *start != 0) modules.push_back({std::string(words[0]), {}, *start, *size});
    return true;
  });
  if (modules.empty()) return modules;
  std::unordered_map<std::string, std::string> paths = module_paths();
  for (KernelModule& module : modules) {
    auto found = paths.find(module.name);
    module.path = found == paths.end() ? "[" + module.name + "]" : found->second;
  }
  std::ranges::sort(modules, {}, &KernelModule::start);
  return modules;
}

namespace {

/// Writes MMAP records of one machine.
class KernelMappings {
 public:
  KernelMappings(uint16_t mode, uint32_t pid, const abi::EventAttr& attr, ByteBuilder& out)
      : pid_(pid), frame_{.misc = mode, .attr = &attr, .id = kSynthesisedId}, out_(out) {}

  void add(uint64_t start, uint64_t size, uint64_t offset, std::string_view path) {
    MmapRecord record{};
    record.pid = pid_;
    record.tid = 0;
    record.start = RuntimeAddr(start);
    record.length = size;
    record.offset = FileOffset(offset);
    record.path = path;
    encode(record, frame_, out_);
  }

 private:
  uint32_t pid_;
  RecordFrame frame_;
  ByteBuilder& out_;
};

}  // namespace

void synthesise_kernel(const abi::EventAttr& attr, ByteBuilder& out) {
  KernelMappings mappings(abi::kMiscKernel, UINT32_MAX, attr, out);
  std::optional<KernelText> text = kernel_text();
  if (!text) return;
  mappings.add(text->start, text->end - text->start, text->start,
               "[kernel.kallsyms]" + text->symbol);
  for (const KernelModule& module : kernel_modules())
    mappings.add(module.start, module.size, 0, module.path);
}

void synthesise_guest(const GuestLayout& guest, const abi::EventAttr& attr, ByteBuilder& out) {
  KernelMappings mappings(abi::kMiscGuestKernel, guest.pid, attr, out);
  for (const GuestModule& module : guest.modules)
    mappings.add(module.start.value, module.end - module.start, 0, module.name);
  if (!guest.path.empty())
    mappings.add(guest.start.value, guest.end - guest.start, guest.text.value, guest.path);
}

}  // namespace sonde
