// The options of `kmem`, accepted before the subcommand or after `stat`.
#pragma once

#include <memory>
#include <string>

#include "cli/command.h"
#include "cmd/options/recording_input.h"
#include "symbol/dso_symbols.h"

namespace sonde {

struct KmemOptions {
  /// Which of two was named last: 0 if it was not named, else the larger one. Their order decides
  /// what -s and -l apply to.
  int slab = 0, page = 0;
  int caller = 0, alloc = 0;
  struct Table {
    std::string sort;
    int64_t lines = -1;
  };
  Table slab_callers{"frag,hit,bytes"}, slab_objects{"frag,hit,bytes"};
  Table page_callers{"bytes,hit"}, pages{"bytes,hit"};
  std::string time;
  bool raw_addresses = false, live = false;
  bool pages_by_default = false;
  SymbolOptions symbols;
  RecordingInput input;

  void declare(FlagTable& flags);
  [[nodiscard]] bool wants_slab() const { return slab > 0 || (page == 0 && !pages_by_default); }
  [[nodiscard]] bool wants_page() const { return page > 0 || (slab == 0 && pages_by_default); }

 private:
  Result<> set_sort(std::string_view keys);
  Result<> set_lines(std::string_view count);
};

std::unique_ptr<Command> make_kmem_stat(KmemOptions options);

}  // namespace sonde
