#include "objects/injected_mappings.h"

#include <sys/mman.h>

#include "perfdata/records/record_encoder.h"

namespace sonde {

InjectedMappings::InjectedMappings(const Session& session, bool of_all, const KnownBuildIds& known)
    : keeps_all_(of_all) {
  for (BuildIdEntry& entry : build_ids_to_inject(session, of_all, known))
    build_ids_.insert_or_assign(std::move(entry.path), std::move(entry.build_id));
  for (const Frame& frame : session.frames())
    if (frame.dso.valid()) hit_.insert(session.machine().dsos()[frame.dso].path);
}

bool InjectedMappings::rewrite(const InjectedRecord& record, ByteBuilder& out) {
  if (record.view.type != abi::kRecordMmap && record.view.type != abi::kRecordMmap2) return false;
  auto mapped = decode_as<MmapRecord>(record.view, record.layout);
  if (!mapped) return false;
  // The kernel's mapping is named after the symbol that it starts at, and is needed by all samples.
  bool is_kernel = record.view.cpu_mode() != abi::kMiscUser;
  if (!keeps_all_ && !is_kernel && !hit_.contains(mapped->path)) return true;
  auto known = build_ids_.find(mapped->path);
  if (known == build_ids_.end() || !mapped->build_id.empty()) return false;
  bool executable = mapped->executable();
  mapped->build_id = as_bytes(known->second);
  if (!mapped->is_v2) {
    mapped->is_v2 = true;
    mapped->protection = executable ? PROT_READ | PROT_EXEC : PROT_READ;
    mapped->flags = MAP_PRIVATE;
  }
  RecordFrame frame{.type = abi::kRecordMmap2,
                    .misc = record.view.misc,
                    .attr = &record.layout.attr(),
                    .id = decode_trailing_id(record.view, record.layout)};
  return encode(*mapped, frame, out);
}

}  // namespace sonde
