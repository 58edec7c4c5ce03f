#include "kmem/gfp_names.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace sonde {
namespace {

struct Short {
  std::string_view name, letters;
};
// perf's letters.
constexpr std::array kShort{
    Short{"GFP_TRANSHUGE", "THP"},
    Short{"GFP_TRANSHUGE_LIGHT", "THL"},
    Short{"GFP_HIGHUSER_MOVABLE", "HUM"},
    Short{"GFP_HIGHUSER", "HU"},
    Short{"GFP_USER", "U"},
    Short{"GFP_KERNEL_ACCOUNT", "KAC"},
    Short{"GFP_KERNEL", "K"},
    Short{"GFP_NOFS", "NF"},
    Short{"GFP_ATOMIC", "A"},
    Short{"GFP_NOIO", "NI"},
    Short{"GFP_NOWAIT", "NW"},
    Short{"GFP_DMA", "D"},
    Short{"__GFP_HIGHMEM", "HM"},
    Short{"GFP_DMA32", "D32"},
    Short{"__GFP_HIGH", "H"},
    Short{"__GFP_ATOMIC", "_A"},
    Short{"__GFP_IO", "I"},
    Short{"__GFP_FS", "F"},
    Short{"__GFP_NOWARN", "NWR"},
    Short{"__GFP_RETRY_MAYFAIL", "R"},
    Short{"__GFP_NOFAIL", "NF"},
    Short{"__GFP_NORETRY", "NR"},
    Short{"__GFP_COMP", "C"},
    Short{"__GFP_ZERO", "Z"},
    Short{"__GFP_NOMEMALLOC", "NMA"},
    Short{"__GFP_MEMALLOC", "MA"},
    Short{"__GFP_HARDWALL", "HW"},
    Short{"__GFP_THISNODE", "TN"},
    Short{"__GFP_RECLAIMABLE", "RC"},
    Short{"__GFP_MOVABLE", "M"},
    Short{"__GFP_ACCOUNT", "AC"},
    Short{"__GFP_WRITE", "WR"},
    Short{"__GFP_RECLAIM", "R"},
    Short{"__GFP_DIRECT_RECLAIM", "DR"},
    Short{"__GFP_KSWAPD_RECLAIM", "KR"},
};

}  // namespace

std::string short_gfp(std::string_view names) {
  std::string text;
  for (std::string_view name : split(names, '|')) {
    auto found = std::ranges::find(kShort, name, &Short::name);
    if (found == kShort.end()) continue;
    if (!text.empty()) text += '|';
    text += found->letters;
  }
  return text;
}

void GfpNames::add(uint32_t flags, std::string_view line) {
  constexpr std::string_view kField = "gfp_flags=";
  Name name;
  if (size_t at = line.find(kField); at != std::string_view::npos) {
    std::string_view rest = line.substr(at + kField.size());
    name.full = rest.substr(0, rest.find(' '));
    name.brief = short_gfp(name.full);
  }
  names_.insert_or_assign(flags, std::move(name));
}

std::string_view GfpNames::brief(uint32_t flags) const {
  auto found = names_.find(flags);
  return found == names_.end() ? std::string_view() : std::string_view(found->second.brief);
}

size_t GfpNames::width() const {
  size_t width = 0;
  for (const auto& [flags, name] : names_) width = std::max(width, name.brief.size());
  return width;
}

}  // namespace sonde
