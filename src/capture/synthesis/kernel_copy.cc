#include "capture/synthesis/kernel_copy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/file.h"
#include "base/output/overwriting.h"
#include "base/text.h"
#include "capture/synthesis/synthesis_kernel.h"
#include "elf/core_file.h"

namespace sonde {
namespace {

using FileHeader = CoreFile::Header;
using Segment = CoreFile::Segment;
constexpr uint64_t kPage = 4096;
constexpr size_t kPiece = 256 * 1024;

struct Range {
  uint64_t begin = UINT64_MAX, end = 0;
  [[nodiscard]] bool empty() const { return begin >= end; }
  void include(uint64_t first, uint64_t last) {
    begin = std::min(begin, first / kPage * kPage);
    end = std::max(end, (last + kPage - 1) / kPage * kPage);
  }
};

/// A part of /proc/kcore to be copied: its file offset there, and its addresses.
struct Part {
  Segment segment;  // as it will be in the copy
  uint64_t source_offset = 0;
};

Result<Fd> create(const std::string& path) {
  Fd fd = make_file(path, S_IRUSR | S_IWUSR);
  if (!fd.valid())
    return fail(ErrorCode::kIo, "failed to create {}: {}", path, std::strerror(errno));
  return fd;
}

Result<> write_file(const std::string& path, std::string_view text) {
  Fd fd = TRY(create(path));
  return write_all(fd.get(), path, as_bytes(text));
}

/// From the first module to the last symbol of a module or BPF program.
Range module_range(std::string_view kallsyms, const std::vector<KernelModule>& modules) {
  Range range;
  for (const KernelModule& module : modules)
    range.include(module.start, module.start + module.size);
  for (std::string_view rest = kallsyms; !rest.empty();) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (!line.ends_with(']')) continue;
    std::optional<uint64_t> address = parse_hex(line.substr(0, line.find(' ')));
    if (address && *address != 0) range.include(*address, *address + kPage);
  }
  return range;
}

/// Adds what the segments contain of `range`.
void add_parts(const std::vector<Segment>& segments, const Range& range, std::vector<Part>& parts) {
  if (range.empty()) return;
  for (const Segment& segment : segments) {
    if (segment.p_type != PT_LOAD || segment.p_vaddr + segment.p_memsz < segment.p_vaddr) continue;
    uint64_t begin = std::max<uint64_t>(segment.p_vaddr, range.begin);
    uint64_t end = std::min<uint64_t>(segment.p_vaddr + segment.p_memsz, range.end);
    if (begin >= end) continue;
    Part& part = parts.emplace_back();
    part.segment = segment;
    part.segment.p_flags = PF_R | PF_W | PF_X;
    part.segment.p_vaddr = begin;
    part.segment.p_paddr = 0;
    part.segment.p_filesz = part.segment.p_memsz = end - begin;
    part.segment.p_align = kPage;
    part.source_offset = segment.p_offset + (begin - segment.p_vaddr);
  }
}

/// Pages of zeros (there are many between modules) are left as holes.
Result<> copy_part(const CoreFile& from, int to, const Part& part, const std::string& name) {
  std::vector<std::byte> piece(kPiece);
  for (uint64_t done = 0; done < part.segment.p_filesz;) {
    size_t size = std::min<uint64_t>(kPiece, part.segment.p_filesz - done);
    if (!from.read(piece.data(), size, part.source_offset + done))
      return fail(ErrorCode::kIo, "failed to read the kernel's code: {}", std::strerror(errno));
    bool zero = std::ranges::all_of(piece.begin(), piece.begin() + static_cast<ptrdiff_t>(size),
                                    [](std::byte byte) { return byte == std::byte{}; });
    if (!zero) {
      ::lseek(to, static_cast<off_t>(part.segment.p_offset + done), SEEK_SET);
      TRY(write_all(to, name, Bytes(piece).first(size)));
    }
    done += size;
  }
  return {};
}

Result<> write_kcore(const CoreFile& kcore, const std::string& name, std::vector<Part>& parts) {
  FileHeader header = kcore.header();
  header.e_phoff = sizeof header;
  header.e_phnum = static_cast<uint16_t>(parts.size());
  header.e_shoff = 0;
  header.e_shnum = header.e_shstrndx = 0;
  uint64_t offset = (sizeof header + parts.size() * sizeof(Segment) + kPage - 1) / kPage * kPage;
  ByteBuilder head;
  head.bytes({reinterpret_cast<const std::byte*>(&header), sizeof header});
  for (Part& part : parts) {
    part.segment.p_offset = offset;
    offset += part.segment.p_filesz;
    head.bytes({reinterpret_cast<const std::byte*>(&part.segment), sizeof part.segment});
  }
  Fd copy = TRY(create(name));
  TRY(write_all(copy.get(), name, head.view()));
  for (const Part& part : parts) TRY(copy_part(kcore, copy.get(), part, name));
  if (::ftruncate(copy.get(), static_cast<off_t>(offset)) != 0)
    return fail(ErrorCode::kIo, "failed to write {}: {}", name, std::strerror(errno));
  return {};
}

/// A kernel without modules has no such list; readers expect a file.
std::string read_modules(const std::string& proc) {
  return read_file(proc + "/modules").value_or("");
}

Result<> copy_once(const std::string& directory, const std::string& proc,
                   const std::string& modules) {
  std::string source = proc + "/kcore";
  TRY(check_kcore_readable(proc));
  CoreFile kcore = TRY(CoreFile::open(source));
  std::string kallsyms = TRY(read_file(proc + "/kallsyms"));
  std::optional<KernelText> text = kernel_text(proc);
  if (!text)
    return fail(ErrorCode::kUnsupported,
                "--kcore: {}/kallsyms shows no address of the kernel's text (kernel.kptr_restrict)",
                proc);
  Range kernel;
  kernel.include(text->start, text->end);
  std::vector<Part> parts;
  add_parts(kcore.segments(), kernel, parts);
  if (parts.empty())
    return fail(ErrorCode::kUnsupported, "{} does not hold the kernel's text", source);
  add_parts(kcore.segments(), module_range(kallsyms, kernel_modules(proc)), parts);
  TRY(write_file(directory + "/kallsyms", kallsyms));
  TRY(write_file(directory + "/modules", modules));
  return write_kcore(kcore, directory + "/kcore", parts);
}

}  // namespace

Result<> check_kcore_readable(const std::string& proc) {
  std::string path = proc + "/kcore";
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.valid()) return {};
  int error = errno;
  const char* why = error == ENOENT ? " (this kernel was built without CONFIG_PROC_KCORE)"
                                    : " (this needs CAP_SYS_RAWIO, and no lockdown)";
  return fail(ErrorCode::kUnsupported, "ERROR: kcore is not readable: {}: {}{}", path,
              std::strerror(error), why);
}

Result<> copy_kernel(const std::string& directory, const std::string& proc) {
  if (::mkdir(directory.c_str(), S_IRWXU) != 0 && errno != EEXIST)
    return fail(ErrorCode::kIo, "failed to create {}: {}", directory, std::strerror(errno));
  // Modules that come or go meanwhile would leave symbols and code that don't match.
  constexpr int kTries = 3;
  for (int i = 0; i < kTries; ++i) {
    std::string modules = read_modules(proc);
    TRY(copy_once(directory, proc, modules));
    if (read_modules(proc) == modules) return {};
  }
  return fail(ErrorCode::kFailed,
              "--kcore: kernel modules were loaded or removed during each of {} copies", kTries);
}

}  // namespace sonde
