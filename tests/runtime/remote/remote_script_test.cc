// What a remote shell is asked, asked here of this host's own.
#include "runtime/remote/remote_script.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "tests/temporary_folder.h"

namespace sterna {
namespace {

/// What /bin/sh answers when it runs the script and is told these lines.
std::string run(const std::string& script, const std::string& told) {
  const std::string command = "printf '" + told + "' | sh -c '" + script + "' 2>&1";
  std::FILE* pipe = ::popen(command.c_str(), "r");
  std::string said;
  std::array<char, 4096> buffer{};
  for (std::size_t size = 0; (size = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    said.append(buffer.data(), size);
  }
  ::pclose(pipe);
  return said;
}

TEST(RemoteScript, SaysWhatIsThere) {
  const TemporaryFolder folder;
  const std::string said = run(remote_script(folder.path(), "HASH", "prog"), "");
  const auto facts = parse_facts(said.substr(0, said.find('\n')));
  ASSERT_TRUE(facts.has_value()) << said;
  EXPECT_FALSE(facts->has_bundle);
  EXPECT_EQ(facts->part_bytes, 0U);
  EXPECT_GT(facts->free_bytes, 0U);
  EXPECT_FALSE(facts->arch.empty());
  EXPECT_FALSE(facts->home.empty());
}

TEST(RemoteScript, FindsABundleAndBecomesItsProgram) {
  const TemporaryFolder folder;
  const auto bin = folder / "bundles/HASH/bin";
  std::filesystem::create_directories(bin);
  std::ofstream(bin / "prog") << "#!/bin/sh\necho \"I am $*\"\n";
  std::filesystem::permissions(bin / "prog", std::filesystem::perms::owner_all);
  const std::string said = run(remote_script(folder.path(), "HASH", "prog"), "run one two\\n");
  EXPECT_TRUE(parse_facts(said)->has_bundle);
  EXPECT_NE(said.find("\nI am one two\n"), std::string::npos) << said;
}

TEST(RemoteScript, ANewBundleMakesWhatWasInterruptedLongAgoGo) {
  const TemporaryFolder folder;
  const std::string bundles = folder / "bundles";
  // A bundle whose program says that it is whole, as it is shipped.
  const std::string packed = folder / "packed";
  std::filesystem::create_directories(packed + "/bin");
  std::ofstream(packed + "/bin/prog") << "#!/bin/sh\necho HASH\n";
  std::filesystem::permissions(packed + "/bin/prog", std::filesystem::perms::owner_all);
  std::filesystem::create_directories(bundles);
  ASSERT_EQ(std::system(("tar -C " + packed + " -czf " + bundles + "/HASH.part bin").c_str()), 0);
  const std::vector<std::string> old = {"OLD.part", "OLD.part.host.17", "OLD.new17", "OLD.lock"};
  for (const std::string& name : old) {
    const std::string left = bundles + "/" + name;
    std::filesystem::create_directories(left);
    std::ofstream(left + "/owner") << "1 elsewhere";
    const auto now = std::filesystem::file_time_type::clock::now();
    std::filesystem::last_write_time(left, now - std::chrono::hours(24 * 8));
  }
  std::ofstream(bundles + "/YOUNG.part") << "half";
  const std::string said = run(remote_script(folder.path(), "HASH", "prog"), "unpack\\n");
  EXPECT_NE(said.find("STERNA unpacked"), std::string::npos) << said;
  for (const std::string& name : old) {
    EXPECT_FALSE(std::filesystem::exists(bundles + "/" + name)) << name;
  }
  EXPECT_TRUE(std::filesystem::exists(bundles + "/YOUNG.part"));
  EXPECT_TRUE(std::filesystem::exists(bundles + "/HASH/bin/prog"));
}

TEST(RemoteScript, IsOneLineThatAnyLoginShellHandsOn) {
  const std::string script = remote_script("~/.cache/sterna", "HASH", "prog");
  EXPECT_EQ(script.find('\n'), std::string::npos);
  EXPECT_EQ(script.find('\''), std::string::npos);
  EXPECT_EQ(as_ssh_command("true"), "exec /bin/sh -c 'true'");
}

TEST(ParseFacts, ReadsWhatTheScriptSays) {
  const auto facts = parse_facts(
      "STERNA host have=yes part=12 free=3 arch=x86_64 libc=glibc_2.36 home=/somewhere with space");
  ASSERT_TRUE(facts.has_value());
  EXPECT_TRUE(facts->has_bundle);
  EXPECT_EQ(facts->part_bytes, 12U);
  EXPECT_EQ(facts->free_bytes, 3U * 1024U);
  EXPECT_EQ(facts->arch, "x86_64");
  EXPECT_EQ(facts->libc, "glibc 2.36");
  EXPECT_EQ(facts->home, "/somewhere with space");
}

TEST(ParseFacts, WhatIsMissingOrNoNumberIsNothing) {
  const auto facts = parse_facts("STERNA host part=many");
  ASSERT_TRUE(facts.has_value());
  EXPECT_FALSE(facts->has_bundle);
  EXPECT_EQ(facts->part_bytes, 0U);
  EXPECT_EQ(facts->home, "");
  EXPECT_FALSE(parse_facts("Welcome to b").has_value());
  EXPECT_FALSE(parse_facts("STERNA unpacked").has_value());
}

TEST(PlainForShell, IsNothingThatAShellWouldRead) {
  EXPECT_TRUE(plain_for_shell("~/.cache/sterna-1_2+3,@x"));
  for (const char* text :
       {"a b", "$HOME", "`id`", "a;b", "a'b", "a\"b", "a\nb", "a*", "a&b", "\xc3\xa9"}) {
    EXPECT_FALSE(plain_for_shell(text)) << text;
  }
}

}  // namespace
}  // namespace sterna
