#include "lock/lock_functions.h"

#include <array>

#include "symbol/kallsyms.h"

namespace sonde {

LockFunctions::LockFunctions(const std::string& kallsyms) {
  auto symbols = Kallsyms::open(kallsyms);
  if (!symbols) return;
  struct Section {
    std::string_view begin, end;
  };
  for (const Section& section : {Section{"__sched_text_start", "__sched_text_end"},
                                 Section{"__lock_text_start", "__lock_text_end"}}) {
    auto begin = symbols->address_of(section.begin);
    auto end = symbols->address_of(section.end);
    if (begin && end) ranges_.emplace_back(*begin, *end);
  }
}

}  // namespace sonde
