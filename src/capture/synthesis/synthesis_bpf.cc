#include "capture/synthesis/synthesis_bpf.h"

#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "base/file.h"
#include "base/text.h"
#include "perfdata/records/record_encoder.h"

namespace sonde {
namespace {

/// Arrays that perf stores for a program; the numbers are perf's (tools/lib/perf bpf-utils).
enum StoredArray : uint64_t {
  kJitedInstructions = 0,
  kXlatedInstructions = 1,
  kMapIds = 2,
  kJitedSymbols = 3,
  kJitedLengths = 4,
  kFunctionInfo = 5,
  kLineInfo = 6,
  kJitedLineInfo = 7,
  kProgramTags = 8,
};

long bpf(int command, bpf_attr& attr) {
  return ::syscall(SYS_bpf, command, &attr, sizeof attr);
}

Fd object_fd(int command, uint32_t id) {
  bpf_attr attr{};
  attr.prog_id = id;
  return Fd(static_cast<int>(bpf(command, attr)));
}

template <typename Info>
bool object_info(const Fd& fd, Info& info) {
  bpf_attr attr{};
  attr.info.bpf_fd = static_cast<uint32_t>(fd.get());
  attr.info.info_len = sizeof info;
  attr.info.info = reinterpret_cast<uint64_t>(&info);
  return bpf(BPF_OBJ_GET_INFO_BY_FD, attr) == 0;
}

std::optional<uint32_t> next_id(int command, uint32_t after) {
  bpf_attr attr{};
  attr.start_id = after;
  if (bpf(command, attr) != 0) return std::nullopt;
  return attr.next_id;
}

/// One array of bpf_prog_info: the fields with its pointer, its count and the size of an entry.
struct ArrayField {
  uint64_t number;
  __aligned_u64 bpf_prog_info::* pointer;
  uint32_t bpf_prog_info::* count;
  uint32_t bpf_prog_info::* entry_field;  // null: use `entry`
  uint32_t entry;
};
const ArrayField kArrays[] = {
    {kJitedInstructions, &bpf_prog_info::jited_prog_insns, &bpf_prog_info::jited_prog_len, nullptr,
     1},
    {kJitedSymbols, &bpf_prog_info::jited_ksyms, &bpf_prog_info::nr_jited_ksyms, nullptr, 8},
    {kJitedLengths, &bpf_prog_info::jited_func_lens, &bpf_prog_info::nr_jited_func_lens, nullptr,
     4},
    {kFunctionInfo, &bpf_prog_info::func_info, &bpf_prog_info::nr_func_info,
     &bpf_prog_info::func_info_rec_size, 0},
    {kLineInfo, &bpf_prog_info::line_info, &bpf_prog_info::nr_line_info,
     &bpf_prog_info::line_info_rec_size, 0},
    {kJitedLineInfo, &bpf_prog_info::jited_line_info, &bpf_prog_info::nr_jited_line_info,
     &bpf_prog_info::jited_line_info_rec_size, 0},
    {kProgramTags, &bpf_prog_info::prog_tags, &bpf_prog_info::nr_prog_tags, nullptr, BPF_TAG_SIZE},
};

/// A program's info together with its arrays, filled in by the kernel.
struct ProgramInfo {
  bpf_prog_info info{};
  std::vector<std::byte> data;
  uint64_t arrays = 0;

  [[nodiscard]] static std::optional<ProgramInfo> read(const Fd& fd) {
    bpf_prog_info sizes{};
    if (!object_info(fd, sizes)) return std::nullopt;
    ProgramInfo program;
    size_t room = 0;
    struct Place {
      const ArrayField* field;
      size_t at;
    };
    std::vector<Place> places;
    for (const ArrayField& field : kArrays) {
      uint32_t count = sizes.*field.count;
      uint32_t entry = field.entry_field != nullptr ? sizes.*field.entry_field : field.entry;
      if (count == 0 || entry == 0) continue;
      program.info.*field.count = count;
      if (field.entry_field != nullptr) program.info.*field.entry_field = entry;
      places.push_back({&field, room});
      room += (size_t{count} * entry + 7) / 8 * 8;
      program.arrays |= uint64_t{1} << field.number;
    }
    program.data.resize(room);
    for (const Place& place : places)
      program.info.*(place.field->pointer) =
          reinterpret_cast<uint64_t>(program.data.data() + place.at);
    if (!object_info(fd, program.info)) return std::nullopt;
    // Offsets are valid in a file, pointers are not.
    for (const Place& place : places) program.info.*(place.field->pointer) = place.at;
    return program;
  }

