// Small core files of a kernel's memory, for tests.
#pragma once

#include <link.h>

#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sonde {

/// A file like /proc/kcore on this machine: a note, then a segment for each (address, content).
inline std::string core_file(const std::vector<std::pair<uint64_t, std::string>>& memory) {
  constexpr size_t kPage = 0x1000;
  ElfW(Ehdr) header{};
  std::memcpy(static_cast<void*>(header.e_ident), ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_CORE;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof header;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(ElfW(Phdr));
  header.e_phnum = static_cast<uint16_t>(memory.size() + 1);
  std::string file(reinterpret_cast<const char*>(&header), sizeof header);
  auto add = [&](uint32_t type, uint64_t address, uint64_t offset, uint64_t size) {
    ElfW(Phdr) segment{};
    segment.p_type = type;
    segment.p_flags = PF_R | PF_W | PF_X;
    segment.p_vaddr = address;
    segment.p_offset = offset;
    segment.p_filesz = segment.p_memsz = size;
    file.append(reinterpret_cast<const char*>(&segment), sizeof segment);
  };
  add(PT_NOTE, 0, 0x300, 0);
  size_t offset = kPage;
  for (const auto& [address, content] : memory) {
    add(PT_LOAD, address, offset, content.size());
    offset += content.size();
  }
  file.resize(kPage, '\0');
  for (const auto& [address, content] : memory) file += content;
  return file;
}

}  // namespace sonde
