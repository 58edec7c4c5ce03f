// `inject -B`, --mmap2-buildid-all: mappings that carry the build id of their object, as those of
// `record --buildid-mmap`, so that a recording needs no table of build ids. -B leaves out the
// mappings of objects without samples, which are most of them in a recording of a whole machine.
#pragma once

#include <map>
#include <set>
#include <string>

#include "objects/injected_build_ids.h"
#include "objects/record_rewriter.h"

namespace sonde {

class InjectedMappings final : public RecordRewriter {
 public:
  /// `of_all`: also objects without samples; otherwise their mappings are dropped.
  InjectedMappings(const Session& session, bool of_all, const KnownBuildIds& known);
  bool rewrite(const InjectedRecord& record, ByteBuilder& out) override;

 private:
  bool keeps_all_;
  std::map<std::string, std::string, std::less<>> build_ids_;  // by path
  std::set<std::string, std::less<>> hit_;                     // paths of objects with samples
};

}  // namespace sonde
