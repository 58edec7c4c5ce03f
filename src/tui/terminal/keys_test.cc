#include "tui/terminal/keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::tui {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Kind = Key::Kind;

Key of(Kind kind) {
  return {kind};
}

TEST(KeyDecoder, PlainKeys) {
  KeyDecoder decoder;
  EXPECT_THAT(decoder.take("qA\r\t\x7f"), ElementsAre(Key::of('q'), Key::of('A'), of(Kind::kEnter),
                                                      of(Kind::kTab), of(Kind::kBackspace)));
  EXPECT_THAT(decoder.take("\x03"), ElementsAre(Key::with_control('c')));
  EXPECT_THAT(decoder.take("\xe6\xbc\xa2"), ElementsAre(Key::of(0x6f22)));
}

TEST(KeyDecoder, SequencesOfTerminals) {
  KeyDecoder decoder;
  EXPECT_THAT(decoder.take("\033[A\033OB\033[5~\033[6~\033[H\033OF\033[Z\033OP\033[11~"),
              ElementsAre(of(Kind::kUp), of(Kind::kDown), of(Kind::kPageUp), of(Kind::kPageDown),
                          of(Kind::kHome), of(Kind::kEnd), of(Kind::kBackTab), of(Kind::kF1),
                          of(Kind::kF1)));
}

TEST(KeyDecoder, ModifiersStandBesideTheKey) {
  KeyDecoder decoder;
  auto keys = decoder.take("\033[1;5C\033x");
  ASSERT_EQ(keys.size(), 2u);
  EXPECT_EQ(keys[0].kind, Kind::kRight);
  EXPECT_TRUE(keys[0].control);
  EXPECT_TRUE(keys[1].alt);
  EXPECT_EQ(keys[1].character, U'x');
}

TEST(KeyDecoder, SequencesMayComeInPieces) {
  KeyDecoder decoder;
  EXPECT_THAT(decoder.take("\033"), IsEmpty());
  EXPECT_TRUE(decoder.waits());
  EXPECT_THAT(decoder.take("["), IsEmpty());
  EXPECT_THAT(decoder.take("B"), ElementsAre(of(Kind::kDown)));
  EXPECT_THAT(decoder.take("\xe6\xbc"), IsEmpty());
  EXPECT_THAT(decoder.take("\xa2"), ElementsAre(Key::of(0x6f22)));
}

TEST(KeyDecoder, EscapeAloneIsAKeyWhenNothingFollows) {
  KeyDecoder decoder;
  EXPECT_THAT(decoder.take("\033"), IsEmpty());
  EXPECT_THAT(decoder.finalize(), ElementsAre(of(Kind::kEscape)));
  EXPECT_FALSE(decoder.waits());
  EXPECT_THAT(decoder.take("\033\033[A"), ElementsAre(of(Kind::kEscape), of(Kind::kUp)));
}

TEST(KeyDecoder, Mouse) {
  KeyDecoder decoder;
  auto keys = decoder.take("\033[<0;5;3M\033[<0;5;3m\033[<64;1;1M\033[<65;1;1M\033[<0;0;3M");
  ASSERT_EQ(keys.size(), 5u);
  EXPECT_EQ(keys[0].kind, Kind::kPress);
  EXPECT_EQ(keys[0].row, 2u);
  EXPECT_EQ(keys[0].column, 4u);
  EXPECT_EQ(keys[1].kind, Kind::kUnknown);  // released
  EXPECT_EQ(keys[2].kind, Kind::kWheelUp);
  EXPECT_EQ(keys[3].kind, Kind::kWheelDown);
  EXPECT_EQ(keys[4].kind, Kind::kUnknown);  // columns count from 1
}

TEST(KeyDecoder, EndlessSequencesAreGivenUp) {
  KeyDecoder decoder;
  EXPECT_THAT(decoder.take("\033[" + std::string(100, '1')), testing::Contains(of(Kind::kUnknown)));
  EXPECT_FALSE(decoder.waits());
}

}  // namespace
}  // namespace sonde::tui
