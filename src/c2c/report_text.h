// The tables of `c2c report --stdio`: what the accesses were, the lines that CPUs fight for, and
// what accesses each of them, as perf prints them.
#pragma once

#include <string>
#include <vector>

#include "base/sink.h"
#include "c2c/cache_lines.h"
#include "c2c/row_texts.h"
#include "c2c/row_trees.h"

namespace sonde::c2c {

/// All accesses, and those to shared lines.
void write_counts(const CacheLines& lines, Sink& out);

/// What is known about rows by name.
struct Named {
  const RowTexts& texts;
  const RowTrees& trees;
};

/// How lines were chosen, the table of lines, and below it a table of rows per line. `events`:
/// names of the recorded ones. Without the tables if only counts are wanted.
void write_lines(const CacheLines& lines, const Named& named, const Nodes& nodes,
                 const Options& options, const std::vector<std::string>& events, Sink& out);

/// Parts of that: the table of lines, with its titles, and the rows of one line with theirs.
void write_line_table(const CacheLines& lines, const Named& named, const Nodes& nodes,
                      const Options& options, Sink& out);
void write_line_rows(const CacheLines& lines, size_t index, const Named& named, const Nodes& nodes,
                     const Options& options, Sink& out);

}  // namespace sonde::c2c
