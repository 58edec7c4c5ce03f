#include "perfdata/records/unwound_sample.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "perfdata/records/record_encoder.h"

namespace sonde {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

abi::EventAttr copying_attr(uint32_t copy_bytes = 64) {
  abi::EventAttr attr;
  attr.sample_type = abi::kSampleIp | abi::kSampleTid | abi::kSampleTime | abi::kSampleCallchain |
                     abi::kSampleRaw | abi::kSampleRegsUser | abi::kSampleStackUser |
                     abi::kSampleDataSrc;
  attr.sample_regs_user = 0b101;
  attr.sample_stack_user = copy_bytes;
  return attr;
}

/// A record as the kernel writes it, and its decoded form.
struct Taken {
  SampleLayout layout;
  ByteBuilder bytes;
  RecordView record;
  Sample sample;

  explicit Taken(const std::vector<uint64_t>& chain, const abi::EventAttr& attr = copying_attr())
      : layout(attr) {
    Sample made;
    made.id = {.pid = 7, .tid = 8, .time = 99};
    made.ip = 0x1234;
    made.data_src = 42;
    made.callchain = WordView(std::as_bytes(std::span(chain)), kHostOrder);
    static constexpr std::byte kRaw[12] = {std::byte{1}};
    made.raw = kRaw;
    static constexpr uint64_t kRegisters[] = {0x11, 0x22};
    made.regs_user = {.abi = abi::kRegsAbi64,
                      .mask = attr.sample_regs_user,
                      .words = WordView(std::as_bytes(std::span(kRegisters)), kHostOrder)};
    static constexpr std::byte kStack[64] = {};
    made.stack_user = Bytes(kStack).first(attr.sample_stack_user);
    encode_sample(made, attr, bytes);
    read(bytes.view());
  }
  void read(Bytes from) {
    RecordBlock block;
    block.bytes = from;
    RecordRange range(block, kHostOrder);
    ASSERT_TRUE(range.next(record));
    ASSERT_EQ(range.stopped_at(), from.size());
    ASSERT_TRUE(decode_sample(record, layout, sample));
  }
};

std::vector<uint64_t> words(const WordView& view) {
  std::vector<uint64_t> all;
  for (size_t i = 0; i < view.size(); ++i) all.push_back(view[i]);
  return all;
}

constexpr uint64_t kCalls[] = {0x1234, 0x2000};

TEST(UnwoundSample, HasTheChainInPlaceOfTheCopy) {
  Taken taken({abi::kContextKernel, 0xffff800000000001, abi::kContextUser, 0xbad});
  std::vector<std::byte> out;
  ASSERT_TRUE(append_unwound(taken.record, taken.sample, kCalls, ChainCut::kNone, false, out));
  Taken again({});
  again.read(out);
  EXPECT_THAT(words(again.sample.callchain), ElementsAre(abi::kContextKernel, 0xffff800000000001,
                                                         abi::kContextUser, 0x1234, 0x2000));
  EXPECT_EQ(again.sample.regs_user.abi, abi::kRegsAbiNone);
  EXPECT_TRUE(again.sample.stack_user.empty());
  EXPECT_EQ(again.sample.chain_cut, ChainCut::kNone);
  // What precedes, separates and follows these fields is unchanged.
  EXPECT_EQ(again.sample.id.time, 99u);
  EXPECT_EQ(again.sample.ip, 0x1234u);
  EXPECT_EQ(again.sample.raw.size(), 12u);
  EXPECT_EQ(again.sample.data_src, 42u);
}

TEST(UnwoundSample, SaysWhyTheChainIsNotWhole) {
  Taken taken({});
  for (ChainCut cut : {ChainCut::kStackCopy, ChainCut::kBroken, ChainCut::kLimit}) {
    std::vector<std::byte> out;
    ASSERT_TRUE(append_unwound(taken.record, taken.sample, kCalls, cut, false, out));
    Taken again({});
    again.read(out);
    EXPECT_EQ(again.sample.chain_cut, cut);
    EXPECT_TRUE(again.sample.stack_user.empty());
    EXPECT_EQ(again.sample.data_src, 42u);
  }
}

TEST(UnwoundSample, AnEmptyCopyOfTheKernelIsNoWordOfARecorder) {
  Taken taken({}, copying_attr(8));
  ByteBuilder bytes;
  Sample sample = taken.sample;
  sample.chain_cut = ChainCut::kBroken;  // stored as a size of 8 and a dynamic size of 0
  sample.stack_user = {};
  encode_sample(sample, copying_attr(8), bytes);
  taken.read(bytes.view());
  EXPECT_EQ(taken.sample.chain_cut, ChainCut::kNone);
}

TEST(UnwoundSample, KeepsRegistersThatWereAskedFor) {
  Taken taken({});
  std::vector<std::byte> out;
  ASSERT_TRUE(append_unwound(taken.record, taken.sample, kCalls, ChainCut::kStackCopy, true, out));
  Taken again({});
  again.read(out);
  EXPECT_THAT(words(again.sample.regs_user.words), ElementsAre(0x11, 0x22));
  EXPECT_EQ(again.sample.chain_cut, ChainCut::kStackCopy);
}

TEST(UnwoundSample, WithoutUserFramesThereIsNoMarker) {
  Taken taken({abi::kContextKernel, 0xffff800000000001, abi::kContextUser, 0xbad});
  std::vector<std::byte> out;
  ASSERT_TRUE(append_unwound(taken.record, taken.sample, {}, ChainCut::kNone, false, out));
  Taken again({});
  again.read(out);
  EXPECT_THAT(words(again.sample.callchain), ElementsAre(abi::kContextKernel, 0xffff800000000001));
}

TEST(UnwoundSample, TheChainCanStandBesideTheCopy) {
  Taken taken({abi::kContextKernel, 0xffff800000000001, abi::kContextUser, 0xbad});
  std::vector<std::byte> out;
  ASSERT_TRUE(append_with_chain(taken.record, taken.sample, kCalls, out));
  Taken again({});
  again.read(out);
  EXPECT_THAT(words(again.sample.callchain), ElementsAre(abi::kContextKernel, 0xffff800000000001,
                                                         abi::kContextUser, 0x1234, 0x2000));
  EXPECT_THAT(words(again.sample.regs_user.words), ElementsAre(0x11, 0x22));
  EXPECT_EQ(again.sample.stack_user.size(), 64u);
  EXPECT_EQ(again.sample.data_src, 42u);
  std::vector<uint64_t> long_chain(10'000, 0x1000);
  EXPECT_FALSE(append_with_chain(taken.record, taken.sample, long_chain, out));
}

TEST(UnwoundSample, AChainThatDoesNotFitIsNotAppended) {
  Taken taken({});
  std::vector<std::byte> out(3);
  std::vector<uint64_t> long_chain(10'000, 0x1000);
  EXPECT_FALSE(append_unwound(taken.record, taken.sample, long_chain, ChainCut::kNone, false, out));
  EXPECT_EQ(out.size(), 3u);
}

TEST(UnwoundSample, CopiesGoOnWithoutFramePointers) {
  Taken taken({abi::kContextKernel, 0xffff800000000001, abi::kContextUser, 0x1234, 0x99});
  std::vector<std::byte> out;
  append_without_user_chain(taken.record, taken.sample, out);
  Taken again({});
  again.read(out);
  EXPECT_THAT(words(again.sample.callchain), ElementsAre(abi::kContextKernel, 0xffff800000000001));
  EXPECT_EQ(again.sample.stack_user.size(), 64u);
  EXPECT_THAT(words(again.sample.regs_user.words), ElementsAre(0x11, 0x22));
}

TEST(UnwoundSample, UserPart) {
  std::vector<uint64_t> chain{abi::kContextKernel, 1, abi::kContextUser, 2, 3};
  auto view = [&] { return WordView(std::as_bytes(std::span(chain)), kHostOrder); };
  EXPECT_THAT(words(user_part(view())), ElementsAre(2, 3));
  chain.resize(2);
  EXPECT_THAT(words(user_part(view())), IsEmpty());
}

}  // namespace
}  // namespace sonde
