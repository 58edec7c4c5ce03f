// The explorer: a profile and all that looks at it in one HTML file. It asks nothing of any
// network, and says so to the browser. The program in it is web/explorer/, bundled when Sonde was
// built.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/sink.h"
#include "export/page_data.h"
#include "stacks/stack_profile.h"

namespace sonde {

/// An error only where there is no memory to deflate.
Result<> write_page(Sink& out, const StackProfile& profile, const PageDescription& description);

/// Raw deflate (RFC 1951), as browsers inflate it.
Result<std::string> deflate_raw(std::string_view bytes);
/// RFC 4648, with its padding.
[[nodiscard]] std::string base64(std::string_view bytes);

/// The bundled program and its style, put in when Sonde was built.
std::string_view explorer_script();
std::string_view explorer_style();

}  // namespace sonde
