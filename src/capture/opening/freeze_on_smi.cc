#include "capture/opening/freeze_on_smi.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/text.h"

namespace sonde {
namespace {

Result<> write_setting(const std::string& setting, std::string_view value) {
  Fd file(::open(setting.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.valid())
    return fail(ErrorCode::kPermission, "Failed to set freeze_on_smi: {}", std::strerror(errno));
  return write_all(file.get(), setting, as_bytes(value));
}

}  // namespace

Result<FreezeOnSmi> FreezeOnSmi::set(const std::string& setting) {
  Result<std::string> now = read_file(setting);
  if (!now)
    return fail(ErrorCode::kUnsupported,
                "--smi-cost: this machine's counters cannot be stopped in system management mode");
  if (trim(*now) != "0") return FreezeOnSmi({});
  TRY(write_setting(setting, "1"));
  return FreezeOnSmi(setting);
}

FreezeOnSmi::~FreezeOnSmi() {
  if (!restore_.empty()) (void)write_setting(restore_, "0");
}

}  // namespace sonde
