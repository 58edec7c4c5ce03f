#include "capture/synthesis/build_id_journal.h"

#include "capture/synthesis/recording_features.h"
#include "perfdata/records/user_records.h"

namespace sonde {

void BuildIdJournal::write_new(const RecordScan& scan, size_t most, ByteBuilder& out) {
  for (const HitObject& hit : scan.hits(ids_.size(), most)) {
    const std::optional<std::string>& id = ids_.emplace_back(build_id_of(hit));
    if (!id) continue;
    BuildIdEntry entry;
    bool kernel = hit.kind == HitObject::Kind::kKernel;
    entry.misc = kernel ? abi::kMiscKernel : abi::kMiscUser;
    entry.build_id = *id;
    entry.path = hit.path;
    // Another file of that path may follow, and is not the one that this build id is of.
    entry.file = hit.file;
    encode(entry, abi::kRecordHeaderBuildId, out);
  }
}

std::vector<BuildIdEntry> BuildIdJournal::all(const RecordScan& scan) const {
  return build_ids_of(scan.hits(), ids_);
}

void BuildIdJournal::restart() {
  ids_.clear();
}

}  // namespace sonde
