// The texts of a session's frames, each distinct one with a number, and the order of texts: what
// the tables of samples, stacks and frames share.
#pragma once

#include <string>
#include <vector>

#include "base/string_pool.h"
#include "replay/session.h"

namespace sonde::sql {

class SessionTexts {
 public:
  explicit SessionTexts(const Session& session);

  [[nodiscard]] const Session& session() const { return session_; }
  /// "[unknown]" without a symbol or an object.
  [[nodiscard]] StringId symbol(FrameId frame) const { return symbols_[frame.index()]; }
  [[nodiscard]] StringId object(FrameId frame) const { return objects_[frame.index()]; }
  [[nodiscard]] std::string_view text(StringId id) const { return session_.strings().view(id); }

  /// The lowest id of an equal chain: slices of a recording store equal chains separately.
  [[nodiscard]] ChainId same_chain(ChainId chain);
  /// "main;parse;read", outermost first.
  [[nodiscard]] std::string folded(ChainId chain) const;

  /// Positions 0 … ids.size() in the order of the texts (by bytes).
  [[nodiscard]] std::vector<uint32_t> sorted(const std::vector<StringId>& ids) const;

 private:
  const Session& session_;
  std::vector<StringId> symbols_, objects_;  // by frame
  std::vector<ChainId> same_chains_;         // by chain, once asked for
};

}  // namespace sonde::sql
