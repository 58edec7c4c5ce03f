#include "disasm/capstone_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace sonde::disasm {
namespace {

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

std::string file_name() {
  return fmt::format("libcapstone.so.{}", CS_API_MAJOR);
}

CapstoneLibrary load() {
  CapstoneLibrary made;
  void* library = ::dlopen(file_name().c_str(), RTLD_NOW | RTLD_LOCAL);
  bool is_complete = library != nullptr && find(library, "cs_open", made.open) &&
                     find(library, "cs_option", made.option) &&
                     find(library, "cs_disasm", made.disasm) &&
                     find(library, "cs_insn_group", made.insn_group) &&
                     find(library, "cs_free", made.free) && find(library, "cs_close", made.close);
  return is_complete ? made : CapstoneLibrary();
}

}  // namespace

Result<const CapstoneLibrary*> CapstoneLibrary::get() {
  static const CapstoneLibrary library = load();
  if (library.open == nullptr)
    return fail(ErrorCode::kUnsupported, "arm64 instructions: {} is missing: install it",
                file_name());
  return &library;
}

}  // namespace sonde::disasm
