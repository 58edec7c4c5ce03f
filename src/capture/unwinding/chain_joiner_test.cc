#include "capture/unwinding/chain_joiner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "perfdata/records/record.h"
#include "perfdata/records/record_encoder.h"

namespace sonde {
namespace {

constexpr uint64_t kCarrier = 99, kEvent = 7;
constexpr uint64_t kFields =
    abi::kSampleIdentifier | abi::kSampleTid | abi::kSampleTime | abi::kSampleCpu;

abi::EventAttr attr_joining(uint64_t more) {
  abi::EventAttr attr;
  attr.sample_type = kFields | more;
  attr.sample_id_all = 1;
  return attr;
}
constexpr uint64_t kStackPointerBit = 1 << 7;
const abi::EventAttr kSampling = [] {
  abi::EventAttr attr = attr_joining(abi::kSampleIp | abi::kSampleCallchain | abi::kSampleRegsUser |
                                     abi::kSampleStackUser);
  attr.sample_regs_user = kStackPointerBit;
  return attr;
}();
const abi::EventAttr kCarrying = attr_joining(abi::kSampleRaw);

/// A ring's content, record by record.
class Records {
 public:
  Records& sample(uint32_t tid, std::vector<uint64_t> kernel_part = {},
                  std::optional<uint64_t> stack_pointer = 0x7000) {
    Sample sample;
    if (stack_pointer) {
      sample.regs_user.abi = abi::kRegsAbi64;
      sample.regs_user.mask = kStackPointerBit;
      sample.regs_user.words = WordView(std::as_bytes(std::span(&*stack_pointer, 1)), kHostOrder);
    }
    sample.id.id = kEvent;
    sample.id.pid = sample.id.tid = tid;
    sample.callchain = WordView(std::as_bytes(std::span(kernel_part)), kHostOrder);
    EXPECT_TRUE(encode_sample(sample, kSampling, out_));
    return *this;
  }
  Records& chain(uint32_t tid, std::vector<uint64_t> addresses, uint16_t end = WALK_OUTERMOST) {
    walk_chain chain{};
    chain.pid = chain.tid = tid;
    chain.end = end;
    chain.count = static_cast<uint16_t>(addresses.size());
    chain.object.inode = 5;
    std::ranges::copy(addresses, chain.addresses);
    return carried(tid, std::as_bytes(std::span(&chain, 1))
                            .first(WALK_CHAIN_HEADER + addresses.size() * sizeof(uint64_t)));
  }
  Records& stack(uint32_t tid, const std::vector<uint64_t>& words) {
    walk_chain chain{};
    chain.pid = chain.tid = tid;
    chain.end = WALK_NO_TABLE;
    chain.stack_bytes = static_cast<uint32_t>(words.size() * sizeof(uint64_t));
    std::ranges::copy(words, chain.addresses);
    return carried(
        tid, std::as_bytes(std::span(&chain, 1)).first(WALK_CHAIN_HEADER + chain.stack_bytes));
  }
  Records& lost() {
    SampleId id;
    id.id = kCarrier;
    EXPECT_TRUE(
        encode(LostRecord{.id = kCarrier, .lost = 3}, {.attr = &kSampling, .id = id}, out_));
    return *this;
  }
  [[nodiscard]] Bytes bytes() const { return out_.view(); }

 private:
  /// The kernel pads raw data: its size and the data end at a multiple of eight bytes.
  Records& carried(uint32_t tid, Bytes data) {
    Sample sample;
    sample.id.id = kCarrier;
    sample.id.pid = sample.id.tid = tid;
    std::vector<std::byte> raw(data.begin(), data.end());
    raw.resize(data.size() + 4);
    sample.raw = raw;
    EXPECT_TRUE(encode_sample(sample, kCarrying, out_));
    return *this;
  }

