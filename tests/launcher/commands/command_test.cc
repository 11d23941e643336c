#include "launcher/commands/command.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "runtime/link/link.h"
#include "tests/launcher/commands/command_fixture.h"

namespace sterna::launcher {
namespace {

using testing::HasSubstr;
using testing::Not;

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

TEST_F(CheckCommand, LooksAtTheDataItIsGiven) {
  const std::string path = write("x.toml", kFile);
  EXPECT_THAT(sterna({"check", path.c_str(), "--data", "/nowhere"}).err, HasSubstr("/nowhere"));
  EXPECT_THAT(sterna({"check", path.c_str(), "--set", "data.dir=/nowhere"}).err,
              HasSubstr("/nowhere"));
  for (const char* name : {"train/a/1.jpg", "train/b/1.jpg", "val/a/1.jpg"}) {
    std::filesystem::create_directories((folder / name).parent_path());
    write(name, "no picture, and nobody looks");
  }
  const std::string data = folder.path();
  const Said good = sterna({"check", path.c_str(), "--data", data.c_str(), "--set", "data.size=40",
                            "--set", "data.name=pictures"});
  EXPECT_EQ(good.exit, 0) << good.err;
  EXPECT_THAT(good.out, HasSubstr("data: pictures in " + data +
                                  "; the net sees 40 x 40 x 3, and 2 classes\n"));
  EXPECT_THAT(good.out, Not(HasSubstr("was made for")));
  EXPECT_THAT(
      sterna({"check", path.c_str(), "--data", data.c_str(), "--set", "data.name=pictures"}).out,
      HasSubstr(
          "\npictures become 224 x 224, and lenet was made for 28 x 28: data.size = 28 trains "
          "faster\n"));
  const Said large = sterna({"check", path.c_str(), "--data", data.c_str(), "--set",
                             "data.memory=\"1kB\"", "--set", "data.name=pictures"});
  EXPECT_EQ(large.exit, 2);
  EXPECT_THAT(large.err, HasSubstr("data.memory = \"1kB\" is too little for a batch of"));
}

TEST_F(CheckCommand, RefusesFewerClassesThanARunWouldFindWithoutTheFolder) {
  ::setenv("XDG_CACHE_HOME", folder.path().c_str(), 1);  // where there is none
  ::unsetenv("STERNA_DATA");
  const std::string path = write("x.toml", kFile);
  const Said said =
      sterna({"check", path.c_str(), "--set", "data.name=cifar10", "--set", "data.classes=9"});
  EXPECT_EQ(said.exit, 2);
  EXPECT_EQ(said.out, "");
  EXPECT_EQ(said.err, "data.classes = 9, and cifar10 has 10\n");
  EXPECT_EQ(
      sterna({"check", path.c_str(), "--set", "data.name=cifar10", "--set", "data.classes=10"})
          .exit,
      0);
}

TEST_F(CheckCommand, ReportsWhatIsWrongBesideTheResult) {
  const std::string path = write("x.toml", kFile);
  const Said said = sterna({"check", path.c_str(), "--set", "job.steps=0"});
  EXPECT_EQ(said.exit, 2);
  EXPECT_EQ(said.out, "");
  EXPECT_THAT(said.err, HasSubstr("job.steps"));
}

TEST_F(CheckCommand, AsksTheProgramForItsActorTypesAndTheirArguments) {
  const std::string program =
      write("program", "#!/bin/sh\ncat <<'END'\n" +
                           fmt::format(R"({{"format": 1, "protocol": {}, )", kProtocolVersion) +
                           R"("schema_hash": "ff", "actors": [)"
                           R"({"type": "counter", "args": [{"key": "start"}]}]})"
                           "\nEND\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const auto check = [&](const std::string& actor) {
    const std::string path =
        write("own.toml", "format = 1\n[program]\npath = \"" + program + "\"\n[[actor]]\n" + actor);
    return sterna({"check", path.c_str()});
  };
  EXPECT_EQ(check("type = \"counter\"\nargs = { start = 1 }\n").exit, 0);
  const Said no_type = check("type = \"countr\"\n");
  EXPECT_EQ(no_type.exit, 2);
  EXPECT_EQ(no_type.out, "");
  EXPECT_THAT(no_type.err, HasSubstr("no actor type \"countr\"; did you mean \"counter\"?"));
  EXPECT_THAT(check("type = \"counter\"\nargs = { strt = 1 }\n").err,
              HasSubstr("no argument \"strt\"; did you mean \"start\"?"));
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
  EXPECT_EQ(
      sterna({"data"}).err,
      "sterna data: say which: make, fetch, split, build, convert, show; see sterna data --help\n");
}

}  // namespace
}  // namespace sterna::launcher
