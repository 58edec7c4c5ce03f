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
  if (!is_this_host(host)) return false;
  DsoId id = machine.dsos().find("[kernel.kallsyms]");
  if (!id.valid()) return true;
  const Dso& kernel = machine.dsos()[id];
  if (kernel.reference_symbol.empty() || kernel.reference_address.value == 0) return true;
  auto here = early_address_of(kernel.reference_symbol, proc + "/kallsyms");
  return !here || *here == kernel.reference_address.value;
}

}  // namespace sonde
