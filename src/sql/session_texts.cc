#include "sql/session_texts.h"

#include <tsl/robin_map.h>
#include <xxhash.h>

#include <algorithm>
#include <numeric>

#include "base/hashing/number_hash.h"

namespace sonde::sql {

SessionTexts::SessionTexts(const Session& session) : session_(session) {
  StringPool& pool = session.strings();
  StringId unknown = pool.intern("[unknown]");
  constexpr uint32_t kNone = UINT32_MAX;
  tsl::robin_map<uint32_t, StringId> label_of, path_of;  // by symbol and by object
  symbols_.reserve(session.frames().size());
  objects_.reserve(session.frames().size());
  for (const Frame& frame : session.frames()) {
    uint32_t symbol = frame.symbol.valid() ? frame.symbol.value : kNone;
    auto [label, is_new] = label_of.try_emplace(symbol, unknown);
    if (is_new && symbol != kNone)
      label.value() = pool.intern(session.symbolizer().label(frame.symbol));
    symbols_.push_back(label->second);
    uint32_t dso = frame.dso.valid() ? frame.dso.value : kNone;
    auto [path, is_new_path] = path_of.try_emplace(dso, unknown);
    if (is_new_path && dso != kNone)
      path.value() = pool.intern(session.machine().dsos()[frame.dso].path);
    objects_.push_back(path->second);
  }
}

ChainId SessionTexts::same_chain(ChainId chain) {
  const ChainTable& chains = session_.chains();
  if (same_chains_.empty()) {
    tsl::robin_map<uint64_t, std::vector<ChainId>, NumberHash> by_hash;
    same_chains_.reserve(chains.size());
    for (size_t i = 0; i < chains.size(); ++i) {
      std::span<const FrameId> frames = chains[ChainId(i)];
      std::vector<ChainId>& known = by_hash[XXH3_64bits(frames.data(), frames.size_bytes())];
      auto same = std::ranges::find_if(
          known, [&](ChainId other) { return std::ranges::equal(chains[other], frames); });
      same_chains_.push_back(same == known.end() ? known.emplace_back(i) : *same);
    }
  }
  return same_chains_[chain.index()];
}

std::string SessionTexts::folded(ChainId chain) const {
  std::string out;
  std::span<const FrameId> frames = session_.chains()[chain];
  for (size_t i = frames.size(); i-- > 0;) {
    out += text(symbol(frames[i]));
    if (i > 0) out += ';';
  }
  return out;
}

std::vector<uint32_t> SessionTexts::sorted(const std::vector<StringId>& ids) const {
  // There are few distinct texts: they are sorted, and then rows are counted into place.
  std::vector<StringId> distinct = ids;
  std::ranges::sort(distinct, {}, &StringId::value);
  distinct.erase(std::ranges::unique(distinct).begin(), distinct.end());
  std::ranges::sort(distinct, {}, [this](StringId id) { return text(id); });
  std::vector<uint32_t> rank(session_.strings().size());
  for (size_t i = 0; i < distinct.size(); ++i) rank[distinct[i].index()] = static_cast<uint32_t>(i);
  std::vector<size_t> next(distinct.size() + 1);
  for (StringId id : ids) ++next[rank[id.index()] + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<uint32_t> order(ids.size());
  for (size_t i = 0; i < ids.size(); ++i)
    order[next[rank[ids[i].index()]]++] = static_cast<uint32_t>(i);
  return order;
}

}  // namespace sonde::sql
