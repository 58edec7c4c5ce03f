// InlinedSymbols: inlined functions, as symbols. Each is identified by its name and the function
// that it was inlined into, so a function inlined into two others gives two symbols, as it has two
// copies of code.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include <tsl/robin_map.h>

#include "base/hashing/number_hash.h"
#include "base/ids.h"

namespace sonde {

using SymbolId = Id<struct SymbolTag>;

class InlinedSymbols {
 public:
  /// Set in the ids given out; those of symbol tables never get this large.
  static constexpr uint32_t kBit = uint32_t{1} << 31;
  [[nodiscard]] static bool has(SymbolId symbol) {
    return symbol.valid() && (symbol.value & kBit) != 0;
  }

  struct Inlined {
    SymbolId into;          // the enclosing function, which exists in the code
    std::string_view name;  // demangled
    std::string label;      // with a mark that distinguishes it from a function that is not inlined
  };
  /// `linkage_name` must stay valid; `shown(linkage_name)` gives its displayed form, once per name.
  template <typename Shown>
  SymbolId intern(SymbolId into, std::string_view linkage_name, const Shown& shown) {
    auto [name, is_new_name] =
        names_.try_emplace(linkage_name, static_cast<uint32_t>(names_.size()));
    if (is_new_name) shown_.push_back(shown(linkage_name));
    uint64_t key = uint64_t{into.value} << 32 | name->second;
    auto [found, is_new] = by_key_.try_emplace(key, static_cast<uint32_t>(all_.size()));
    if (is_new) {
      const std::string& text = shown_[name->second];
      all_.push_back({into, text, text + " (inlined)"});
    }
    return SymbolId(found->second | kBit);
  }
  [[nodiscard]] const Inlined& operator[](SymbolId symbol) const {
    return all_[symbol.value & ~kBit];
  }

 private:
  std::deque<Inlined> all_;
  tsl::robin_map<uint64_t, uint32_t, NumberHash> by_key_;
  tsl::robin_map<std::string_view, uint32_t> names_;
  std::deque<std::string> shown_;
};

}  // namespace sonde
