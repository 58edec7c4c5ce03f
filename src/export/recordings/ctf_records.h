// Non-sample records as Common Trace Format events (`data convert --all`): task names, exits and
// forks, and mappings.
#pragma once

#include <optional>
#include <string>

#include "export/recordings/ctf_number.h"
#include "replay/session.h"

namespace sonde {

/// Declarations for the metadata; their ids begin at `first_id`.
[[nodiscard]] std::string ctf_record_declarations(size_t first_id);
/// How many events these are.
[[nodiscard]] size_t ctf_record_kinds();
/// Which of them a record is, and its fields; nullopt for other or corrupt records.
struct CtfRecord {
  uint32_t kind;  // 0 is the first
  std::string fields;
};
[[nodiscard]] std::optional<CtfRecord> ctf_record_of(const RecordView& record,
                                                     const SampleLayout& layout);

}  // namespace sonde
