// Shells of this machine, which stand for those of hosts that ssh reaches.
#include "launcher/hosts/host_shell.h"
#include "launcher/text/shell_word.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/temporary_folder.h"

namespace sterna::launcher {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

class HostShell : public testing::Test {
 protected:
  std::vector<ShellAnswer> ask(const std::vector<std::string>& scripts) {
    std::vector<ShellQuestion> questions;
    for (const std::string& script : scripts) questions.push_back({"here", "", script});
    return ask_shells(machine_, questions, 10s);
  }
  RealMachine machine_{[](std::string_view) {}};
};

TEST_F(HostShell, SaysWhatItsScriptSays) {
  const ShellAnswer answer = ask({"echo out; echo err >&2; exit 3"}).front();
  EXPECT_EQ(answer.output, "out\n");
  EXPECT_EQ(answer.errors, "err\n");
  ASSERT_TRUE(answer.exit.has_value());
  EXPECT_EQ(answer.exit->code, 3);
}

TEST_F(HostShell, MayHoldAnyCharacter) {
  EXPECT_EQ(ask({"cat <<'END'\n\"$(x)\" `y` \\ ! %\nEND"}).front().output, "\"$(x)\" `y` \\ ! %\n");
}

TEST_F(HostShell, OfSeveralAnswersInTheOrderOfTheQuestions) {
  const TemporaryFolder folder;
  const std::string mark = shell_word((folder / "second").string());
  const std::vector<ShellAnswer> answers =
      ask({"while [ ! -e " + mark + " ]; do :; done; echo first", "echo second; : > " + mark});
  EXPECT_EQ(answers[0].output, "first\n");
  EXPECT_EQ(answers[1].output, "second\n");
}

TEST_F(HostShell, ThatSaysItIsReadyGetsALineAndItsClockIsBounded) {
  const ShellAnswer answer = ask({"echo STERNA ready; read line; echo got $line"}).front();
  EXPECT_EQ(answer.output, "STERNA ready\ngot go\n");
  ASSERT_TRUE(answer.asked && answer.answered);
  EXPECT_LE(*answer.asked, *answer.answered);
}

TEST_F(HostShell, ReadsNothingWhereItIsNotReady) {
  EXPECT_EQ(ask({"read line; echo \"$line.\""}).front().output, ".\n");
}

TEST_F(HostShell, IsGivenUpWhenItsAskerSaysSo) {
  const auto answers = ask_shells(machine_, {{"here", "", "echo STERNA ready; kill -STOP $$"}}, 10s,
                                  [] { return true; });
  EXPECT_FALSE(answers.front().exit.has_value());
  EXPECT_EQ(shell_trouble({"here", "", ""}, answers.front()), "here: it did not answer in time");
}

TEST(ShellTrouble, SaysInOneLineWhatSshSaid) {
  ShellAnswer answer;
  answer.errors = "ssh: connect to host b port 22: Connection refused\r\n";
  answer.exit = ProcessExit{255};
  const std::string trouble = shell_trouble({"b", "me@b", ""}, answer);
  EXPECT_THAT(trouble, StartsWith("b: "));
  EXPECT_THAT(trouble, HasSubstr("refused"));
  EXPECT_EQ(trouble.find('\n'), std::string::npos);
}

TEST_F(HostShell, ReadsAWordAsItWasMeant) {
  for (const std::string word : {"plain", "it's", "a b;c", "$HOME `x` \\ \"", ""}) {
    EXPECT_EQ(ask({"printf '%s' " + shell_word(word)}).front().output, word);
  }
}

}  // namespace
}  // namespace sterna::launcher
