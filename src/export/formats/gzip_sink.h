// A Sink that compresses its input into one gzip member (RFC 1952) and passes it on. Blocks are
// compressed in parallel and joined at byte boundaries, like pigz, so that half a million samples
// don't wait for one core. The output does not depend on the number of threads.
#pragma once

#include <string>
#include <vector>

#include "base/sink.h"

namespace sonde {

class GzipSink final : public Sink {
 public:
  explicit GzipSink(Sink& out) : out_(out) {}
  /// Writes the remaining data and the trailer. Nothing may be written after it.
  void finish();
  [[nodiscard]] int failed() const override { return out_.failed(); }

 protected:
  void emit(std::string_view text) override;

 private:
  void compress_waiting(bool is_last);

  Sink& out_;
  std::string waiting_;
  uint32_t checksum_ = 0;
  uint32_t size_ = 0;  // modulo 2^32, as in the trailer
  bool is_begun_ = false;
};

}  // namespace sonde
