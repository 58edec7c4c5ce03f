#include "datatype/session_types.h"

#include <fmt/format.h>

namespace sonde::datatype {
namespace {

constexpr std::string_view kNoTypeName = "(unknown)";

/// Whose own code and debug information are files.
bool has_files(DsoKind kind) {
  return kind == DsoKind::kFile || kind == DsoKind::kKernel || kind == DsoKind::kVdso;
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
  if (data) object.data = std::move(*data);
  return object;
}

FoundAccess SessionTypes::access_of(const Frame& frame) {
  if (!frame.dso.valid() || !frame.symbol.valid()) return {};
  Object& object = object_of(frame.dso);
  if (!object.data) return {{.kind = AccessKind::kNoDebugInfo, .type = {}}, nullptr};
  SymbolInfo symbol = session_.symbolizer().info(frame.symbol);
  auto [found, is_new] = functions_.try_emplace(frame.symbol.value, annotate::FunctionCode());
  if (is_new) found->second = code_.find(symbol);
  if (!found->second) return {};
  const annotate::FunctionCode& code = *found->second;
  uint64_t address = code.address + (frame.address - symbol.start);
  DataAccess access =
      object.data->access_at(code.bytes, code.address, code.arch, code.is_64_bit, address);
  return {access, object.data.get()};
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
  for (const auto& [dso, object] : objects_) {
    if (object.data) continue;
    const Dso& recorded = session_.machine().dsos()[dso];
    bool is_kernel = recorded.kind == DsoKind::kKernel;
    lines.push_back(fmt::format("{}: no types of data, because there is no debug information: {}",
                                recorded.path,
                                is_kernel ? "name a vmlinux that has it with -k"
                                          : "build it with -g, or install its debug package"));
  }
  return lines;
}

}  // namespace sonde::datatype
