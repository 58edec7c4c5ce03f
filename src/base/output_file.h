// Where a picture or another tool's format is written: a file, or standard output.
//
//   OutputFile output = TRY(OutputFile::open(path, env));
//   write_something(output.sink());
//   TRY(output.finish());
#pragma once

#include <memory>
#include <string>

#include "base/env.h"
#include "base/error.h"
#include "base/file.h"

namespace sonde {

class OutputFile {
 public:
  /// "" and "-" are standard output. An existing file is overwritten, unless it is a recording
  /// (base/output/overwriting.h); errors name the file.
  static Result<OutputFile> open(const std::string& path, Env& env) { return open(path, env.out); }
  static Result<OutputFile> open(const std::string& path, Sink& standard_output);
  [[nodiscard]] Sink& sink() { return own_ ? *own_ : *out_; }
  [[nodiscard]] bool is_file() const { return own_ != nullptr; }
  /// Succeeds if everything was written. (The dispatcher takes care of standard output.)
  Result<> finish();

 private:
  std::string path_;
  Fd fd_;
  std::unique_ptr<FdSink> own_;
  Sink* out_ = nullptr;
};

}  // namespace sonde
