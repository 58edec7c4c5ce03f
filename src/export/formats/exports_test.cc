#include "export/formats/exports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include <protozero/pbf_reader.hpp>

#include "base/json_value.h"
#include "base/utf8.h"
#include "export/formats/export_samples.h"
#include "export/formats/export_test_profiles.h"
#include "export/formats/gzip_sink.h"

namespace sonde {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kJsonFormats[] = {"chrome", "firefox", "json", "speedscope"};

JsonValue parsed(std::string_view format, const StackProfile& profile) {
  Result<JsonValue> root = JsonValue::parse(exported(format, profile), std::string(format));
  EXPECT_TRUE(root.has_value()) << root.error().message;
  return root ? std::move(*root) : JsonValue();
}
const JsonValue& at(const JsonValue& object, std::string_view name) {
  static const JsonValue kNothing;
  const JsonValue* found = object.find(name);
  EXPECT_NE(found, nullptr) << name;
  return found == nullptr ? kNothing : *found;
}
double sum(const JsonValue& numbers) {
  double total = 0;
  for (const JsonValue& number : numbers.array()) total += number.number();
  return total;
}

TEST(Exports, AreFoundByName) {
  EXPECT_EQ(find_export_format("svg"), nullptr);
  for (const ExportFormat& format : export_formats())
    EXPECT_EQ(find_export_format(format.name), &format);
}

TEST(Exports, JsonIsValidWhateverNamesAre) {
  for (const std::string& format : kJsonFormats) {
    SCOPED_TRACE(format);
    std::string text = exported(format, hostile_profile());
    EXPECT_EQ(valid_utf8_prefix(text), text.size());
    EXPECT_TRUE(parsed(format, hostile_profile()).is_object());
    EXPECT_THAT(text, HasSubstr("a\\\"b\\\\c\\n\\u0001"));
  }
}

TEST(Exports, NothingIsWritableInEveryFormat) {
  for (const ExportFormat& format : export_formats()) {
    SCOPED_TRACE(format.name);
    StackProfile no_events;
    StackProfile no_stacks;
    no_stacks.columns.push_back({.name = "cycles", .unit = "events", .self = {}});
    for (const StackProfile* profile : {&no_events, &no_stacks}) {
      std::string text = exported(format.name, *profile);
      if (!text.starts_with("{")) continue;
      EXPECT_TRUE(JsonValue::parse(text, "export").has_value()) << text;
    }
  }
}

TEST(Exports, OfSomeEventsHaveTheirSamples) {
  StackProfile profile = sampled_profile();
  ASSERT_FALSE(keep_columns(profile, {"page-faults", "cycles"}).has_value());
  ASSERT_TRUE(keep_columns(profile, {"page-faults"}).has_value());
  EXPECT_EQ(profile.samples.size(), 2u);
  JsonValue root = parsed("speedscope", profile);
  double total = 0;
  for (const JsonValue& each : at(root, "profiles").array()) total += sum(at(each, "weights"));
  EXPECT_EQ(total, 5);
}

TEST(SpeedscopeExport, HasAProfilePerThreadAndEvent) {
  JsonValue root = parsed("speedscope", sampled_profile());
  std::vector<std::string> names;
  for (const JsonValue& profile : at(root, "profiles").array())
    names.push_back(at(profile, "name").text());
  EXPECT_THAT(names, ElementsAre("prog (10/10) cpu-clock:u", "prog (10/10) page-faults",
                                 "worker (20/21) cpu-clock:u", "worker (20/21) page-faults"));
  const JsonValue& worker = at(root, "profiles").array()[2];
  EXPECT_EQ(at(worker, "unit").text(), "nanoseconds");
  EXPECT_EQ(at(worker, "endValue").number(), 2000000);
  EXPECT_EQ(sum(at(worker, "weights")), 2000000);
  ASSERT_EQ(at(worker, "samples").array().size(), 2u);
  EXPECT_EQ(at(worker, "samples").array()[0].array().size(), 2u) << "main;read_line";
  EXPECT_TRUE(at(worker, "samples").array()[1].array().empty()) << "without a stack";
  EXPECT_EQ(at(root, "activeProfileIndex").number(), 2) << "the one with most samples";
}

TEST(SpeedscopeExport, SumsAreOneProfileInTheOrderOfTheTree) {
  JsonValue root = parsed("speedscope", summed_profile());
  ASSERT_EQ(at(root, "profiles").array().size(), 1u);
  const JsonValue& profile = at(root, "profiles").array()[0];
  EXPECT_EQ(at(profile, "name").text(), "out.folded samples");
  EXPECT_EQ(at(profile, "weights").array()[0].number(), 1) << "emit";
  EXPECT_EQ(sum(at(profile, "weights")), 4);
}

TEST(Exports, SamplesAreGroupedInTheOrderOfTime) {
  // A few threads, and so many that hardly any has a sample.
  for (uint32_t threads : {2u, 1000u}) {
    StackProfile profile;
    profile.columns.resize(2);
    for (uint32_t i = 0; i < threads; ++i) profile.threads.push_back({.pid = i, .tid = i});
    for (uint32_t i = 0; i < 12; ++i) {
      profile.samples.node.emplace_back();
      profile.samples.column.push_back(i % 3 == 0 ? 1 : 0);
      profile.samples.thread.push_back(i % 2 == 0 ? threads - 1 : 0);
      profile.samples.cpu.push_back(0);
      profile.samples.time_ns.push_back(i);
      profile.samples.value.push_back(1);
    }
    ExportSamples samples(profile);
    std::vector<std::vector<uint32_t>> grouped;
    for (const auto& group : samples.groups())
      grouped.emplace_back(group.samples.begin(), group.samples.end());
    EXPECT_THAT(grouped, ElementsAre(ElementsAre(1, 5, 7, 11), ElementsAre(3, 9),
                                     ElementsAre(2, 4, 8, 10), ElementsAre(0, 6)));
    EXPECT_EQ(samples.by_thread().size(), 2u);
  }
}

TEST(Exports, OrderedSumsWithoutThreadsAreSums) {
  StackProfile ordered = summed_profile();
  ordered.samples.node.push_back(StackNodeId(size_t{0}));
  ordered.samples.column.push_back(0);
  ordered.samples.thread.push_back(0);
  ordered.samples.cpu.push_back(UINT32_MAX);
  ordered.samples.time_ns.push_back(1);
  ordered.samples.value.push_back(4);
  for (const ExportFormat& format : export_formats())
    EXPECT_EQ(exported(format.name, ordered), exported(format.name, summed_profile()))
        << format.name;
}

TEST(FirefoxExport, ThreadsHaveTablesOfTheirOwn) {
  JsonValue root = parsed("firefox", sampled_profile());
  const JsonValue::Array& threads = at(root, "threads").array();
  ASSERT_EQ(threads.size(), 4u);
  EXPECT_EQ(at(threads[0], "name").text(), "prog (cpu-clock:u)");
  EXPECT_EQ(at(threads[0], "pid").text(), "10");
  EXPECT_TRUE(at(threads[0], "isMainThread").boolean());
  EXPECT_EQ(sum(at(at(threads[0], "samples"), "weight")), 1) << "milliseconds";
  EXPECT_EQ(at(at(threads[1], "samples"), "weightType").text(), "samples");
  EXPECT_EQ(sum(at(at(threads[1], "samples"), "weight")), 2);
  EXPECT_EQ(at(at(threads[1], "stackTable"), "length").number(), 1) << "main alone";
  EXPECT_EQ(at(at(threads[2], "samples"), "time").array()[0].number(), 0.999877);
  for (const JsonValue& thread : threads)
    for (std::string_view table : {"samples", "stackTable", "frameTable", "funcTable",
                                   "resourceTable", "nativeSymbols", "markers"}) {
      const JsonValue& rows = at(thread, table);
      for (const auto& [name, column] : rows.object()) {
        if (!column.is_array()) continue;
        EXPECT_EQ(static_cast<double>(column.array().size()), at(rows, "length").number())
            << table << "." << name;
      }
    }
  const JsonValue& library = at(root, "libs").array()[0];
  EXPECT_EQ(at(library, "breakpadId").text(), "67452301AB89EFCD0123456789ABCDEF0");
}

TEST(ChromeExport, SamplesPointIntoTheTreeOfStacks) {
  JsonValue root = parsed("chrome", sampled_profile());
  EXPECT_EQ(at(root, "stackFrames").object().size(), 3u);
  const JsonValue::Array& samples = at(root, "samples").array();
  ASSERT_EQ(samples.size(), 5u);
  EXPECT_EQ(at(samples[0], "ts").number(), 5000000.123);
  EXPECT_EQ(at(samples[0], "name").text(), "cpu-clock:u");
  const JsonValue& leaf = at(at(root, "stackFrames"), at(samples[0], "sf").text());
  EXPECT_EQ(at(leaf, "name").text(), "vfs_read");
  EXPECT_EQ(at(leaf, "category").text(), "[kernel.kallsyms]");
  double total = 0;
  for (const JsonValue& sample : samples) total += at(sample, "weight").number();
  EXPECT_EQ(total, 3000005);
}

TEST(ChromeExport, SumsAreNestedSlices) {
  JsonValue root = parsed("chrome", summed_profile());
  std::vector<std::string> slices;
  for (const JsonValue& event : at(root, "traceEvents").array())
    if (at(event, "ph").text() == "X")
      slices.push_back(fmt::format("{} {}+{}", at(event, "name").text(), at(event, "ts").number(),
                                   at(event, "dur").number()));
  EXPECT_THAT(slices, ElementsAre("main 0+4", "emit 0+1", "parse 1+3"));
}

TEST(JsonExport, StacksSumToTheTotals) {
  JsonValue root = parsed("json", sampled_profile());
  for (size_t event : {0u, 1u}) {
    const JsonValue& of = at(root, "events").array()[event];
    double total = at(of, "without_stack").number();
    for (const JsonValue& stack : at(root, "stacks").array())
      total += at(stack, "values").array()[event].number();
    EXPECT_EQ(total, at(of, "total").number());
  }
  EXPECT_EQ(at(at(root, "events").array()[0], "total").number(), 3000000);
}

// pprof and Perfetto, read back by field number.

struct PprofSample {
  std::vector<uint64_t> locations;
  std::vector<int64_t> values;
};
struct Pprof {
  std::vector<PprofSample> samples;
  std::vector<std::string> strings;
  size_t functions = 0;
};

Pprof read_pprof(const std::string& bytes) {
  Pprof read;
  protozero::pbf_reader profile(bytes);
  while (profile.next()) {
    if (profile.tag() == 2) {
      PprofSample& sample = read.samples.emplace_back();
      protozero::pbf_reader fields = profile.get_message();
      while (fields.next()) {
        if (fields.tag() == 1)
          for (uint64_t id : fields.get_packed_uint64()) sample.locations.push_back(id);
        else if (fields.tag() == 2)
          for (int64_t value : fields.get_packed_int64()) sample.values.push_back(value);
        else
          fields.skip();
      }
    } else if (profile.tag() == 6) {
      read.strings.push_back(profile.get_string());
    } else {
      if (profile.tag() == 5) ++read.functions;
      profile.skip();
    }
  }
  return read;
}

TEST(PprofExport, SamplesOfAThreadOnAStackAreOne) {
  Pprof read = read_pprof(exported("pprof", sampled_profile()));
  ASSERT_FALSE(read.strings.empty());
  EXPECT_EQ(read.strings.front(), "");
  EXPECT_EQ(read.functions, 4u) << "three frames and [unknown]";
  std::vector<int64_t> totals(4);
  for (const PprofSample& sample : read.samples) {
    ASSERT_EQ(sample.values.size(), totals.size());
    for (size_t i = 0; i < totals.size(); ++i) totals[i] += sample.values[i];
  }
  EXPECT_THAT(totals, ElementsAre(3, 3000000, 2, 5));
  EXPECT_EQ(read.samples.size(), 5u);
  EXPECT_EQ(read.samples.back().locations.size(), 1u) << "no stack: [unknown]";
}

TEST(PprofExport, PlacesOfAFunctionShareIt) {
  StackProfile profile = summed_profile();
  profile.frames.push_back(profile.frames[0]);
  profile.frames.back().address = 0x1234;
  EXPECT_EQ(read_pprof(exported("pprof", profile)).functions,
            read_pprof(exported("pprof", summed_profile())).functions);
}

TEST(PprofExport, LeafComesFirst) {
  Pprof read = read_pprof(exported("pprof", summed_profile()));
  ASSERT_EQ(read.samples.size(), 2u);
  EXPECT_THAT(read.samples[0].values, ElementsAre(1)) << "sums have one value";
  EXPECT_EQ(read.samples[0].locations.back(), read.samples[1].locations.back()) << "main";
}

TEST(PprofExport, StringsAreUtf8) {
  for (const std::string& text : read_pprof(exported("pprof", hostile_profile())).strings)
    EXPECT_EQ(valid_utf8_prefix(text), text.size()) << text;
}

TEST(PerfettoExport, CountsGrowByWhatSamplesStandFor) {
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> counted;  // by sequence and CPU
  size_t samples = 0;
  std::string bytes = exported("perfetto", sampled_profile());
  protozero::pbf_reader trace(bytes);
  while (trace.next(1)) {
    protozero::pbf_reader packet = trace.get_message();
    uint32_t sequence = 0;
    while (packet.next()) {
      if (packet.tag() == 10) {
        sequence = packet.get_uint32();
      } else if (packet.tag() == 66) {
        uint32_t cpu = UINT32_MAX;
        protozero::pbf_reader sample = packet.get_message();
        ++samples;
        while (sample.next()) {
          if (sample.tag() == 1)
            cpu = sample.get_uint32();
          else if (sample.tag() == 6)
            counted[{sequence, cpu}] = sample.get_uint64();
          else
            sample.skip();
        }
      } else {
        packet.skip();
      }
    }
  }
  EXPECT_EQ(samples, 5u);
  std::map<uint32_t, uint64_t> by_event;
  for (const auto& [key, count] : counted) by_event[key.first] += count;
  EXPECT_THAT(by_event, ElementsAre(std::pair(1u, 3000000u), std::pair(2u, 5u)));
}

TEST(OtlpExport, TablesBeginWithAnEmptyEntry) {
  std::map<uint32_t, size_t> first_sizes;  // by table
  std::string bytes = exported("otlp", sampled_profile());
  protozero::pbf_reader data(bytes);
  while (data.next()) {
    if (data.tag() != 2) {
      data.skip();
      continue;
    }
    protozero::pbf_reader dictionary = data.get_message();
    while (dictionary.next()) {
      uint32_t table = dictionary.tag();
      first_sizes.try_emplace(table, dictionary.get_view().size());
    }
  }
  EXPECT_THAT(first_sizes, ElementsAre(std::pair(1u, 0u), std::pair(2u, 0u), std::pair(3u, 0u),
                                       std::pair(4u, 0u), std::pair(5u, 0u), std::pair(6u, 0u),
                                       std::pair(7u, 0u)));
}

TEST(GzipSink, BlocksMakeOneMember) {
  std::string text;
  for (uint64_t i = 0; text.size() < 10'000'000; ++i)
    text += fmt::format("line {} of many\n", i * 7919);
  std::string pieces[2];
  for (size_t step : {size_t{1000}, text.size()}) {
    StringSink out;
    GzipSink sink(out);
    for (size_t i = 0; i < text.size(); i += step)
      sink.write(std::string_view(text).substr(i, step));
    sink.finish();
    EXPECT_TRUE(gunzip(out.text()) == text);
    pieces[step == text.size()] = out.text();
  }
  EXPECT_EQ(pieces[0], pieces[1]) << "the bytes depend on how the text came";
}

TEST(GzipSink, NothingIsAnEmptyMember) {
  StringSink out;
  GzipSink sink(out);
  sink.finish();
  EXPECT_EQ(gunzip(out.text()), "");
}

}  // namespace
}  // namespace sonde
