#include "launcher/commands/help/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "tests/temporary_folder.h"

namespace sterna::launcher {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// What bash offers where these words were typed, the last of them in part.
std::vector<std::string> offered(const std::vector<std::string>& words) {
  const TemporaryFolder folder;
  const std::string script = folder.path() + "/completion";
  std::ofstream(script) << completion(all_commands(), "bash");
  std::string command =
      "cd " + folder.path() + " && bash -c 'source ./completion; COMP_WORDS=(sterna";
  for (const std::string& word : words) command += word.empty() ? " \"\"" : " " + word;
  command += "); COMP_CWORD=" + std::to_string(words.size()) +
             "; _sterna; printf \"%s\\n\" \"${COMPREPLY[@]}\"'";
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  std::string text;
  std::array<char, 4096> bytes{};
  for (std::size_t n = 0; (n = std::fread(bytes.data(), 1, bytes.size(), pipe)) > 0;) {
    text.append(bytes.data(), n);
  }
  EXPECT_EQ(::pclose(pipe), 0) << command;
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

TEST(Completion, OffersCommandsAndTheirParts) {
  EXPECT_THAT(offered({"pl"}), ElementsAre("plot"));
  EXPECT_THAT(offered({"data", "ma"}), ElementsAre("make"));
  EXPECT_THAT(offered({"help", "completion", "f"}), ElementsAre("fish"));
}

TEST(Completion, OffersACommandsOptionsAndTheirChoices) {
  EXPECT_THAT(offered({"run", "--run"}), ElementsAre("--run-dir"));
  EXPECT_THAT(offered({"run", "a.toml", "--js"}), ElementsAre("--json"));
  EXPECT_THAT(offered({"plot", "r", "--x", ""}),
              ElementsAre("steps", "seconds", "bytes", "coded_bytes", "examples"));
  EXPECT_THAT(offered({"status", "--run"}), IsEmpty());
}

TEST(Completion, OffersKeysForASetting) {
  EXPECT_THAT(offered({"run", "a.toml", "--set", "gradient.cod"}), ElementsAre("gradient.codec="));
}

TEST(Completion, OffersFilesWhereOneIsNamed) {
  EXPECT_THAT(offered({"run", "compl"}), ElementsAre("completion"));
  EXPECT_THAT(offered({"run", "--run-dir", "compl"}), ElementsAre("completion"));
}

TEST(Completion, HasAScriptForEachShell) {
  for (const std::string& shell : kShells) {
    EXPECT_THAT(completion(all_commands(), shell),
                AllOf(HasSubstr("plot"), HasSubstr("gradient.codec")))
        << shell;
  }
  EXPECT_THAT(
      completion(all_commands(), "fish"),
      HasSubstr("-n '__fish_seen_subcommand_from plot' -l x -x -a 'steps seconds bytes coded_bytes "
                "examples'"));
}

TEST(ManPage, HasEveryCommandAndNoStrayRequest) {
  const std::string page = man_page(all_commands());
  for (const Command& command : all_commands()) {
    EXPECT_THAT(page, HasSubstr(".SS sterna " + command.name));
  }
  EXPECT_THAT(page, HasSubstr(".B \\-\\-run\\-dir DIR\n"));
  std::istringstream in(page);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with('.')) continue;
    const std::string request = line.substr(0, line.find(' '));
    EXPECT_THAT(
        (std::vector<std::string>{".TH", ".SH", ".SS", ".TP", ".B", ".I", ".PP", ".nf", ".fi"}),
        Contains(request))
        << line;
  }
}

}  // namespace
}  // namespace sterna::launcher
