// ArchiveWriter: a tar archive, compressed on the fly. Two kinds: what `perf archive` makes (bzip2,
// unpacked into ~/.debug), and bundles (store/bundle.h: zstd, a frame per member).
//
//   ArchiveWriter archive = TRY(ArchiveWriter::create("perf.data.tar.bz2", Compression::kBzip2));
//   TRY(archive.add_link(".build-id/ab/cd", "../../usr/bin/x/abcd"));
//   TRY(archive.add_file("usr/bin/x/abcd/elf", "/usr/bin/x"));
//   TRY(archive.finish());
//
// The file gets its name when it is finished; until then it does not exist under that name.
#pragma once

#include <memory>
#include <string>

#include "base/bytes.h"
#include "base/error.h"

namespace sonde {

enum class Compression : uint8_t { kBzip2, kZstdFrames };

class ArchiveWriter {
 public:
  /// Errors: kIo.
  static Result<ArchiveWriter> create(const std::string& path, Compression compression);
  ArchiveWriter(ArchiveWriter&&) noexcept;
  ArchiveWriter& operator=(ArchiveWriter&&) noexcept;
  ~ArchiveWriter();

  /// Errors: kNotFound or kIo for a file that cannot be read, after which more can be added; kIo if
  /// the archive cannot be written.
  Result<> add_file(const std::string& name, const std::string& from);
  Result<> add_bytes(const std::string& name, Bytes content);
  Result<> add_directory(const std::string& name);
  Result<> add_link(const std::string& name, const std::string& target);
  /// Writes the end of the archive and gives the file its name.
  Result<> finish();
  [[nodiscard]] uint64_t bytes_written() const;

 private:
  struct State;
  explicit ArchiveWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sonde
