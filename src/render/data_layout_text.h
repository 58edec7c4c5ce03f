// Data layouts in the format of `annotate --data-type --stdio`.
#pragma once

#include "base/sink.h"
#include "render/listing_text.h"
#include "view/data_layout.h"

namespace sonde::render {

void write_data_layout(Sink& out, const view::DataLayout& layout, ListingColumn column, bool color);

/// --type-stat: how much is resolved, and why the rest is not.
void write_data_type_counts(Sink& out, const view::DataTypeCounts& counts);

/// --insn-stat: the same by instruction.
void write_instruction_counts(Sink& out, std::span<const view::InstructionCounts> counts);

}  // namespace sonde::render
