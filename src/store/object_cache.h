// ObjectCache: data derived from an object (line tables, call frame tables), kept on disk by build
// id, so that the next command only has to map it.
//
//   ~/.cache/sonde/3f2a….lines      magic, format, checksum; then the bytes that were kept
//
// It is purely a cache: a file that is damaged or of another format counts as missing, write
// failures are ignored, and deleting it only costs time. Files are created atomically. When the
// cache exceeds its limit, the least recently used files are evicted.
//
//   ObjectCache cache(object_cache_directory(env));
//   if (auto kept = cache.find(build_id, "lines", kVersion)) use(kept->bytes());
//   else cache.keep(build_id, "lines", kVersion, bytes);
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/env.h"
#include "base/file.h"

namespace sonde {

/// SONDE_CACHE, else `sonde.cache` of the perfconfig, else $XDG_CACHE_HOME/sonde, else
/// ~/.cache/sonde; the value "off" disables the cache, which is the empty directory.
std::string object_cache_directory(const Env& env);

/// The bytes of one entry; aligned to 8.
class RetainedObject {
 public:
  RetainedObject(MappedFile file, size_t skip) : file_(std::move(file)), skip_(skip) {}
  [[nodiscard]] Bytes bytes() const { return file_.bytes().subspan(skip_); }

 private:
  MappedFile file_;
  size_t skip_;
};

class ObjectCache {
 public:
  static constexpr uint64_t kLimit = uint64_t{1} << 30;

  /// Without a directory nothing is found or stored.
  explicit ObjectCache(std::string directory, uint64_t limit_bytes = kLimit)
      : directory_(std::move(directory)), limit_bytes_(limit_bytes) {}

  /// Whether anything can be stored for an object.
  [[nodiscard]] bool keeps(std::string_view build_id) const {
    return !directory_.empty() && !build_id.empty();
  }
  /// `kind` is a short word; `version` changes with the meaning of the bytes. Nullopt for an object
  /// without a build id.
  [[nodiscard]] std::optional<RetainedObject> find(std::string_view build_id, std::string_view kind,
                                                   uint32_t version) const;
  void keep(std::string_view build_id, std::string_view kind, uint32_t version, Bytes bytes) const;

 private:
  [[nodiscard]] std::string path_of(std::string_view build_id, std::string_view kind) const;
  void make_room(uint64_t for_bytes) const;

  std::string directory_;
  uint64_t limit_bytes_;
};

}  // namespace sonde
