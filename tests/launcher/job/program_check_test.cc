// Programs that are shell scripts: all that counts of them is how they describe themselves.
#include "launcher/job/program_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "runtime/link/link.h"
#include "tests/temporary_folder.h"

namespace sterna::launcher {
namespace {

namespace fs = std::filesystem;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class ProgramCheck : public testing::Test {
 protected:
  /// A program that says this about itself.
  void install(const std::string& description) const {
    std::ofstream(program_)
        << "#!/bin/sh\n[ \"$*\" = \"--describe --json\" ] || exit 2\ncat <<'END'\n"
        << description << "\nEND\n";
    fs::permissions(program_, fs::perms::owner_all);
  }
  void install_counter(std::uint64_t protocol = kProtocolVersion) const {
    install(
        R"({"format":1,"protocol":)" + std::to_string(protocol) +
        R"(,"schema_hash":"00000000000000ff","actors":)"
        R"([{"type":"counter","args":[{"key":"start"},{"key":"step"}]},{"type":"echo","args":[]}]})");
  }
  /// Of a file whose one actor is of that type.
  Result<Program> check(const std::string& type, const std::string& args = "") {
    const std::string text = "format = 1\n[program]\npath = \"" + program_ +
                             "\"\n[[actor]]\ntype = \"" + type + "\"\n" + args;
    STERNA_ASSIGN(const ClusterFile file, parse_cluster_file(text, "x.toml"));
    return check_program(machine_, Registry{}, file);
  }
  std::string error(const std::string& type, const std::string& args = "") {
    const Result<Program> program = check(type, args);
    return program.ok() ? "no error" : program.error().message;
  }

  TemporaryFolder folder_;
  std::string program_ = (fs::canonical(folder_.path()) / "program").string();
  RealMachine machine_{[](std::string_view) {}};
};

TEST_F(ProgramCheck, FindsTheProgramAndWhatItSpeaks) {
  install_counter();
  const Result<Program> program = check("counter", "args = {start = 1}\n");
  ASSERT_TRUE(program.ok()) << program.error().message;
  EXPECT_EQ(program->path, program_);
  EXPECT_EQ(program->schema_hash, 0xFFU);
}

TEST_F(ProgramCheck, NamesTheNearestTypeOrAll) {
  install_counter();
  EXPECT_THAT(error("countre"), HasSubstr("no actor type \"countre\"; did you mean \"counter\"?"));
  EXPECT_THAT(error("zebra"), HasSubstr("no actor type \"zebra\"; there are counter, echo"));
}

TEST_F(ProgramCheck, NamesTheNearestArgumentOrAll) {
  install_counter();
  EXPECT_THAT(error("counter", "args = {strat = 1}\n"),
              HasSubstr("no argument \"strat\"; did you mean \"start\"?"));
  EXPECT_THAT(error("counter", "args = {colour = 1}\n"),
              HasSubstr("no argument \"colour\"; it has start, step"));
}

TEST_F(ProgramCheck, HasTheProgramItselfReadTheValues) {
  std::ofstream(program_)
      << "#!/bin/sh\n[ \"$*\" = --check-args ] && exec sed 's/.*1s.*/no number/; "
         "t; s/.*//'\ncat <<'END'\n"
         R"({"format":1,"protocol":)"
      << kProtocolVersion
      << R"(,"schema_hash":"ff","actors":[{"type":"counter","args":)"
         R"([{"key":"start"}]}],"checks_args":true})"
      << "\nEND\n";
  fs::permissions(program_, fs::perms::owner_all);
  EXPECT_TRUE(check("counter", "count = 2\nargs = {start = 1}\n").ok());
  EXPECT_EQ(error("counter", "name = \"c\"\nargs = {start = \"1s\"}\n"), "c: no number");
}

TEST_F(ProgramCheck, RefusesAProgramOfAnotherProtocol) {
  install_counter(kProtocolVersion + 1);
  EXPECT_THAT(error("counter"), HasSubstr("speaks another protocol than this sterna"));
}

TEST_F(ProgramCheck, RefusesAProgramThatDoesNotDescribeItself) {
  std::ofstream(program_) << "#!/bin/sh\nexit 3\n";
  fs::permissions(program_, fs::perms::owner_all);
  EXPECT_THAT(error("counter"), HasSubstr("does not answer to --describe --json"));
  EXPECT_THAT(error("counter"), HasSubstr("exited with code 3"));
  for (const char* description : {"", "hello", "[]", "{}", R"({"schema_hash":"x"})",
                                  R"({"schema_hash":1,"protocol":3,"actors":[]})",
                                  R"({"schema_hash":"ff","protocol":3,"actors":[{"type":1}]})"}) {
    install(description);
    EXPECT_THAT(error("counter"), HasSubstr("does not answer to --describe --json")) << description;
    EXPECT_THAT(error("counter"), EndsWith("is its main sterna::main?"));
    EXPECT_THAT(error("counter"), Not(HasSubstr("exception")));
  }
}

TEST_F(ProgramCheck, RefusesAProgramThatIsNotThere) {
  EXPECT_THAT(error("counter"), StartsWith("program.path " + program_));
}

}  // namespace
}  // namespace sterna::launcher
