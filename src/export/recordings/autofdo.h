// The text form of AutoFDO's profiles, which create_llvm_prof and create_gcov read with
// --profiler=text: three tables, each after the number of its lines,
//
//   START-END:COUNT     code run from one branch to the next, both instructions included
//   ADDRESS:COUNT       single samples: none, branches say more
//   FROM->TO:COUNT      branches taken; TO is 0 outside of the object
//
// of hexadecimal offsets in the object's file; at the end its build id and path, as comments.
#pragma once

#include <string_view>

#include "base/sink.h"
#include "profile/branch_profile.h"

namespace sonde {

/// `build_id`: raw bytes, may be empty.
void write_autofdo(Sink& out, const BranchProfile::Object& object, std::string_view build_id,
                   std::string_view path);

}  // namespace sonde
