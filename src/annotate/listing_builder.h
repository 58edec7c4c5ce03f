// Makes a listing from a function's code: instructions with the names that they refer to, source
// lines where these change, headings where functions and symbols begin; in objdump's order and
// words, which readers of perf's listings know.
#pragma once

#include <memory>

#include "annotate/branch_columns.h"
#include "annotate/code_names.h"
#include "annotate/function_code.h"
#include "annotate/function_hits.h"
#include "annotate/source_text.h"
#include "disasm/disassembler.h"
#include "view/listing.h"

namespace sonde::annotate {

struct ListingOptions {
  disasm::Syntax syntax = disasm::Syntax::kAtt;
  bool raw = false;         // --asm-raw: the bytes, too
  bool source = true;       // --no-source
  bool places = false;      // -l
  bool full_paths = false;  // -P
  bool demangle = true;
  view::ListingPercent percent = view::ListingPercent::kLocalPeriod;
  SourceOptions source_paths;
};

class ListingBuilder {
 public:
  ListingBuilder(const Session& session, ListingOptions options)
      : session_(session),
        options_(std::move(options)),
        code_(session),
        source_(session.symbolizer(), options_.source_paths) {}

  /// `events` are the columns: one event, or those of a group. `all` has the totals.
  Result<view::Listing> make(const FunctionHits& function, const RecordingHits& all,
                             std::span<const EventId> events);

 private:
  const Session& session_;
  ListingOptions options_;
  CodeStore code_;
  SourceText source_;
  std::unique_ptr<BranchColumns> branches_;  // made when first needed
};

}  // namespace sonde::annotate
