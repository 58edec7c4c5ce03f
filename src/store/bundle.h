// Bundle: a recording and what its report needs, in one file that opens on any machine.
//
// The file is a tar archive in which every member is its own zstd frame (so `tar --zstd -x` unpacks
// it, and one member can be read without the others):
//
//   perf.data                            the recording, first
//   .build-id/ab/cdef…  →  ../../PATH/ID   as in the build-id cache (store/build_id_cache.h):
//   PATH/ID/elf, debug, vdso, kallsyms     objects, debug files, kernel symbols
//   files/tmp/perf-4711.map              other files, under the path that the recording names
//
// A member becomes a file on demand: memory of this process, under a path that every part of Sonde
// can open (/proc/self/fd/N). Nothing is left to clean up.
//
// Guarantees: a damaged or truncated file yields one Error from open(); damage inside a member
// yields an Error from recording() or an empty path from the others. Thread-safe.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/file.h"

namespace sonde {

class Bundle {
 public:
  /// Whether a file that begins with these bytes may be a bundle.
  [[nodiscard]] static bool looks_like_one(Bytes begin);
  /// Fails with kCorrupt, in one line that names what is damaged.
  static Result<Bundle> open(MappedFile file, const std::string& name);
  /// The same for bytes that the caller keeps alive.
  static Result<Bundle> view(Bytes bytes, const std::string& name);
  Bundle(Bundle&&) noexcept;
  Bundle& operator=(Bundle&&) noexcept;
  ~Bundle();

  /// The recording's bytes.
  [[nodiscard]] Result<MappedFile> recording() const;
  /// The file of an object: `name` is elf, debug, vdso or kallsyms. Empty if there is none.
  [[nodiscard]] std::string file(std::string_view build_id, std::string_view name) const;
  /// The file that had this path on the recorded machine; empty if it is not in the bundle.
  [[nodiscard]] std::string file_at(std::string_view path) const;
  [[nodiscard]] size_t member_count() const;

 private:
  struct State;
  explicit Bundle(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sonde
