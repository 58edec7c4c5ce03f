// Fetch arguments of the members of values, whatever describes their types: DWARF or BTF.
//
//   %di, "struct sock*", "sk->__sk_common.skc_state"     "+18(%di):x8"
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "probe/requested_probe.h"
#include "probe/source/fetch_text.h"
#include "probe/source/value_types.h"

namespace sonde {

/// The argument without its name, of a value that begins at `start`. kNotFound: no such member;
/// kUnsupported: the tracer cannot record it, and the message says what it could.
[[nodiscard]] Result<std::string> member_fetch(FetchText start, ValueType type,
                                               const RequestedArgument& argument,
                                               const ValueTypes& types);

/// fetch_name(), with a number appended if one of `texts` has that name: the tracer takes each
/// only once.
[[nodiscard]] std::string unique_fetch_name(const RequestedArgument& argument,
                                            const std::vector<std::string>& texts);

}  // namespace sonde
