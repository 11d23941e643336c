#include "launcher/commands/command.h"

#include <set>

#include "tests/launcher/commands/command_fixture.h"

namespace sterna::launcher {
namespace {

using testing::HasSubstr;

using CheckCommand = CommandTest;
using RunCommand = CommandTest;
using HelpCommand = CommandTest;
using DataCommand = CommandTest;

constexpr const char* kFile = R"(
format = 1
[[actor]]
role = "parameter_server"
[[actor]]
role = "worker"
count = 2
[[actor]]
role = "input_reader"
[[actor]]
role = "evaluator"
[job]
net = "lenet"
steps = 7
)";

TEST(Commands, SayInALineWhatTheyDoAndCanBeCalled) {
  std::set<std::string> names;
  const std::function<void(const Command&)> look = [&](const Command& command) {
    EXPECT_NE(command.help, "") << command.name;
    EXPECT_NE(command.run != nullptr, !command.parts.empty())
        << command.name << " is either called or has parts";
    for (const Argument& argument : command.arguments) EXPECT_NE(argument.help, "");
    for (const Command& part : command.parts) look(part);
  };
  for (const Command& command : all_commands()) {
    look(command);
    EXPECT_TRUE(names.insert(command.name).second) << command.name;
  }
}

TEST_F(CheckCommand, SaysWhatAFileDescribes) {
  const std::string path = write("x.toml", kFile);
  const Said said = sterna({"check", path.c_str(), "--set", "actor.worker.count=3"});
  EXPECT_EQ(said.exit, 0);
  EXPECT_EQ(said.err, "");
  EXPECT_THAT(said.out, HasSubstr("x.toml: good. 1 parameter server, 3 workers with 3 ranks"));
  EXPECT_THAT(sterna({"check", path.c_str(), "--json"}).out, HasSubstr("\"role\":\"worker\""));
}

TEST_F(CheckCommand, ReportsWhatIsWrongBesideTheResult) {
  const std::string path = write("x.toml", kFile);
  const Said said = sterna({"check", path.c_str(), "--set", "job.steps=0"});
  EXPECT_EQ(said.exit, 2);
  EXPECT_EQ(said.out, "");
  EXPECT_THAT(said.err, HasSubstr("job.steps"));
}

TEST_F(RunCommand, IsNotBegunOfAFileThatIsNotThere) {
  for (const char* command : {"run", "up", "doctor"}) {
    const Said said = sterna({command, "/nowhere/x.toml"});
    EXPECT_EQ(said.exit, 2) << command;
    EXPECT_EQ(said.err, "/nowhere/x.toml: there is no such file\n") << command;
  }
}

TEST_F(HelpCommand, IsOfOneCommandOrOfTheKeys) {
  EXPECT_EQ(sterna({"help", "data", "make"}).out, sterna({"data", "make", "--help"}).out);
  EXPECT_THAT(sterna({"help", "keys"}).out, HasSubstr("gradient.codec"));
  EXPECT_THAT(sterna({"help", "keys", "--markdown"}).out, HasSubstr("| `gradient.codec` |"));
  EXPECT_THAT(sterna({"help"}).out, HasSubstr("Usage: sterna help"));
  EXPECT_EQ(sterna({"help", "rnu"}).err,
            "sterna: unknown command \"rnu\"; did you mean \"run\"?\n");
}

TEST_F(DataCommand, KeepsWhatIsAskedOfItWithinItsRange) {
  const Said said = sterna({"data", "make", "digits", "--out", "x", "--train", "0"});
  EXPECT_EQ(said.exit, 2);
  EXPECT_THAT(said.err, HasSubstr("--train"));
  EXPECT_THAT(sterna({"data", "make", "digits", "--help"}).out, HasSubstr("--train N=60000"));
  EXPECT_EQ(sterna({"data"}).err,
            "sterna data: say which: make, fetch, split; see sterna data --help\n");
}

}  // namespace
}  // namespace sterna::launcher
