#include "datatype/session_types.h"

#include <fmt/format.h>

namespace sonde::datatype {
namespace {

constexpr std::string_view kNoTypeName = "(unknown)";

/// Kinds whose own code and debug information are in files.
bool has_files(DsoKind kind) {
  return kind == DsoKind::kFile || kind == DsoKind::kKernel || kind == DsoKind::kModule ||
         kind == DsoKind::kVdso;
}

/// Why an object has no types; follows its name.
std::string_view what_is_missing(DsoKind kind) {
  switch (kind) {
    case DsoKind::kKernel:
      return "there is no debug information: name a vmlinux that has it with -k";
    case DsoKind::kModule:
      return "there is no module file with its debug information: install the debug package of the "
             "kernel";
    case DsoKind::kFile:
    case DsoKind::kVdso:
      return "there is no debug information: build it with -g, or install its debug package";
    case DsoKind::kJit:
    case DsoKind::kJitDump:
      return "those of generated code are not read";
    case DsoKind::kBpf:
      return "those of BPF programs are not read";
    default:
      return "it has no code in a file";
  }
}

}  // namespace

SessionTypes::Object& SessionTypes::object_of(DsoId dso) {
  auto [found, is_new] = objects_.try_emplace(dso);
  Object& object = found->second;
  if (!is_new) return object;
  const Dso& recorded = session_.machine().dsos()[dso];
  if (!has_files(recorded.kind)) return object;
  annotate::CodeObject code;
  if (recorded.kind != DsoKind::kKernel) code.files = session_.symbolizer().object_files(dso);
  auto data = ObjectData::open(session_.symbolizer().debug_info(dso), code.image());
  if (!data) return object;
  // A module's code makes sense only together with the relocations in its file.
  if (recorded.kind == DsoKind::kModule && (*data)->unlinked() == nullptr) return object;
  object.data = std::move(*data);
  return object;
}

std::optional<PlacedCode> SessionTypes::code_of(const Frame& frame) {
  if (!frame.dso.valid() || !frame.symbol.valid()) return std::nullopt;
  SymbolInfo symbol = session_.symbolizer().info(frame.symbol);
  uint64_t distance = frame.address - symbol.start;
  if (const Object& object = object_of(frame.dso); object.data && object.data->unlinked()) {
    auto function = object.data->unlinked()->find(symbol.name);
    if (!function) return std::nullopt;
    const auto& recorded = session_.recording().features().arch;
    return PlacedCode{.function = function->code,
                      .function_address = function->address,
                      .address = function->address + distance,
                      .arch = abi::arch_from_machine(recorded.value_or("x86_64")),
                      .is_64_bit = object.data->unlinked()->is_64bit()};
  }
  auto [found, is_new] = functions_.try_emplace(frame.symbol.value, annotate::FunctionCode());
  if (is_new) found->second = code_.find(symbol);
  if (!found->second) return std::nullopt;
  const annotate::FunctionCode& code = *found->second;
  return PlacedCode{.function = code.bytes,
                    .function_address = code.address,
                    .address = code.address + distance,
                    .arch = code.arch,
                    .is_64_bit = code.is_64_bit};
}

FoundAccess SessionTypes::access_of(const Frame& frame) {
  if (!frame.dso.valid() || !frame.symbol.valid()) return {};
  Object& object = object_of(frame.dso);
  if (!object.data) return {{.kind = AccessKind::kNoDebugInfo, .type = {}}, nullptr};
  auto code = code_of(frame);
  if (!code) return {};
  return {object.data->access_at(code->function, code->function_address, code->arch,
                                 code->is_64_bit, code->address),
          object.data.get()};
}

DataPlace SessionTypes::place_of(const Frame& frame) {
  return text_of(access_of(frame));
}

DataPlace SessionTypes::text_of(const FoundAccess& found) {
  const DataAccess& access = found.access;
  switch (access.kind) {
    case AccessKind::kData:
      break;
    case AccessKind::kStack:
      return {.type = "(stack operation)", .field = {}};
    case AccessKind::kCanary:
      return {.type = "(stack canary)", .field = {}};
    default:
      return {.type = kNoTypeName, .field = {}};
  }
  DataTypes& types = found.object->types();
  std::string name = types.plain_name(access.type);
  if (name.empty()) return {.type = kNoTypeName, .field = {}};
  return {.type = kept(name),
          .field = kept(types.field_at(access.type, access.offset, access.size).path),
          .offset = access.offset,
          .type_size = types.size_of(access.type)};
}

std::vector<std::string> SessionTypes::notes() const {
  std::vector<std::string> lines;
  for (const auto& [dso, object] : objects_)
    if (!object.data) lines.push_back(note_on(dso));
  return lines;
}

std::string SessionTypes::note_on(DsoId dso) const {
  auto object = objects_.find(dso);
  if (object == objects_.end() || object->second.data) return {};
  const Dso& recorded = session_.machine().dsos()[dso];
  return fmt::format("{}: no types of data, because {}", recorded.path,
                     what_is_missing(recorded.kind));
}

}  // namespace sonde::datatype
