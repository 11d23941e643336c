// What `sterna page` says where it has no page to show.
#include <filesystem>

#include "tests/launcher/commands/command_fixture.h"

namespace sterna::launcher {
namespace {

class PageCommand : public CommandTest {
 protected:
  /// What is said of a folder with this in its metrics.jsonl.
  std::string said_of(const std::string& metrics) {
    std::filesystem::create_directories(folder / "run");
    write("run/metrics.jsonl", metrics);
    const std::string run = folder / "run";
    const Said said = sterna({"page", run.c_str()});
    EXPECT_EQ(said.exit, 2);
    EXPECT_EQ(said.out, "");
    return said.err;
  }
};

TEST_F(PageCommand, ADirectoryThatIsNoRunsIsBadInput) {
  const std::string path = folder / "run/metrics.jsonl";
  const std::string run = folder / "run";
  std::filesystem::create_directories(run);
  const Said said = sterna({"page", run.c_str()});
  EXPECT_EQ(said.exit, 2);
  EXPECT_EQ(said.err, path + ": there is no such file; name a run's directory\n");
}

TEST_F(PageCommand, ARunOfAnotherVersionIsBadInput) {
  EXPECT_EQ(
      said_of("{\"format\":2,\"kind\":\"run\"}\n"),
      (folder / "run/metrics.jsonl").string() +
          ": is of format 2, and this program reads 1: read it with the sterna that ran it\n");
}

TEST_F(PageCommand, OfNobodyKnownIsBadInput) {
  const Said said = sterna({"page"});
  EXPECT_EQ(said.exit, 2);
  EXPECT_EQ(said.err, "no run is known here; `sterna up FILE` starts one\n");
}

TEST_F(PageCommand, OnAnotherHostTheLineIsPrintedThatBringsItHere) {
  const Said said = sterna({"page", "--via", "me@gpu1", "--port", "9000", "mnist-1"});
  EXPECT_EQ(said.exit, 0);
  EXPECT_EQ(said.out,
            "ssh -t -L 9000:127.0.0.1:9000 me@gpu1 '$(ls -t "
            "~/.cache/sterna/bundles/*/bin/sterna | head -n 1) page mnist-1 --port 9000'\n");
}

TEST_F(PageCommand, TheHostStandsInThatLineAsOneWord) {
  const Said said = sterna({"page", "--via", "a b;c", "--port", "9000"});
  EXPECT_EQ(said.out.substr(0, said.out.find("'$(")), "ssh -t -L 9000:127.0.0.1:9000 'a b;c' ");
}

}  // namespace
}  // namespace sterna::launcher
