// The flags of `flamegraph`.
#include <charconv>

#include "base/text.h"
#include "cmd/options/flame_drawing.h"
#include "cmd/options/profile_flags.h"
#include "export/pictures/flame_svg.h"

namespace sonde {

void FlameDrawing::declare(FlagTable& flags) {
  choice_.declare(flags);
  flags.boolean('f', "force", source_.session.open.force, "don't complain, do it");
  declare_texts(flags);
  declare_sizes(flags);
  declare_colors(flags);
  declare_shapes(flags);
  declare_symbol_sources(flags, source_.session.symbols);
  flags.boolean(0, "inline", inlines_, "show functions that were inlined");
}

void FlameDrawing::declare_texts(FlagTable& flags) {
  flags.text(0, "title", options_.title, "text", "the heading");
  flags.text(0, "subtitle", options_.subtitle, "text", "a line below it");
  flags.text(0, "notes", options_.notes, "text", "a comment in the file");
  flags.text(0, "countname", count_name_, "text", "what is counted (default: the profile's unit)");
  flags.text(0, "nametype", options_.name_type, "text",
             "what stands before the name of a frame (default: \"Function:\")");
  flags.text(0, "nameattr", attributes_file_, "file",
             "what frames get besides, by name: lines of name<TAB>attribute=value…");
  flags.call(0, "encoding", "name", "of the names: UTF-8, or one of a byte each (ISO-8859-1 …)",
             [this](std::string_view name) -> Result<> {
               if (!is_flame_encoding(name))
                 return fail(ErrorCode::kUsage,
                             "expects UTF-8, US-ASCII, ISO-8859-…, windows-125… or KOI8-…");
               options_.encoding = std::string(name);
               return {};
             });
}

void FlameDrawing::declare_sizes(FlagTable& flags) {
  flags.call(0, "width", "pixels",
             "of the picture (default: 1200, and as wide as the window in a browser)",
             [this](std::string_view text) -> Result<> {
               options_.width = TRY(number_from<double>(text));
               options_.fluid = false;
               return {};
             });
  flags.number(0, "height", options_.frame_height, "pixels", "of a frame (default: 16)");
  flags.call(0, "minwidth", "pixels|percent%",
             "leave out frames that are narrower (default: 0.1 pixels)",
             [this](std::string_view text) -> Result<> {
               options_.min_width.is_percent = text.ends_with('%');
               if (options_.min_width.is_percent) text.remove_suffix(1);
               options_.min_width.value = TRY(number_from<double>(text));
               if (!(options_.min_width.value >= 0))
                 return fail(ErrorCode::kUsage, "expects a width, not less than nothing");
               return {};
             });
  flags.text(0, "fonttype", options_.font_family, "font", "of the texts (default: Verdana)");
  flags.number(0, "fontsize", options_.font_size, "pixels", "of the texts (default: 12)");
  flags.number(0, "fontwidth", options_.font_width, "part",
               "width of a character on average, in parts of the size (default: 0.59)");
}

void FlameDrawing::declare_colors(FlagTable& flags) {
  std::vector<std::string_view> palettes = flame_palette_names();
  std::string names;
  for (std::string_view each : palettes) names += (names.empty() ? "" : "|") + std::string(each);
  flags
      .call(0, "colors", names, "what colours frames have (default: hot)",
            [this, names](std::string_view name) -> Result<> {
              auto palette = flame_palette_of(name);
              if (!palette) return fail(ErrorCode::kUsage, "expects {}", names);
              options_.palette = *palette;
              return {};
            })
      .offers({palettes.begin(), palettes.end()});
  flags.call(0, "bgcolors", "yellow|blue|green|grey|#rrggbb",
             "colour behind the frames (default: by the frames' colours)",
             [this](std::string_view name) -> Result<> {
               if (!flame_background(name, options_.palette))
                 return fail(ErrorCode::kUsage, "expects yellow, blue, green, grey or #rrggbb");
               options_.background = std::string(name);
               return {};
             });
  flags.choose(0, "hash", options_.shade, FlameShade::kPrefix,
               "shades by the letters that names begin and end with");
  flags.choose(0, "random", options_.shade, FlameShade::kRandom, "shades at random");
  flags.boolean(0, "cp", keep_colors_,
                "the colours of earlier pictures: kept in palette.map in this directory");
}

void FlameDrawing::declare_shapes(FlagTable& flags) {
  flags.boolean(0, "reverse", options_.reversed, "stacks upside down: who calls what is hot");
  flags.boolean(0, "inverted", options_.inverted, "roots at the top: an icicle graph");
  flags.boolean(0, "flamechart", options_.chart, "in the order of time, not of names");
  flags.choose(0, "samples", source_.stacks.value, StackValue::kSamples,
               "recordings: each sample counts one");
  flags.choose(0, "period", source_.stacks.value, StackValue::kPeriod,
               "recordings: each sample counts what it stands for (the default)");
  flags.boolean(0, "waits", source_.stacks.wait_reasons,
                "recordings of waits (record --off-cpu): a root per task and what it waited for");
  flags.number(0, "total", options_.whole, "count", "what 100% are, where it is more");
  flags.number(0, "factor", options_.factor, "number", "multiply the counts that are shown");
  flags.boolean(0, "negate", options_.negate, "differences: blue is more, red is less");
  flags.boolean(0, "before", before_, "differences: draw the first profile's stacks");
  flags.boolean(
      0, "elided", marks_,
      "differences: mark new stacks, and show below those that are gone (default with two "
      "profiles)");
  flags.boolean(0, "normalize", normalize_,
                "differences: scale the first profile to the second one's total (default)");
}

}  // namespace sonde
