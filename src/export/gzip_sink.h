// A Sink that compresses what it is given into one gzip member (RFC 1952) and hands it on. Blocks
// are compressed side by side and joined at byte borders, as pigz does, so that half a million
// samples don't wait for one core. The bytes don't depend on the number of threads.
#pragma once

#include <string>
#include <vector>

#include "base/sink.h"

namespace sonde {

class GzipSink final : public Sink {
 public:
  explicit GzipSink(Sink& out) : out_(out) {}
  /// Writes the rest and the trailer. Nothing is written after it.
  void finish();
  [[nodiscard]] int failed() const override { return out_.failed(); }

 protected:
  void emit(std::string_view text) override;

 private:
  void compress_waiting(bool is_last);

  Sink& out_;
  std::string waiting_;
  uint32_t checksum_ = 0;
  uint32_t size_ = 0;  // modulo 2^32, as the trailer has it
  bool is_begun_ = false;
};

}  // namespace sonde
