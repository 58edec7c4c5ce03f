// The explorer: a profile and its viewer in one HTML file. It makes no network requests, and has
// the browser enforce that. The program in it is web/explorer/, bundled when Sonde is built.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/sink.h"
#include "export/page/page_data.h"
#include "stacks/stack_profile.h"

namespace sonde {

/// Fails only if there is no memory to deflate.
Result<> write_page(Sink& out, const StackProfile& profile, const PageDescription& description);

/// Raw deflate (RFC 1951), which browsers can inflate.
Result<std::string> deflate_raw(std::string_view bytes);
/// RFC 4648, with padding.
[[nodiscard]] std::string base64(std::string_view bytes);

/// The bundled program and its style sheet, embedded at build time.
std::string_view explorer_script();
std::string_view explorer_style();

}  // namespace sonde
