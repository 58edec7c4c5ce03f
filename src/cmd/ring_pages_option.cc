#include "cmd/ring_pages_option.h"

#include "capture/ring_set.h"

namespace sonde {

std::function<Result<>(std::string_view)> ring_pages_into(uint64_t& pages) {
  return [&pages](std::string_view text) -> Result<> {
    bool rounded = false;
    pages = TRY(parse_ring_pages(text, rounded));
    return {};
  };
}

}  // namespace sonde
