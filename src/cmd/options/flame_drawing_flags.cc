#include "cmd/options/flame_drawing_flags.h"

#include <charconv>

#include "base/text.h"
#include "cmd/options/guest_flags.h"
#include "cmd/options/profile_flags.h"
#include "cmd/options/sample_selection_flags.h"
#include "export/pictures/flame_svg.h"

namespace sonde {
namespace {

void declare_texts(FlagTable& flags, FlameDrawingOptions& o) {
  flags.text(0, "title", o.flames.title, "text", "the heading");
  flags.text(0, "subtitle", o.flames.subtitle, "text", "a line below it");
  flags.text(0, "notes", o.flames.notes, "text", "a comment in the file");
  flags.text(0, "countname", o.count_name, "text", "what is counted (default: the profile's unit)");
  flags.text(0, "nametype", o.flames.name_type, "text",
             "text before the name of a frame (default: \"Function:\")");
  flags.text(0, "nameattr", o.attributes_file, "file",
             "extra attributes of frames, by name: lines of name<TAB>attribute=value…");
  flags.call(0, "encoding", "name", "encoding of names: UTF-8, or a single-byte one (ISO-8859-1 …)",
             [&o](std::string_view name) -> Result<> {
               if (!is_flame_encoding(name))
                 return fail(ErrorCode::kUsage,
                             "expects UTF-8, US-ASCII, ISO-8859-…, windows-125… or KOI8-…");
               o.flames.encoding = std::string(name);
               return {};
             });
}

void declare_sizes(FlagTable& flags, FlameDrawingOptions& o) {
  flags.call(0, "width", "pixels",
             "of the picture (default: 1200, or the width of the window in a browser)",
             [&o](std::string_view text) -> Result<> {
               o.flames.width = TRY(number_from<double>(text));
               o.flames.fluid = false;
               return {};
             });
  flags.number(0, "height", o.flames.frame_height, "pixels", "of a frame (default: 16)");
  flags.call(0, "minwidth", "pixels|percent%", "leave out narrower frames (default: 0.1 pixels)",
             [&o](std::string_view text) -> Result<> {
               o.flames.min_width.is_percent = text.ends_with('%');
               if (o.flames.min_width.is_percent) text.remove_suffix(1);
               o.flames.min_width.value = TRY(number_from<double>(text));
               if (!(o.flames.min_width.value >= 0))
                 return fail(ErrorCode::kUsage, "expects a width of 0 or more");
               return {};
             });
  flags.text(0, "fonttype", o.flames.font_family, "font", "of the text (default: Verdana)");
  flags.number(0, "fontsize", o.flames.font_size, "pixels", "of the text (default: 12)");
  flags.number(0, "fontwidth", o.flames.font_width, "part",
               "average width of a character, relative to the font size (default: 0.59)");
}

void declare_colors(FlagTable& flags, FlameDrawingOptions& o) {
  std::vector<std::string_view> palettes = flame_palette_names();
  std::string names;
  for (std::string_view each : palettes) names += (names.empty() ? "" : "|") + std::string(each);
  flags
      .call(0, "colors", names, "colours of the frames (default: hot)",
            [&o, names](std::string_view name) -> Result<> {
              auto palette = flame_palette_of(name);
              if (!palette) return fail(ErrorCode::kUsage, "expects {}", names);
              o.flames.palette = *palette;
              return {};
            })
      .offers({palettes.begin(), palettes.end()});
  flags.call(0, "bgcolors", "yellow|blue|green|grey|#rrggbb",
             "background colour (default: to match the frames' colours)",
             [&o](std::string_view name) -> Result<> {
               if (!flame_background(name, o.flames.palette))
                 return fail(ErrorCode::kUsage, "expects yellow, blue, green, grey or #rrggbb");
               o.flames.background = std::string(name);
               return {};
             });
  flags.choose(0, "hash", o.flames.shade, FlameShade::kPrefix,
               "shades by the letters that names begin and end with");
  flags.choose(0, "random", o.flames.shade, FlameShade::kRandom, "shades at random");
  flags.boolean(0, "cp", o.keep_colors,
                "reuse the colours of earlier pictures, kept in palette.map in this directory");
}

void declare_shapes(FlagTable& flags, FlameDrawingOptions& o) {
  flags.boolean(0, "reverse", o.flames.reversed, "stacks upside down: who calls hot functions");
  flags.boolean(0, "inverted", o.flames.inverted, "roots at the top: an icicle graph");
  flags.boolean(0, "flamechart", o.flames.chart, "in the order of time, not of names");
  flags.choose(0, "samples", o.source.stacks.value, StackValue::kSamples,
               "recordings: each sample counts as one");
  flags.choose(0, "period", o.source.stacks.value, StackValue::kPeriod,
               "recordings: each sample counts its period (the default)");
  flags.boolean(0, "waits", o.source.stacks.wait_reasons,
                "recordings of waits (record --off-cpu): a root per task and what it waited for");
  flags.number(0, "total", o.flames.whole, "count", "the count that is 100%, if above the total");
  flags.number(0, "factor", o.flames.factor, "number", "multiply the shown counts by this");
  flags.boolean(0, "negate", o.flames.negate, "differences: blue is more, red is less");
  flags.boolean(0, "before", o.before, "differences: draw the first profile's stacks");
  flags.boolean(
      0, "elided", o.marks,
      "differences: mark new stacks, and show those that are gone below (default with two "
      "profiles)");
  declare_by_name(flags, o.by_name);
  flags.boolean(0, "normalize", o.normalize,
                "differences: scale the first profile to the second one's total (default)");
}

}  // namespace

void declare_flame_drawing(FlagTable& flags, FlameDrawingOptions& o) {
  declare_sample_selection(flags, o.selection);
  flags.boolean('f', "force", o.source.session.open.force,
                "read files even if they belong to another user");
  declare_texts(flags, o);
  declare_sizes(flags, o);
  declare_colors(flags, o);
  declare_shapes(flags, o);
  declare_call_trace(flags, o.source);
  declare_symbol_sources(flags, o.source.session.symbols);
  declare_guest_files(flags, o.source.session.symbols.guests);
  flags.boolean(0, "inline", o.inlines, "show functions that were inlined");
  declare_check_chains(flags, o.source);
}

}  // namespace sonde
