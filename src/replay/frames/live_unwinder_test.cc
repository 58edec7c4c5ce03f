#include "replay/frames/live_unwinder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "perfdata/records/record_encoder.h"
#include "perfdata/records/user_records.h"

namespace sonde {
namespace {

using testing::ElementsAre;

/// The records that came out, and the memory that was released.
class Collected final : public RecordTransform::Output {
 public:
  Result<> write_ring(Bytes records) override {
    from_kernel.insert(from_kernel.end(), records.begin(), records.end());
    all.insert(all.end(), records.begin(), records.end());
    return {};
  }
  Result<> write(Bytes records) override {
    all.insert(all.end(), records.begin(), records.end());
    return {};
  }
  void release(std::vector<std::byte>) override { ++released; }

  std::vector<std::byte> from_kernel, all;
  size_t released = 0;
};

class LiveUnwinderTest : public testing::Test {
 protected:
  LiveUnwinderTest() {
    attr_.sample_type = abi::kSampleIp | abi::kSampleTid | abi::kSampleTime |
                        abi::kSampleCallchain | abi::kSampleRegsUser | abi::kSampleStackUser;
    attr_.sample_regs_user = abi::default_register_mask(abi::Arch::kX86_64);
    attr_.sample_stack_user = 64;
    attr_.sample_id_all = 1;
    EventDesc event;
    event.attr = attr_;
    unwinder_.begin({event});
  }

  [[nodiscard]] std::vector<std::byte> sample(uint64_t time) const {
    Sample made;
    made.id = {.pid = 7, .tid = 7, .time = time};
    made.ip = 0x400100;
    static constexpr uint64_t kChain[] = {abi::kContextUser, 0x400100};
    made.callchain = WordView(std::as_bytes(std::span(kChain)), kHostOrder);
    std::vector<uint64_t> registers(static_cast<size_t>(std::popcount(attr_.sample_regs_user)),
                                    0x400100);
    made.regs_user = {.abi = abi::kRegsAbi64,
                      .mask = attr_.sample_regs_user,
                      .words = WordView(std::as_bytes(std::span(registers)), kHostOrder)};
    static constexpr std::byte kStack[64] = {};
    made.stack_user = kStack;
    ByteBuilder bytes;
    encode_sample(made, attr_, bytes);
    return {bytes.view().begin(), bytes.view().end()};
  }
  static std::vector<std::byte> round_end() {
    ByteBuilder bytes;
    encode_empty(abi::kRecordFinishedRound, bytes);
    return {bytes.view().begin(), bytes.view().end()};
  }
  void take(std::vector<std::byte> block, bool behind = false) {
    ASSERT_TRUE(unwinder_.take(std::move(block), behind, out_));
  }

  /// The times of the samples that came out; 0 for other records.
  [[nodiscard]] std::vector<uint64_t> times() const {
    std::vector<uint64_t> all;
    for_each([&](const RecordView& record, const Sample& sample) {
      all.push_back(record.type == abi::kRecordSample ? sample.id.time : 0);
    });
    return all;
  }
  template <typename Body>
  void for_each(const Body& body) const {
    RecordBlock block;
    block.bytes = out_.all;
    SampleLayout layout(attr_);
    RecordRange range(block, kHostOrder);
    for (RecordView record; range.next(record);) {
      Sample sample;
      if (record.type == abi::kRecordSample) {
        ASSERT_TRUE(decode_sample(record, layout, sample));
      }
      body(record, sample);
    }
    EXPECT_EQ(range.stopped_at(), out_.all.size());
  }

  abi::EventAttr attr_;
  LiveUnwinder unwinder_{{.arch = abi::Arch::kX86_64, .files = {}}};
  Collected out_;
};

TEST_F(LiveUnwinderTest, RecordsComeOutInOrderWhenTheirRoundAndTheNextAreOver) {
  take(sample(30));
  take(sample(20));
  take(round_end());
  EXPECT_THAT(times(), ElementsAre());
  take(sample(25));
  take(round_end());
  // Records without a time, such as the end of a round, stay behind their predecessor.
  EXPECT_THAT(times(), ElementsAre(20, 0, 25, 0, 30));
  take(sample(40));
  ASSERT_TRUE(unwinder_.finish(out_));
  EXPECT_THAT(times(), ElementsAre(20, 0, 25, 0, 30, 40));
  EXPECT_EQ(out_.released, 6u);
}

TEST_F(LiveUnwinderTest, CopiesAreGoneAndChainsThere) {
  take(sample(1));
  ASSERT_TRUE(unwinder_.finish(out_));
  size_t samples = 0;
  for_each([&](const RecordView&, const Sample& sample) {
    ++samples;
    EXPECT_TRUE(sample.stack_user.empty());
    EXPECT_EQ(sample.regs_user.abi, abi::kRegsAbiNone);
    ASSERT_EQ(sample.callchain.size(), 2u);
    EXPECT_EQ(sample.callchain[0], abi::kContextUser);
    EXPECT_EQ(sample.callchain[1], 0x400100u);
    EXPECT_EQ(sample.chain_cut, ChainCut::kBroken);  // nothing is mapped there
  });
  EXPECT_EQ(samples, 1u);
  LossLedger losses;
  unwinder_.add_losses(losses);
  EXPECT_EQ(losses.count(LossKind::k_broken_chain), 1u);
}

TEST_F(LiveUnwinderTest, WhoeverIsBehindPassesCopiesOn) {
  take(sample(1), /*behind=*/true);
  ASSERT_TRUE(unwinder_.finish(out_));
  EXPECT_EQ(unwinder_.left_as_copies().for_want_of_time, 1u);
  for_each([&](const RecordView&, const Sample& sample) {
    EXPECT_EQ(sample.stack_user.size(), 64u);
    EXPECT_TRUE(sample.callchain.empty());  // without the frame-pointer chain
  });
}

TEST_F(LiveUnwinderTest, TheRecordersOwnRecordsAreNoKernelRecords) {
  take(sample(1));
  take(round_end());
  take(sample(2));
  ASSERT_TRUE(unwinder_.finish(out_));
  EXPECT_EQ(out_.all.size() - out_.from_kernel.size(), round_end().size());
}

TEST_F(LiveUnwinderTest, DamageIsCountedAndTheRestGoesOn) {
  std::vector<std::byte> block = sample(1);
  block.resize(block.size() + 5);
  take(std::move(block));
  take(sample(2));
  ASSERT_TRUE(unwinder_.finish(out_));
  EXPECT_THAT(times(), ElementsAre(1, 2));
  LossLedger losses;
  unwinder_.add_losses(losses);
  EXPECT_EQ(losses.count(LossKind::k_bad_record), 1u);
}

}  // namespace
}  // namespace sonde
