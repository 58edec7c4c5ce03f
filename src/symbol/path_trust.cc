#include "symbol/path_trust.h"

#include <sys/utsname.h>

#include <fstream>
#include <optional>

#include "base/text.h"
#include "machine/machine.h"

namespace sonde {
namespace {

/// The address of a symbol near the beginning of the list, where those of the kernel's start are;
/// nullopt if it is not there, or hidden.
std::optional<uint64_t> early_address_of(std::string_view symbol, const std::string& kallsyms) {
  constexpr size_t kMaxLines = 20'000;  // per-CPU variables may come first
  std::ifstream lines(kallsyms);
  std::string line;
  for (size_t i = 0; i < kMaxLines && std::getline(lines, line); ++i) {
    if (!line.ends_with(symbol)) continue;
    std::vector<std::string_view> fields = split(line, ' ');
    if (fields.size() != 3 || fields[2] != symbol) continue;
    auto address = parse_hex(fields[0]);
    return address == uint64_t{0} ? std::nullopt : address;
  }
  return std::nullopt;
}

}  // namespace

bool is_this_host(const RecordedHost& host) {
  utsname here{};
  return ::uname(&here) == 0 && host.name == static_cast<const char*>(here.nodename) &&
         host.release == static_cast<const char*>(here.release);
}

bool is_this_boot(const RecordedHost& host, const Machine& machine, const std::string& proc) {
  bool says_nothing = host.name.empty() && host.release.empty();
  if (!says_nothing && !is_this_host(host)) return false;
  DsoId id = machine.dsos().find("[kernel.kallsyms]");
  if (!id.valid()) return !says_nothing;
  const Dso& kernel = machine.dsos()[id];
  if (kernel.reference_symbol.empty() || kernel.reference_address.value == 0) return !says_nothing;
  auto here = early_address_of(kernel.reference_symbol, proc + "/kallsyms");
  // Where the kernel doesn't choose, many machines have it at one address (Documentation/arch/x86).
  constexpr uint64_t kLinkedAt = 0xffffffff81000000;
  if (says_nothing && here == kLinkedAt) return false;
  return here ? *here == kernel.reference_address.value : !says_nothing;
}

}  // namespace sonde
