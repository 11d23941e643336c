#include "launcher/text/text_format.h"

#include <gtest/gtest.h>

#include <limits>

namespace sterna::launcher {
namespace {

TEST(Thousands, HaveACommaBetweenEachThreeDigits) {
  EXPECT_EQ(thousands(999), "999");
  EXPECT_EQ(thousands(1000), "1,000");
  EXPECT_EQ(thousands(-1234567), "-1,234,567");
  EXPECT_EQ(thousands(-100), "-100");
}

TEST(BytesText, HasThreeDigitsAndAUnitOfThousands) {
  EXPECT_EQ(bytes_text(999), "999 B");
  EXPECT_EQ(bytes_text(1000), "1.00 kB");
  EXPECT_EQ(bytes_text(12'345'678), "12.3 MB");
  EXPECT_EQ(bytes_text(402'000'000), "402 MB");
}

TEST(BytesText, GoesToTheNextUnitWhereRoundingWouldMakeAFourthDigit) {
  EXPECT_EQ(bytes_text(9'994), "9.99 kB");
  EXPECT_EQ(bytes_text(9'995), "10.0 kB");
  EXPECT_EQ(bytes_text(999'499), "999 kB");
  EXPECT_EQ(bytes_text(999'500), "1.00 MB");
}

TEST(SecondsText, HasMinutesAndHoursOnceThereAreSome) {
  EXPECT_EQ(seconds_text(59.4), "59 s");
  EXPECT_EQ(seconds_text(59.6), "1:00");
  EXPECT_EQ(seconds_text(65), "1:05");
  EXPECT_EQ(seconds_text(7207), "2:00:07");
}

TEST(SecondsText, IsAQuestionMarkWhereThatIsNoTime) {
  for (const double none : {-1.0, 2e9, std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(seconds_text(none), "?");
  }
}

TEST(Columns, AreTwoForAWideCharacterAndOneForAByteThatIsNone) {
  EXPECT_EQ(columns("abc"), 3U);
  EXPECT_EQ(columns("ümläut"), 6U);
  EXPECT_EQ(columns("日本"), 4U);
  EXPECT_EQ(columns("\xFF\xC3"), 2U);
}

TEST(Cut, LeavesTextThatFits) { EXPECT_EQ(cut("abc", 3, "…"), "abc"); }

TEST(Cut, EndsInTheMarkWhereItCutsAndBreaksNoCharacter) {
  EXPECT_EQ(cut("abcd", 3, "…"), "ab…");
  EXPECT_EQ(cut("日本語", 5, "…"), "日本…");
  EXPECT_EQ(cut("日本語", 4, "…"), "日…");
}

TEST(Cut, LeavesOutAMarkThatIsTooLongItself) {
  EXPECT_EQ(cut("abc", 0, "~"), "");
  EXPECT_EQ(cut("abcd", 2, "..."), "");
}

TEST(Printable, TakesFromTextWhatMovesACursor) {
  EXPECT_EQ(printable("\x1b[2Jboo\r\n"), "?[2Jboo??");
  EXPECT_EQ(printable("\xC2\x9B"
                      "1A"),
            "?1A");
  EXPECT_EQ(printable("a\tb\x7F"), "a b?");
}

TEST(Printable, LeavesWordsInAnyScript) { EXPECT_EQ(printable("ümläut 日本 😀"), "ümläut 日本 😀"); }

TEST(Printable, OfSeveralLinesKeepsTheirEnds) {
  EXPECT_EQ(printable_lines("a\tb\n\n\x1b[2Jc\r\n"), "a\tb\n\n?[2Jc?\n");
  EXPECT_EQ(printable_lines(""), "");
}

TEST(Printable, IsAlwaysUtf8) {
  EXPECT_EQ(printable("\xFF"), "?");
  EXPECT_EQ(printable("a\xE6\x97"), "a??");          // cut off
  EXPECT_EQ(printable("\xE0\x80\x9B"), "???");       // ESC, overlong
  EXPECT_EQ(printable("\xF0\x82\x82\xAC"), "????");  // the euro sign, overlong
  EXPECT_EQ(printable("\xED\xA0\x80"), "???");       // half a surrogate pair
  EXPECT_EQ(printable("\xF4\x90\x80\x80"), "????");  // beyond the last code point
}

TEST(ValidUtf8, LosesNothingButBytesThatAreNone) {
  EXPECT_EQ(valid_utf8("ümläut\n\t\x1b"), "ümläut\n\t\x1b");
  EXPECT_EQ(valid_utf8("a\xFF\xE6\x97"), "a???");
}

TEST(WrappedHelp, GoesOnBelowTheDescription) {
  EXPECT_EQ(wrapped_help("Options:\n  --json  Print it as one line of JSON\n", 24),
            "Options:\n  --json  Print it as\n          one line of\n          JSON\n");
}

TEST(WrappedHelp, HasDescriptionsOfTheirOwnWhereTheirColumnLeavesTooLittle) {
  EXPECT_EQ(wrapped_help("  --run-dir DIR   Where the logs go\n                  or come from", 20),
            "  --run-dir DIR\n      Where the logs\n      go\n      or come from");
  EXPECT_EQ(wrapped_help("  --run-dir DIR   Where the logs go\n                  a b", 20),
            "  --run-dir DIR\n      Where the logs\n      go\n      a b");
}

TEST(WrappedHelp, LeavesCommandsAndWhatFitsAsTheyAre) {
  const std::string text = "a word  and another\n\n  sterna run FILE --set job.steps=500\n";
  EXPECT_EQ(wrapped_help(text, 20), text);
}

}  // namespace
}  // namespace sterna::launcher
