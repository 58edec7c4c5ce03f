// GFP flags of allocations as text: as in the kernel's print format, and short enough for a column.
//
//   GFP_KERNEL|__GFP_ZERO      K|Z
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace sonde {

/// Letters for flag names; names without one are left out.
[[nodiscard]] std::string short_gfp(std::string_view names);

class GfpNames {
 public:
  /// `line`: an mm_page_alloc sample with these flags as text, "… gfp_flags=GFP_KERNEL|__GFP_ZERO".
  void add(uint32_t flags, std::string_view line);
  [[nodiscard]] bool knows(uint32_t flags) const { return names_.contains(flags); }

  struct Name {
    std::string full, brief;
  };
  /// By flags.
  [[nodiscard]] const std::map<uint32_t, Name>& all() const { return names_; }
  [[nodiscard]] std::string_view brief(uint32_t flags) const;
  /// Of the longest brief name.
  [[nodiscard]] size_t width() const;

 private:
  std::map<uint32_t, Name> names_;
};

}  // namespace sonde