  template <typename T>
  [[nodiscard]] T at(uint64_t offset, size_t index) const {
    T value{};
    size_t place = offset + index * sizeof(T);
    if (place + sizeof(T) <= data.size()) std::memcpy(&value, data.data() + place, sizeof value);
    return value;
  }
};

/// The name of a function by its type id, from BTF (Documentation/bpf/btf.rst).
std::string function_name(Bytes btf, uint32_t type_id) {
  ByteCursor header(btf);
  header.skip(4);  // magic, version, flags
  uint32_t header_length = header.u32();
  uint32_t types_at = header.u32(), types_length = header.u32();
  uint32_t strings_at = header.u32(), strings_length = header.u32();
  if (!header.ok() || btf.size() < header_length) return {};
  Bytes body = btf.subspan(header_length);
  if (uint64_t{types_at} + types_length > body.size() ||
      uint64_t{strings_at} + strings_length > body.size())
    return {};
  ByteCursor types(body.subspan(types_at, types_length));
  std::string_view strings = as_text(body.subspan(strings_at, strings_length));
  for (uint32_t id = 1; types.left() >= 12; ++id) {
    uint32_t name = types.u32();
    uint32_t info = types.u32();
    types.skip(4);
    if (id == type_id) {
      if (name >= strings.size()) return {};
      std::string_view text = strings.substr(name);
      return std::string(text.substr(0, text.find('\0')));
    }
    uint32_t kind = info >> 24 & 31;
    uint32_t members = info & 0xffff;
    constexpr uint32_t kInt = 1, kArray = 3, kStruct = 4, kUnion = 5, kEnum = 6, kFuncProto = 13,
                       kVar = 14, kDatasec = 15, kDeclTag = 17, kEnum64 = 19;
    if (kind == kInt || kind == kVar || kind == kDeclTag) types.skip(4);
    if (kind == kArray) types.skip(12);
    if (kind == kStruct || kind == kUnion || kind == kDatasec || kind == kEnum64)
      types.skip(uint64_t{members} * 12);
    if (kind == kEnum || kind == kFuncProto) types.skip(uint64_t{members} * 8);
  }
  return {};
}

std::vector<LoadedBpfProgram::Function> functions_of(const ProgramInfo& program) {
  std::vector<LoadedBpfProgram::Function> functions;
  const bpf_prog_info& info = program.info;
  std::optional<std::vector<std::byte>> btf;
  if (info.btf_id != 0 && info.nr_func_info != 0) btf = bpf_type_info(info.btf_id);
  for (uint32_t i = 0; i < info.nr_jited_ksyms && i < info.nr_jited_func_lens; ++i) {
    std::string tag(BPF_TAG_SIZE, '\0');
    for (size_t byte = 0; byte < tag.size(); ++byte)
      tag[byte] = program.at<char>(info.prog_tags + i * BPF_TAG_SIZE, byte);
    std::string name;
    if (btf && i < info.nr_func_info)
      name = function_name(
          *btf, program.at<uint32_t>(info.func_info + uint64_t{i} * info.func_info_rec_size, 1));
    else
      name = info.nr_jited_ksyms == 1 ? std::string(info.name) : std::string("F");
    functions.push_back({"bpf_prog_" + to_hex(tag) + (name.empty() ? "" : "_" + name),
                         program.at<uint64_t>(info.jited_ksyms, i),
                         program.at<uint32_t>(info.jited_func_lens, i)});
  }
  return functions;
}

std::vector<std::byte> stored_form(const ProgramInfo& program) {
  ByteBuilder out;
  out.u32(sizeof program.info);
  out.u32(static_cast<uint32_t>(program.data.size()));
  out.u64(program.arrays);
  out.bytes({reinterpret_cast<const std::byte*>(&program.info), sizeof program.info});
  out.bytes(program.data);
  return {out.view().begin(), out.view().end()};
}

}  // namespace

std::optional<std::vector<std::byte>> bpf_type_info(uint32_t id) {
  Fd fd = object_fd(BPF_BTF_GET_FD_BY_ID, id);
  if (!fd.valid()) return std::nullopt;
  bpf_btf_info info{};
  if (!object_info(fd, info)) return std::nullopt;
  std::vector<std::byte> data(info.btf_size);
  bpf_btf_info again{};
  again.btf = reinterpret_cast<uint64_t>(data.data());
  again.btf_size = static_cast<uint32_t>(data.size());
  if (!object_info(fd, again)) return std::nullopt;
  return data;
}

std::optional<LoadedBpfProgram> loaded_bpf_program(uint32_t id) {
  Fd fd = object_fd(BPF_PROG_GET_FD_BY_ID, id);
  if (!fd.valid()) return std::nullopt;
  std::optional<ProgramInfo> info = ProgramInfo::read(fd);
  if (!info) return std::nullopt;
  LoadedBpfProgram program;
  program.id = id;
  program.btf_id = info->info.btf_id;
  program.tag.assign(reinterpret_cast<const char*>(info->info.tag), BPF_TAG_SIZE);
  program.functions = functions_of(*info);
  program.stored = stored_form(*info);
  return program;
}

std::vector<LoadedBpfProgram> loaded_bpf_programs() {
  std::vector<LoadedBpfProgram> programs;
  uint32_t id = 0;
  while (std::optional<uint32_t> next = next_id(BPF_PROG_GET_NEXT_ID, id)) {
    id = *next;
    if (std::optional<LoadedBpfProgram> program = loaded_bpf_program(id))
      programs.push_back(std::move(*program));
  }
  return programs;
}

void synthesise_bpf(const abi::EventAttr& attr, ByteBuilder& out) {
  constexpr uint16_t kKsymbolBpf = 1;   // PERF_RECORD_KSYMBOL_TYPE_BPF
  constexpr uint16_t kProgramLoad = 1;  // PERF_BPF_EVENT_PROG_LOAD
  RecordFrame plain{.attr = &attr, .id = kSynthesisedId};
  for (const LoadedBpfProgram& program : loaded_bpf_programs()) {
    for (const LoadedBpfProgram::Function& function : program.functions)
      encode(KsymbolRecord{RuntimeAddr(function.address), function.length, kKsymbolBpf, 0,
                           function.name},
             plain, out);
    encode(BpfEventRecord{kProgramLoad, 0, program.id, as_bytes(program.tag)}, plain, out);
  }
}

}  // namespace sonde
