#include "launcher/text/console.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <string>

namespace sterna::launcher {
namespace {

std::string written_to(std::FILE* file) {
  std::rewind(file);
  std::string text(1000, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}

TEST(Console, KeepsResultsApartFromAllElse) {
  const Console console{std::tmpfile(), std::tmpfile()};
  console.say("by the way");
  EXPECT_EQ(console.result("42\n"), kExitDone);
  EXPECT_EQ(written_to(console.out), "42\n");
  EXPECT_EQ(written_to(console.err), "by the way\n");
}

TEST(Console, FailsWhereAResultCannotBeWritten) {
  const Console console{std::fopen("/dev/full", "w"), std::tmpfile()};
  EXPECT_EQ(console.result("42\n"), kExitFailed);
  EXPECT_EQ(written_to(console.err), "cannot write to standard output: No space left on device\n");
  std::fclose(console.out);
}

TEST(Console, IsContentWithAReaderWhoHasSeenEnough) {
  std::signal(SIGPIPE, SIG_IGN);  // as the program does
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ::close(ends[0]);
  const Console console{::fdopen(ends[1], "w"), std::tmpfile()};
  EXPECT_EQ(console.result("42\n"), kExitDone);
  EXPECT_EQ(written_to(console.err), "");
  std::fclose(console.out);
}

TEST(Console, TellsAReaderWhoIsGoneFromAFullDisk) {
  std::signal(SIGPIPE, SIG_IGN);
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const Console piped{::fdopen(ends[1], "w"), std::tmpfile()};
  EXPECT_EQ(piped.print_result("42\n"), Printed::written);
  EXPECT_TRUE(piped.is_read());
  ::close(ends[0]);
  EXPECT_FALSE(piped.is_read()) << "before anything is written to nobody";
  EXPECT_EQ(piped.print_result("42\n"), Printed::unread);
  EXPECT_EQ(piped.printed(EPIPE), Printed::unread);
  EXPECT_EQ(written_to(piped.err), "");
  std::fclose(piped.out);

  const Console full{std::fopen("/dev/full", "w"), std::tmpfile()};
  EXPECT_EQ(full.print_result("42\n"), Printed::failed);
  EXPECT_TRUE(full.is_read());
  EXPECT_EQ(exit_of(full.printed(ENOSPC)), kExitFailed);
  EXPECT_EQ(exit_of(Printed::unread), kExitDone);
  std::fclose(full.out);
  std::fclose(full.err);
}

TEST(Console, AFileIsReadLater) {
  const Console console{std::tmpfile(), std::tmpfile()};
  EXPECT_TRUE(console.is_read());
  EXPECT_EQ(console.printed(0), Printed::written);
  std::fclose(console.out);
  std::fclose(console.err);
}

TEST(Console, GivesATerminalNothingToObey) {
  const Console console{std::tmpfile(), std::tmpfile()};
  console.say("bad\x1b[31m3.png is damaged\nand \x1b]0;so on\a");
  console.report({Errc::malformed, "bad\x1b[31m3.png: is no picture"});
  EXPECT_EQ(console.result("bad\x1b[31m\ta table\n"), kExitDone);
  EXPECT_EQ(written_to(console.err),
            "bad?[31m3.png is damaged\nand ?]0;so on?\nbad?[31m3.png: is no picture\n");
  EXPECT_EQ(written_to(console.out), "bad?[31m\ta table\n");
}

TEST(Console, TellsBadInputFromFailure) {
  const Console console{std::tmpfile(), std::tmpfile()};
  EXPECT_EQ(console.report({Errc::not_found, "x.toml: there is no such file"}), kExitBadInput);
  EXPECT_EQ(console.report({Errc::deadline, "nobody answers"}), kExitFailed);
  EXPECT_EQ(written_to(console.err), "x.toml: there is no such file\nnobody answers\n");
  EXPECT_EQ(written_to(console.out), "");
}

}  // namespace
}  // namespace sterna::launcher
