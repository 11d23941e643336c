// [[inject.fault]] and [chaos]: what a file may say of faults on purpose.
#include "tests/launcher/cluster_file/cluster_file_fixture.h"

namespace sterna::launcher {
namespace {

std::string fault(const std::string& actor, int step, const std::string& rest) {
  return "[[inject.fault]]\nat_step = " + std::to_string(step) + "\nactor = \"" + actor + "\"\n" +
         rest;
}

class FaultKeysTest : public ClusterFileTest {
 protected:
  /// Without the file and the line.
  std::string message_of(const std::string& more) {
    const std::string message = error_of_more(more);
    const std::size_t colon = message.find(": ");
    return colon == std::string::npos ? message : message.substr(colon + 2);
  }
};

TEST_F(FaultKeysTest, AreAListOfTablesThatTheResolvedFileHas) {
  const auto file =
      read(smallest + fault("worker0", 100, "kind = \"kill\"\n") +
           fault("reader0", 200, "kind = \"stop\"\nfor = \"2s\"\n") +
           fault("worker0", 9, "kind = \"delay\"\nfor = \"2s\"\nby = \"50ms\"\n") +
           fault("worker0", 10, "kind = \"drop\"\nfor = \"1s\"\n") + "[chaos]\nallow = true\n");
  ASSERT_TRUE(file.ok()) << file.error().message;
  const std::vector<FaultSection> expected = {
      {.at_step = 100, .actor = "worker0", .kind = "kill"},
      {.at_step = 200, .actor = "reader0", .kind = "stop", .lasts = std::chrono::seconds(2)},
      {.at_step = 9,
       .actor = "worker0",
       .kind = "delay",
       .lasts = std::chrono::seconds(2),
       .by = std::chrono::milliseconds(50)},
      {.at_step = 10, .actor = "worker0", .kind = "drop", .lasts = std::chrono::seconds(1)}};
  EXPECT_EQ(file->faults, expected);
  EXPECT_TRUE(file->chaos.allow);
  const auto again = read(resolved(*file));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(*again, *file);
  EXPECT_FALSE(read(smallest)->chaos.allow);
}

TEST_F(FaultKeysTest, ThatCannotHappenAreComplainedOfInOneLine) {
  EXPECT_EQ(message_of(fault("workr0", 1, "kind = \"kill\"\n")),
            "there is no actor \"workr0\"; did you mean \"worker0\"?");
  EXPECT_EQ(message_of(fault("somebody", 1, "kind = \"kill\"\n")),
            "there is no actor \"somebody\"; there are server0, worker0, reader0, evaluator0");
  EXPECT_EQ(message_of(fault("worker0", 201, "kind = \"kill\"\n")),
            "\"inject.fault.at_step\" = 201 is beyond the job's 200 steps");
  EXPECT_EQ(message_of(fault("worker0", 200, "kind = \"kill\"\n")), "no error");
  EXPECT_EQ(message_of(fault("worker0", 1, "kind = \"kil\"\n")),
            "\"inject.fault.kind\" must be \"kill\", \"stop\", \"cut\", \"delay\", \"drop\" or "
            "\"device_fault\", not \"kil\"; did you mean \"kill\"?");
  EXPECT_EQ(message_of(fault("worker0", 1, "kind = \"cut\"\nfor = \"1s\"\n")),
            "a \"cut\" does not last; remove \"inject.fault.for\"");
  EXPECT_EQ(message_of(fault("worker0", 1, "kind = \"drop\"\n")),
            "a \"drop\" lasts for some time: say how long, as in inject.fault.for = \"2s\"");
  EXPECT_EQ(message_of(fault("worker0", 1, "kind = \"drop\"\nfor = \"1s\"\nby = \"1s\"\n")),
            "\"inject.fault.by\" is of a \"delay\", not of a \"drop\"; remove it");
  EXPECT_EQ(message_of("[[inject.fault]]\nactor = \"worker0\"\nkind = \"kill\"\n"),
            "the key \"inject.fault.at_step\" is missing");
}

TEST_F(FaultKeysTest, OfADeviceAreOfAnActorThatComputesOnOne) {
  const std::string kind = "kind = \"device_fault\"\n";
  for (const char* name : {"worker0", "evaluator0", "server0", "reader0"}) {
    EXPECT_EQ(message_of(fault(name, 1, kind)),
              "a \"device_fault\" is of a worker or an evaluator with actor.backend = \"cuda\", "
              "and " +
                  std::string(name) + " computes on no GPU");
  }
  EXPECT_EQ(error(smallest + fault("worker0", 1, kind), {"actor.worker.backend=cuda"}), "no error");
  EXPECT_EQ(error(smallest + fault("evaluator0", 1, kind), {"actor.evaluator.backend=cuda"}),
            "no error");
  EXPECT_EQ(message_of(fault("nobody0", 1, kind)),
            "there is no actor \"nobody0\"; there are server0, worker0, reader0, evaluator0");
}

TEST_F(FaultKeysTest, OfAProgramThatTrainsNothingThereAreNoSteps) {
  const std::string program =
      "format = 1\n[[actor]]\ntype = \"counter\"\nname = \"one\"\n[program]\npath = \"x\"\n";
  EXPECT_EQ(error(program + fault("one", 1, "kind = \"kill\"\n")),
            "x.toml:8: [[inject.fault]] counts the steps of training, and no actor has a role of "
            "it; `sterna chaos` injects faults into any run");
}

}  // namespace
}  // namespace sterna::launcher
