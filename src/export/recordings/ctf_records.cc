#include "export/recordings/ctf_records.h"

#include <span>

#include "base/utf8.h"
#include "perfdata/records/sideband.h"

namespace sonde {
namespace {

constexpr CtfNumber kU32{.bits = 32};
constexpr CtfNumber kU64{.bits = 64};
constexpr CtfNumber kHex64{.bits = 64, .is_hex = true};

/// A number, or a string if `number` is null.
struct RecordField {
  std::string_view name;
  const CtfNumber* number;
};
constexpr RecordField kCommFields[] = {{"pid", &kU32}, {"tid", &kU32}, {"comm", nullptr}};
constexpr RecordField kTaskFields[] = {
    {"pid", &kU32}, {"ppid", &kU32}, {"tid", &kU32}, {"ptid", &kU32}, {"time", &kU64}};
constexpr RecordField kMmapFields[] = {
    {"pid", &kU32}, {"tid", &kU32}, {"start", &kHex64}, {"filename", nullptr}};

struct RecordKind {
  uint32_t type;
  std::string_view name;
  std::span<const RecordField> fields;
};
constexpr RecordKind kKinds[] = {
    {abi::kRecordComm, "perf_comm", kCommFields},   {abi::kRecordExit, "perf_exit", kTaskFields},
    {abi::kRecordFork, "perf_fork", kTaskFields},   {abi::kRecordMmap, "perf_mmap", kMmapFields},
    {abi::kRecordMmap2, "perf_mmap2", kMmapFields},
};

std::string fields_of(const CommRecord& comm) {
  std::string bytes;
  kU32.append(bytes, comm.pid);
  kU32.append(bytes, comm.tid);
  append_utf8(bytes, comm.comm);
  return bytes + '\0';
}
std::string fields_of(const TaskRecord& task) {
  std::string bytes;
  for (uint32_t id : {task.pid, task.ppid, task.tid, task.ptid}) kU32.append(bytes, id);
  kU64.append(bytes, task.time);
  return bytes;
}
std::string fields_of(const MmapRecord& mmap) {
  std::string bytes;
  kU32.append(bytes, mmap.pid);
  kU32.append(bytes, mmap.tid);
  kHex64.append(bytes, mmap.start.value);
  append_utf8(bytes, mmap.path);
  return bytes + '\0';
}

template <typename Record>
std::optional<std::string> fields_as(const RecordView& record, const SampleLayout& layout) {
  auto decoded = decode_as<Record>(record, layout);
  if (!decoded) return std::nullopt;
  return fields_of(*decoded);
}

std::optional<std::string> fields_of(const RecordView& record, const SampleLayout& layout) {
  switch (record.type) {
    case abi::kRecordComm:
      return fields_as<CommRecord>(record, layout);
    case abi::kRecordExit:
    case abi::kRecordFork:
      return fields_as<TaskRecord>(record, layout);
    case abi::kRecordMmap:
    case abi::kRecordMmap2:
      return fields_as<MmapRecord>(record, layout);
    default:
      return std::nullopt;
  }
}

}  // namespace

size_t ctf_record_kinds() {
  return std::size(kKinds);
}

std::string ctf_record_declarations(size_t first_id) {
  std::string text;
  for (const RecordKind& kind : kKinds) {
    text += fmt::format(
        "event {{\n\tid = {};\n\tname = \"{}\";\n\tstream_id = 0;\n\tfields := struct {{\n",
        first_id++, kind.name);
    for (const RecordField& field : kind.fields)
      text += fmt::format(
          "\t\t{} {};\n",
          field.number != nullptr ? field.number->text() : "string { encoding = UTF8; }",
          field.name);
    text += "\t};\n};\n\n";
  }
  return text;
}

std::optional<CtfRecord> ctf_record_of(const RecordView& record, const SampleLayout& layout) {
  for (uint32_t kind = 0; kind < std::size(kKinds); ++kind) {
    if (kKinds[kind].type != record.type) continue;
    auto fields = fields_of(record, layout);
    if (!fields) return std::nullopt;
    return CtfRecord{.kind = kind, .fields = std::move(*fields)};
  }
  return std::nullopt;
}

}  // namespace sonde
