// A record's words as numbers of this machine.
#pragma once

#include <vector>

#include "perfdata/records/sample.h"

namespace sonde {

inline std::vector<uint64_t> words_of(const WordView& view) {
  std::vector<uint64_t> words(view.size());
  for (size_t i = 0; i < words.size(); ++i) words[i] = view[i];
  return words;
}

}  // namespace sonde
