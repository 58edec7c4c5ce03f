#include <gtest/gtest.h>
#include <zlib.h>

#include "export/formats/export_test_profiles.h"
#include "stacks/stack_tree_builder.h"

namespace sonde {
namespace {

/// Two threads, two events and three stacks, with these names in every field.
struct Names {
  std::string_view main = "main";
  std::string_view leaf = "read_line";
  std::string_view kernel = "vfs_read";
  std::string_view object = "/usr/bin/prog";
  std::string_view file = "src/prog.c";
  std::string_view event = "cpu-clock:u";
  std::string_view thread = "worker";
};

StackProfile profile_with(const Names& names) {
  StackTreeBuilder builder;
  auto frame = [&](std::string_view name, std::string_view object, FrameKind kind) {
    return builder.frame({.name = builder.intern(name),
                          .object = builder.intern(object),
                          .file = builder.intern(names.file),
                          .line = 12,
                          .kind = kind});
  };
  StackFrameId main = frame(names.main, names.object, FrameKind::kUser);
  StackFrameId leaf = frame(names.leaf, names.object, FrameKind::kInlined);
  StackFrameId kernel = builder.frame({.name = builder.intern(names.kernel),
                                       .object = builder.intern("[kernel.kallsyms]"),
                                       .kind = FrameKind::kKernel});
  size_t clock = builder.add_column(names.event, "nanoseconds");
  size_t faults = builder.add_column("page-faults", "events");
  builder.add_thread({.pid = 10,
                      .tid = 10,
                      .name = builder.intern("prog"),
                      .process_name = builder.intern("prog")});
  builder.add_thread({.pid = 20,
                      .tid = 21,
                      .name = builder.intern(names.thread),
                      .process_name = builder.intern("server")});
  const StackFrameId deep[] = {main, leaf, kernel};
  StackNodeId kernel_node = builder.node_of(deep);
  StackNodeId leaf_node = builder.node_of(std::span(deep).first(2));
  StackNodeId main_node = builder.node_of(std::span(deep).first(1));
  builder.add_sample(kernel_node, clock, 1000000, {.time_ns = 5000000123, .thread = 0, .cpu = 0});
  builder.add_sample(leaf_node, clock, 1500000, {.time_ns = 5001000000, .thread = 1, .cpu = 1});
  builder.add_sample(StackNodeId(), clock, 500000, {.time_ns = 5002000000, .thread = 1, .cpu = 0});
  builder.add_sample(main_node, faults, 2, {.time_ns = 5000500000, .thread = 0, .cpu = 0});
  builder.add_sample(kernel_node, faults, 3, {.time_ns = 5003000000, .thread = 1});
  StringId object = builder.intern(names.object);
  StackProfile profile = std::move(builder).finish();
  profile.objects.push_back(
      {.path = object, .build_id = "0123456789abcdef0123456789abcdef01234567"});
  profile.origin = "perf.data";
  return profile;
}

}  // namespace

StackProfile sampled_profile() {
  return profile_with({});
}

StackProfile summed_profile() {
  StackTreeBuilder builder;
  size_t column = builder.add_column("samples", "samples");
  StackFrameId main = builder.frame({.name = builder.intern("main")});
  const StackFrameId parse[] = {main, builder.frame({.name = builder.intern("parse")})};
  const StackFrameId emit[] = {main, builder.frame({.name = builder.intern("emit")})};
  builder.add_stack(parse, column, 3);
  builder.add_stack(emit, column, 1);
  StackProfile profile = std::move(builder).finish();
  profile.origin = "out.folded";
  return profile;
}

StackProfile hostile_profile() {
  return profile_with({.main = "a\"b\\c\n\x01",
                       .leaf = "\xff\xc0\xaf<script>&'",
                       .kernel = "",
                       .object = "/tmp/\xed\xa0\x80\"",
                       .file = "\x80.c",
                       .event = "e\"\xfe",
                       .thread = "\x1b[31m\xf5"});
}

std::string gunzip(const std::string& bytes) {
  z_stream stream{};
  constexpr int kGzip = 15 + 16;
  EXPECT_EQ(inflateInit2(&stream, kGzip), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string text;
  int status = Z_OK;
  while (status == Z_OK) {
    std::string piece(1 << 16, '\0');
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    status = inflate(&stream, Z_NO_FLUSH);
    text.append(piece, 0, piece.size() - stream.avail_out);
  }
  EXPECT_EQ(status, Z_STREAM_END);
  EXPECT_EQ(stream.avail_in, 0u) << "bytes behind the member";
  inflateEnd(&stream);
  return text;
}

std::string exported(std::string_view format, const StackProfile& profile) {
  StringSink out;
  find_export_format(format)->write(out, profile);
  return out.text().starts_with("\x1f\x8b") ? gunzip(out.text()) : out.text();
}

}  // namespace sonde
