// Instructions per cycle of functions, for the sort key ipc_lbr: the averages in the headings of
// `annotate --stdio2`.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "annotate/listing_builder.h"
#include "profile/keys/sort_key.h"

namespace sonde::report {

class FunctionIpcs {
 public:
  explicit FunctionIpcs(const Session& session);
  /// Nothing where no cycles were recorded, or the code is not here. Thread-safe; a function is
  /// disassembled once.
  [[nodiscard]] std::optional<FunctionIpc> of(SymbolId symbol);

 private:
  [[nodiscard]] bool has_blocks(SymbolId symbol);
  [[nodiscard]] std::optional<FunctionIpc> find(SymbolId symbol);

  const Session& session_;
  annotate::ListingBuilder code_;
  std::mutex mutex_;
  std::optional<std::set<uint32_t>> with_blocks_;  // symbols; known when first needed
  std::map<uint32_t, std::optional<FunctionIpc>> known_;
};

}  // namespace sonde::report
