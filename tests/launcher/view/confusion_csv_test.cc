#include "launcher/view/confusion_csv.h"

#include <gtest/gtest.h>

namespace sterna::launcher {
namespace {

TEST(ConfusionCsv, HasALineForEachLabelAndAColumnForEachAnswerAndForNone) {
  EXPECT_EQ(to_csv({3, {{0, 0, 5}, {0, 3, 1}, {2, 1, 7}}}, {}),
            "label,0,1,2,none\n"
            "0,5,0,0,1\n"
            "1,0,0,0,0\n"
            "2,0,7,0,0\n");
}

TEST(ConfusionCsv, CallsClassesByTheirNamesWhereTheyHaveSome) {
  EXPECT_EQ(to_csv({4, {{2, 1, 7}}}, {{"cat", "dog, \"wet\""}, 1}),
            "label,0,\"cat\",\"dog, \"\"wet\"\"\",3,none\n"
            "0,0,0,0,0,0\n"
            "\"cat\",0,0,0,0,0\n"
            "\"dog, \"\"wet\"\"\",0,7,0,0,0\n"
            "3,0,0,0,0,0\n");
}

}  // namespace
}  // namespace sterna::launcher