  ByteBuilder out_{kHostOrder};
};

ChainJoiner joiner() {
  EventDesc event;
  event.attr = kSampling;
  event.ids = {kEvent};
  ChainJoiner made({event, event}, {{.is_walked = true}, {.is_walked = true}});
  made.add_ring(0, kCarrier, SampleLayout(kCarrying));
  return made;
}

/// The chains of the samples, and a chain of one zero for any other record.
std::vector<std::vector<uint64_t>> chains(Bytes bytes) {
  RecordBlock block;
  block.bytes = bytes;
  SampleLayout layout(kSampling);
  std::vector<std::vector<uint64_t>> found;
  RecordRange range(block, kHostOrder);
  for (RecordView record; range.next(record);) {
    std::vector<uint64_t>& chain = found.emplace_back();
    Sample sample;
    if (record.type != abi::kRecordSample || !decode_sample(record, layout, sample)) {
      chain = {0};
      continue;
    }
    for (size_t i = 0; i < sample.callchain.size(); ++i) chain.push_back(sample.callchain[i]);
  }
  EXPECT_EQ(range.stopped_at(), bytes.size());
  return found;
}

using Chains = std::vector<std::vector<uint64_t>>;

TEST(ChainJoiner, PutsTheChainBehindTheKernelsPart) {
  ChainJoiner join = joiner();
  Records ring;
  ring.chain(1, {10, 11}).sample(1, {abi::kContextKernel, 8}).chain(2, {20}).sample(2);
  EXPECT_EQ(chains(join.join(0, ring.bytes(), {})),
            (Chains{{abi::kContextKernel, 8, abi::kContextUser, 10, 11}, {abi::kContextUser, 20}}));
  EXPECT_EQ(join.ends().all(), 2u);
}

TEST(ChainJoiner, AnInterruptMaySampleInBetween) {
  ChainJoiner join = joiner();
  Records ring;
  ring.chain(1, {10}).chain(1, {20}).sample(1).sample(1);
  EXPECT_EQ(chains(join.join(0, ring.bytes(), {})),
            (Chains{{abi::kContextUser, 20}, {abi::kContextUser, 10}}));
}

TEST(ChainJoiner, PiecesMayEndBetweenChainAndSampleAndWithinARecord) {
  Records ring;
  ring.chain(1, {10}).sample(1);
  size_t first = Records().chain(1, {10}).bytes().size();
  ChainJoiner join = joiner();
  EXPECT_TRUE(join.join(0, ring.bytes().first(first), {}).empty());
  EXPECT_EQ(chains(join.join(0, ring.bytes().subspan(first), {})),
            (Chains{{abi::kContextUser, 10}}));
  for (size_t cut : {size_t{8}, first - 8, first + 16})
    EXPECT_EQ(chains(join.join(0, ring.bytes().first(cut), ring.bytes().subspan(cut))),
              (Chains{{abi::kContextUser, 10}}));
}

TEST(ChainJoiner, AfterALossWhatWasLeftWaitsForNothing) {
  ChainJoiner join = joiner();
  Records ring;
  ring.chain(1, {10}).lost().sample(1).chain(1, {20}).sample(1);
  Bytes joined = join.join(0, ring.bytes(), {});
  EXPECT_EQ(chains(joined), (Chains{{0}, {}, {abi::kContextUser, 20}}));
  // The loss is told as one of an event that the file knows.
  EXPECT_EQ(load<uint64_t>(joined.data() + sizeof(abi::RecordHeader)), kEvent);
}

TEST(ChainJoiner, AnotherThreadsSampleGetsNoChain) {
  ChainJoiner join = joiner();
  Records ring;
  ring.chain(1, {10}).sample(2);
  EXPECT_EQ(chains(join.join(0, ring.bytes(), {})), (Chains{{}}));
}

/// The only sample.
Sample sample_in(Bytes bytes) {
  static const SampleLayout layout(kSampling);
  RecordBlock block;
  block.bytes = bytes;
  RecordRange range(block, kHostOrder);
  RecordView record;
  Sample sample;
  EXPECT_TRUE(range.next(record) && decode_sample(record, layout, sample));
  EXPECT_FALSE(range.next(record));
  return sample;
}

TEST(ChainJoiner, LeavesRegistersOutAndSaysIfTheChainIsIncomplete) {
  ChainJoiner join = joiner();
  auto joined = [&](uint16_t end) {
    return sample_in(join.join(0, Records().chain(1, {10}, end).sample(1).bytes(), {}));
  };
  EXPECT_EQ(joined(WALK_OUTERMOST).chain_cut, ChainCut::kNone);
  EXPECT_EQ(joined(WALK_NO_RULE).chain_cut, ChainCut::kBroken);
  EXPECT_EQ(joined(WALK_LIMIT).chain_cut, ChainCut::kLimit);
  EXPECT_EQ(joined(WALK_OUTERMOST).regs_user.abi, uint64_t{abi::kRegsAbiNone});
}

TEST(ChainJoiner, AStackCopyBeginsAtTheStackPointer) {
  ChainJoiner join = joiner();
  Records ring;
  ring.stack(1, {1, 2, 3, 4}).sample(1, {abi::kContextKernel, 8}, 0x7010);
  Sample sample = sample_in(join.join(0, ring.bytes(), {}));
  WordView words(sample.stack_user, kHostOrder);
  ASSERT_EQ(words.size(), 2u);
  EXPECT_EQ(words[0], 3u);
  EXPECT_EQ(words[1], 4u);
  EXPECT_EQ(sample.regs_user.get(7), 0x7010u);
  EXPECT_EQ(sample.callchain.size(), 2u);
  EXPECT_EQ(join.ends().copied, 1u);
  EXPECT_TRUE(join.ends().unfinished.empty());
}

TEST(ChainJoiner, CountsUserTasksSamplesThatGetNothing) {
  ChainJoiner join = joiner();
  (void)join.join(0, Records().sample(1).sample(2, {abi::kContextKernel, 8}, {}).bytes(), {});
  EXPECT_EQ(join.ends().missing, 1u);
  EXPECT_EQ(join.ends().all(), 1u);
}

TEST(ChainJoiner, CountsWhereChainsEnd) {
  ChainJoiner join = joiner();
  Records ring;
  ring.chain(1, {10}, WALK_NO_TABLE).sample(1).chain(1, {10}).sample(1);
  (void)join.join(0, ring.bytes(), {});
  ChainEnds ends = join.ends();
  EXPECT_EQ(ends.by_reason[WALK_NO_TABLE], 1u);
  EXPECT_EQ(ends.by_reason[WALK_OUTERMOST], 1u);
  ASSERT_EQ(ends.unfinished.size(), 1u);
  EXPECT_EQ(ends.unfinished.begin()->first.inode, 5u);
}

}  // namespace
}  // namespace sonde
