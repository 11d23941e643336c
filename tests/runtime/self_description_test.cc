#include "runtime/self_description.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "tests/runtime/message/test_messages.h"

namespace sterna::test {
namespace {

using testing::HasSubstr;

class AdderActor final : public Actor<Interface<>> {
 public:
  explicit AdderActor(Add) {}
};

class SelfDescription : public testing::Test {
 protected:
  SelfDescription() { registry.add<AdderActor, Add>("adder"); }
  /// What the program answers to these words, on standard output.
  std::optional<int> say(std::vector<std::string> words) {
    words.insert(words.begin(), "program");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    testing::internal::CaptureStdout();
    const auto code = answer_about_itself(static_cast<int>(argv.size()), argv.data(), registry);
    said = testing::internal::GetCapturedStdout();
    return code;
  }
  Registry registry;
  std::string said;
};

TEST_F(SelfDescription, IsOneLineOfItsTypesAndTheirArguments) {
  EXPECT_EQ(say({"--describe", "--json"}), 0);
  EXPECT_THAT(said, testing::StartsWith("{\"format\":1,\"program\":"));
  EXPECT_THAT(said,
              HasSubstr(R"("actors":[{"type":"adder","args":[{"key":"amount","type":"Int64"}]}])"));
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1);
}

TEST_F(SelfDescription, OtherWordsAreAUsersCommand) {
  EXPECT_EQ(say({}), std::nullopt);
  EXPECT_EQ(say({"--describe"}), std::nullopt);
  EXPECT_EQ(say({"--describe", "--json", "more"}), std::nullopt);
  EXPECT_EQ(said, "");
}

TEST_F(SelfDescription, SaysOfEachLineOfArgumentsWhatIsWrongWithThem) {
  std::istringstream lines(R"({"type":"adder","args":{"amount":3}})"
                           "\n"
                           R"({"type":"adder","args":{"amount":"1s"}})"
                           "\n"
                           R"({"type":"nobody","args":{}})"
                           "\n"
                           "{}\n");
  std::istringstream answers(check_args(registry, lines));
  std::vector<std::string> said_of;
  for (std::string line; std::getline(answers, line);) said_of.push_back(line);
  EXPECT_THAT(said_of,
              testing::ElementsAre("", HasSubstr("amount"), HasSubstr("no actor type is called"),
                                   HasSubstr("no object")));
}

TEST_F(SelfDescription, WithoutABundleThereIsNoHashOfOne) {
  EXPECT_EQ(say({"__bundle-hash"}), 1);
  EXPECT_EQ(said, "");
}

}  // namespace
}  // namespace sterna::test
