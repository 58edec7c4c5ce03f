#include "event/pmu/attr_text.h"

#include <fmt/format.h>

#include "event/parser/event_branch.h"

namespace sonde {
namespace {

struct SampleWord {
  uint64_t bit;
  std::string_view word;
};
// In perf's order, which is not bit order. TRANSACTION, which perf omits, comes last.
constexpr SampleWord kSampleWords[] = {
    {abi::kSampleIp, "IP"},
    {abi::kSampleTid, "TID"},
    {abi::kSampleTime, "TIME"},
    {abi::kSampleAddr, "ADDR"},
    {abi::kSampleRead, "READ"},
    {abi::kSampleCallchain, "CALLCHAIN"},
    {abi::kSampleId, "ID"},
    {abi::kSampleCpu, "CPU"},
    {abi::kSamplePeriod, "PERIOD"},
    {abi::kSampleStreamId, "STREAM_ID"},
    {abi::kSampleRaw, "RAW"},
    {abi::kSampleBranchStack, "BRANCH_STACK"},
    {abi::kSampleRegsUser, "REGS_USER"},
    {abi::kSampleStackUser, "STACK_USER"},
    {abi::kSampleIdentifier, "IDENTIFIER"},
    {abi::kSampleRegsIntr, "REGS_INTR"},
    {abi::kSampleDataSrc, "DATA_SRC"},
    {abi::kSampleWeight, "WEIGHT"},
    {abi::kSamplePhysAddr, "PHYS_ADDR"},
    {abi::kSampleAux, "AUX"},
    {abi::kSampleCgroup, "CGROUP"},
    {abi::kSampleDataPageSize, "DATA_PAGE_SIZE"},
    {abi::kSampleCodePageSize, "CODE_PAGE_SIZE"},
    {abi::kSampleWeightStruct, "WEIGHT_STRUCT"},
    {abi::kSampleTransaction, "TRANSACTION"},
};
constexpr std::string_view kReadWords[] = {"TOTAL_TIME_ENABLED", "TOTAL_TIME_RUNNING", "ID",
                                           "GROUP", "LOST"};

template <size_t N>
std::string bit_words(uint64_t bits, const std::string_view (&words)[N]) {
  std::string text;
  for (size_t i = 0; i < N; ++i) {
    if ((bits >> i & 1) == 0) continue;
    if (!text.empty()) text += '|';
    text += words[i];
  }
  return text;
}

std::string aux_action_text(uint32_t bits) {
  constexpr std::string_view kActions[] = {"start_paused", "pause", "resume"};
  return bit_words(bits, kActions);
}

/// Calls `emit(name, value)` for every non-zero field, in the order of the struct; with
/// `always_config`, for config in any case.
template <typename Emit>
void for_each_field(const abi::EventAttr& attr, Emit emit, bool always_config = false) {
  auto number = [&](std::string_view name, auto value) {
    if (value != 0) emit(name, fmt::format("{}", value));
  };
  auto hex = [&](std::string_view name, uint64_t value) {
    if (value != 0) emit(name, fmt::format("{:#x}", value));
  };
  auto words = [&](std::string_view name, uint64_t bits, std::string text) {
    if (bits != 0) emit(name, std::move(text));
  };
  auto flag = [&](std::string_view name, uint64_t value) {
    // Bits to which a newer kernel gave a meaning are shown as a number.
    if (name == "reserved_1")
      hex(name, value);
    else
      number(name, value);
  };

  number("type", attr.type);
  number("size", attr.size);
  hex("config", attr.config);
  if (attr.config == 0 && always_config) emit("config", std::string("0"));
  number("{ sample_period, sample_freq }", attr.sample_period);
  words("sample_type", attr.sample_type, sample_type_text(attr.sample_type));
  words("read_format", attr.read_format, read_format_text(attr.read_format));
#define ATTR_FLAG(name) flag(#name, attr.name);
#define ATTR_FLAG_BITS(name, bits) flag(#name, attr.name);
#include "abi/attr_flags.def"
#undef ATTR_FLAG
#undef ATTR_FLAG_BITS
  number("{ wakeup_events, wakeup_watermark }", attr.wakeup_events);
  number("bp_type", attr.bp_type);
  hex("{ bp_addr, config1 }", attr.bp_addr);
  hex("{ bp_len, config2 }", attr.bp_len);
  words("branch_sample_type", attr.branch_sample_type, branch_types_text(attr.branch_sample_type));
  hex("sample_regs_user", attr.sample_regs_user);
  number("sample_stack_user", attr.sample_stack_user);
  number("clockid", attr.clockid);
  hex("sample_regs_intr", attr.sample_regs_intr);
  number("aux_watermark", attr.aux_watermark);
  number("sample_max_stack", attr.sample_max_stack);
  number("aux_sample_size", attr.aux_sample_size);
  words("aux_action", attr.aux_action, aux_action_text(attr.aux_action));
  number("sig_data", attr.sig_data);
  hex("config3", attr.config3);
}

constexpr std::string_view kDashes =
    "------------------------------------------------------------\n";

}  // namespace

std::string sample_type_text(uint64_t sample_type) {
  std::string text;
  for (const SampleWord& entry : kSampleWords) {
    if ((sample_type & entry.bit) == 0) continue;
    if (!text.empty()) text += '|';
    text += entry.word;
  }
  return text;
}

std::string read_format_text(uint64_t read_format) {
  return bit_words(read_format, kReadWords);
}

std::string attr_block(const abi::EventAttr& attr) {
  std::string text(kDashes);
  text += "perf_event_attr:\n";
  for_each_field(attr, [&](std::string_view name, const std::string& value) {
    text += fmt::format("  {:<32} {}\n", name, value);
  });
  text += kDashes;
  return text;
}

namespace {

std::string fields_of(const abi::EventAttr& attr, bool always_config) {
  std::string text;
  for_each_field(
      attr,
      [&](std::string_view name, const std::string& value) {
        if (!text.empty()) text += ", ";
        text += fmt::format("{}: {}", name, value);
      },
      always_config);
  return text;
}

}  // namespace

std::string attr_line(const abi::EventAttr& attr) {
  return fields_of(attr, /*always_config=*/false);
}

std::string attr_line_with_config(const abi::EventAttr& attr) {
  return fields_of(attr, /*always_config=*/true);
}

}  // namespace sonde
