#include "perfdata/records/attr_codec.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

abi::EventAttr full_attr() {
  abi::EventAttr attr;
  attr.type = 4;
  attr.config = 0x1122334455667788;
  attr.sample_period = 4000;
  attr.sample_type = abi::kSampleIp | abi::kSampleTid;
  attr.read_format = 7;
  attr.disabled = 1;
  attr.precise_ip = 2;
  attr.sample_id_all = 1;
  attr.defer_output = 1;
  attr.wakeup_events = 1;
  attr.bp_type = 3;
  attr.bp_addr = 5;
  attr.bp_len = 6;
  attr.branch_sample_type = 7;
  attr.sample_regs_user = 8;
  attr.sample_stack_user = 9;
  attr.clockid = -1;
  attr.sample_regs_intr = 11;
  attr.aux_watermark = 12;
  attr.sample_max_stack = 13;
  attr.aux_sample_size = 14;
  attr.aux_action = 5;
  attr.sig_data = 15;
  attr.config3 = 16;
  return attr;
}

class AttrCodec : public testing::TestWithParam<ByteOrder> {};
INSTANTIATE_TEST_SUITE_P(BothOrders, AttrCodec,
                         testing::Values(ByteOrder::kLittle, ByteOrder::kBig));

TEST_P(AttrCodec, RoundTripsEverySize) {
  for (uint32_t size : {136u, 144u, 200u}) {
    abi::EventAttr attr = full_attr();
    attr.size = size;
    ByteBuilder out(GetParam());
    encode_attr(attr, size, out);
    ASSERT_EQ(out.size(), size);
    EXPECT_EQ(decode_attr(out.view(), GetParam()), attr);
  }
}

TEST_P(AttrCodec, OlderSizesLoseOnlyWhatTheyLack) {
  for (uint32_t size : {64u, 72u, 80u, 96u, 104u, 112u, 120u, 128u}) {
    abi::EventAttr attr = full_attr();
    ByteBuilder out(GetParam());
    encode_attr(attr, size, out);
    out.u64(0xdeadbeef);  // what follows the attr is not part of it
    auto decoded = decode_attr(out.view(), GetParam());
    ASSERT_TRUE(decoded);
    EXPECT_EQ(decoded->size, size);
    EXPECT_EQ(decoded->precise_ip, 2u);
    EXPECT_EQ(decoded->bp_addr, 5u);
    EXPECT_EQ(decoded->bp_len, size >= 72 ? 6u : 0u);
    EXPECT_EQ(decoded->branch_sample_type, size >= 80 ? 7u : 0u);
    EXPECT_EQ(decoded->clockid, size >= 96 ? -1 : 0);
    EXPECT_EQ(decoded->sample_regs_intr, size >= 104 ? 11u : 0u);
    EXPECT_EQ(decoded->sample_max_stack, size >= 112 ? 13u : 0u);
    EXPECT_EQ(decoded->aux_action, size >= 120 ? 5u : 0u);
    EXPECT_EQ(decoded->sig_data, size >= 128 ? 15u : 0u);
    EXPECT_EQ(decoded->config3, 0u);
  }
}

TEST(AttrCodecFlags, BigEndianFieldsStartAtTheTop) {
  abi::EventAttr attr;
  attr.disabled = 1;
  attr.precise_ip = 1;
  EXPECT_EQ(attr_flag_word(attr, ByteOrder::kLittle), 1u | (1u << 15));
  EXPECT_EQ(attr_flag_word(attr, ByteOrder::kBig),
            (uint64_t{1} << 63) | (uint64_t{1} << (64 - 15 - 2)));
}

TEST(AttrCodecDamage, ShortAttrsAreRefused) {
  std::byte zeros[64] = {};
  EXPECT_FALSE(decode_attr(Bytes(zeros).first(63), ByteOrder::kLittle));
  ASSERT_TRUE(decode_attr(zeros, ByteOrder::kLittle));  // size 0: VER0
  EXPECT_EQ(decode_attr(zeros, ByteOrder::kLittle)->size, 64u);
  zeros[4] = std::byte{63};
  EXPECT_FALSE(decode_attr(zeros, ByteOrder::kLittle));
}

}  // namespace
}  // namespace sonde
