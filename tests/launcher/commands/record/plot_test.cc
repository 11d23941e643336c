// What `sterna plot` says of curves and of what it leaves out.
#include <sys/stat.h>

#include <filesystem>

#include "tests/launcher/commands/command_fixture.h"

namespace sterna::launcher {
namespace {

class PlotCommand : public CommandTest {
 protected:
  std::string run() {
    std::filesystem::create_directories(folder / "run");
    write("run/metrics.jsonl", "{\"format\":1,\"kind\":\"run\",\"run\":\"run\"}\n" +
                                   evaluation(10, "0.5", 2000) + evaluation(20, "0.75", 2000) +
                                   evaluation(30, "0.875", 10000));
    return folder / "run";
  }
  static std::string evaluation(int step, const std::string& precision, int examples) {
    return "{\"kind\":\"evaluation\",\"step\":" + std::to_string(step) +
           ",\"subset\":\"test\",\"of\":\"parameters\",\"precision_at_1\":" + precision +
           ",\"examples\":" + std::to_string(examples) + "}\n";
  }
};

TEST_F(PlotCommand, PutsNoFileInThePlaceOfAPipeOrALink) {
  const std::string path = run();
  const std::string pipe = folder / "pipe.csv";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const char* command : {"plot", "report"}) {
    const std::string out = std::string(command) == "plot" ? pipe : write("pipe.html", "");
    if (out != pipe) {
      std::filesystem::remove(out);
      std::filesystem::rename(pipe, out);
    }
    const Said said = sterna({command, path.c_str(), "-o", out.c_str()});
    EXPECT_EQ(said.exit, 2) << command;
    EXPECT_EQ(said.err,
              "--out " + out + " is there already and is no regular file; name another file\n");
    EXPECT_TRUE(std::filesystem::is_fifo(out)) << command;
  }
  const std::string file = write("numbers.csv", "");
  const std::string link = folder / "link.csv";
  std::filesystem::create_symlink("numbers.csv", link);
  EXPECT_EQ(sterna({"plot", path.c_str(), "-o", link.c_str()}).exit, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_GT(std::filesystem::file_size(file), 0U);
}

TEST_F(PlotCommand, SaysOnHowManyExamplesTheLastPointsWereMeasured) {
  const std::string path = run();
  const std::string out = folder / "curves.csv";
  const Said said = sterna({"plot", path.c_str(), "-o", out.c_str()});
  EXPECT_EQ(said.exit, 0) << said.err;
  EXPECT_EQ(
      said.out,
      "run: 2 points, the last 0.75 at 20 (on 2,000 examples), then 0.875 at 30 (on 10,000)\n" +
          out + "\n");
}

TEST_F(PlotCommand, LeavesOutWhatLiesBesideRunsWithAWord) {
  const std::string path = run();
  const std::string log = write("run.out", "x");
  const std::string out = folder / "curves.csv";
  const Said said = sterna({"plot", path.c_str(), log.c_str(), "-o", out.c_str()});
  EXPECT_EQ(said.exit, 0) << said.err;
  EXPECT_THAT(said.err, testing::HasSubstr("left out: " + log + ": no metrics.jsonl is there\n"));
  EXPECT_EQ(sterna({"plot", log.c_str(), "-o", out.c_str()}).exit, 2);
}

TEST_F(PlotCommand, WritesOverNoNumbersOfARun) {
  const std::string path = run();
  write("run/resolved.toml", "format = 1\n");
  const std::string out = write("run/confusion.csv", "a run's");
  EXPECT_EQ(sterna({"plot", path.c_str(), "-o", out.c_str()}).exit, 2);
}

}  // namespace
}  // namespace sterna::launcher
