#include "base/output_file.h"

#include <cstring>

#include "base/output/overwriting.h"

namespace sonde {

Result<OutputFile> OutputFile::open(const std::string& path, Sink& standard_output) {
  OutputFile output;
  output.out_ = &standard_output;
  if (path.empty() || path == "-") return output;
  output.path_ = path;
  constexpr mode_t kEverybodyReads = 0666;  // minus the user's umask
  auto file = overwrite(path, kEverybodyReads);
  if (!file) return fail(ErrorCode::kIo, "cannot write {}: {}", path, file.error());
  output.fd_ = std::move(*file);
  output.own_ = std::make_unique<FdSink>(output.fd_.get());
  return output;
}

Result<> OutputFile::finish() {
  if (!own_) return {};
  own_->flush();
  if (int error = own_->failed(); error != 0)
    return fail(ErrorCode::kIo, "cannot write {}: {}", path_, std::strerror(error));
  return {};
}

}  // namespace sonde
