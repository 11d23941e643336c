// sterna predict and export.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "actors/checkpoint/manifest.h"
#include "actors/checkpoint/state_part.h"
#include "input/pictures/encode.h"
#include "tests/actors/weights/written_model.h"
#include "tests/launcher/commands/command_fixture.h"

namespace sterna::launcher {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;
using Json = nlohmann::json;

class PredictCommand : public CommandTest {
 protected:
  PredictCommand() {
    actors::write_small_model(weights);
    picture("bright.png", 255);
    picture("dark.png", 0);
  }
  void picture(const std::string& name, std::uint8_t value) {
    const std::vector<std::uint8_t> bytes =
        input::encode_png({{2, 2, 1}, std::vector<std::uint8_t>(4, value)}).value();
    write(name, {bytes.begin(), bytes.end()});
  }
  Said predict(const std::vector<std::string>& more) const {
    std::vector<const char*> words{"predict", "--weights", weights.c_str()};
    for (const std::string& word : more) words.push_back(word.c_str());
    return sterna(words);
  }
  std::string path(const std::string& name) const { return folder.path() + "/" + name; }

  std::string weights = folder.path() + "/weights.safetensors";
};

TEST_F(PredictCommand, TellsTheLikeliestNamesOfEachPicture) {
  const Said said = predict({path("bright.png"), path("dark.png")});
  EXPECT_EQ(said.exit, 0) << said.err;
  // Logits of 0, 4 and 7; then of 0, -4 and -9.
  EXPECT_EQ(said.out,
            path("bright.png") + "\n   95.17 %  bright\n    4.74 %  dark\n    0.09 %  0\n" +
                path("dark.png") + "\n   98.19 %  0\n    1.80 %  dark\n    0.01 %  bright\n");
}

TEST_F(PredictCommand, TellsProgramsTheSame) {
  const Json json = Json::parse(predict({path("bright.png"), "--json"}).out);
  EXPECT_EQ(json["net"], "mlp");
  EXPECT_EQ(json["steps"], 5);
  const Json& first = json["pictures"][0]["top"][0];
  EXPECT_EQ(first["label"], 2);
  EXPECT_EQ(first["name"], "bright");
  EXPECT_NEAR(first["probability"], 0.9517, 1e-4);
  EXPECT_NEAR(first["logit"], 7, 1e-5);
}

TEST_F(PredictCommand, SaysOnceThatThePictureIsLargerThanWhatTheNetSees) {
  for (const char* name : {"large.png", "larger.png"}) {
    const std::vector<std::uint8_t> bytes =
        input::encode_png({{20, 30, 1}, std::vector<std::uint8_t>(600, 255)}).value();
    write(name, {bytes.begin(), bytes.end()});
  }
  const Said said = predict({path("bright.png"), path("large.png"), path("larger.png")});
  EXPECT_EQ(said.exit, 0);
  EXPECT_EQ(said.err,
            path("large.png") +
                ": picture is 20 x 30, the net sees its middle 2 x 2; make it as large if "
                "it shows one thing\n");
  EXPECT_EQ(predict({path("bright.png")}).err, "");
}

TEST_F(PredictCommand, AnswersTheOthersWhereOnePictureCannotBeRead) {
  write("none.jpg", "no picture");
  const Said said = predict({path("none.jpg"), path("missing.png"), path("bright.png"), "--json"});
  EXPECT_EQ(said.exit, 2);
  EXPECT_THAT(said.err, HasSubstr(path("none.jpg") + ": neither a JPEG nor a PNG\n"));
  EXPECT_THAT(said.err, HasSubstr(path("missing.png") + ": there is no such file\n"));
  const Json pictures = Json::parse(said.out)["pictures"];
  ASSERT_EQ(pictures.size(), 3U);
  EXPECT_THAT(pictures[0]["error"], HasSubstr("neither a JPEG nor a PNG"));
  EXPECT_EQ(pictures[2]["top"].size(), 3U);
}

TEST_F(PredictCommand, AnswersAllPicturesOfAFolder) {
  std::filesystem::create_directories(path("all/night/.hidden"));
  const auto move = [&](const char* from, const char* to) {
    std::filesystem::rename(path(from), path(to));
  };
  write("all/.hidden.png", "no picture");
  write("all/notes.txt", "no picture either");
  move("bright.png", "all/sun.png");
  move("dark.png", "all/night/one.without_an_ending");
  const Said said = predict({path("all")});
  EXPECT_EQ(said.exit, 0) << said.err;
  EXPECT_EQ(said.out, path("all/night/one.without_an_ending") +
                          "\n   98.19 %  0\n    1.80 %  dark\n    0.01 %  bright\n" +
                          path("all/sun.png") +
                          "\n   95.17 %  bright\n    4.74 %  dark\n    0.09 %  0\n");
  EXPECT_EQ(said.err, "files that are neither JPEG nor PNG, and left out: 1\n");
  EXPECT_EQ(Json::parse(predict({path("all"), "--json"}).out)["pictures"].size(), 2U);
  std::filesystem::remove(path("all/sun.png"));
  std::filesystem::remove_all(path("all/night"));
  const Said none = predict({path("all")});
  EXPECT_EQ(none.exit, 2);
  EXPECT_THAT(none.err, EndsWith("there is no picture in " + path("all") + "\n"));
}

// Nobody builds the module beside this test.
TEST_F(PredictCommand, ComputesOnNoOtherDeviceThanThatItIsTold) {
  const Said none = predict({path("bright.png"), "--device", "cuda:1"});
  EXPECT_EQ(none.exit, 1);
  EXPECT_THAT(none.err,
              AllOf(StartsWith("--device cuda:1: "), HasSubstr("libsterna_cuda.so is not there")));
  EXPECT_EQ(none.out, "");
  const Said unknown = predict({path("bright.png"), "--device", "gpu"});
  EXPECT_EQ(unknown.exit, 2);
  EXPECT_THAT(unknown.err, HasSubstr("--device gpu: \"gpu\" is no device; say cpu"));
  EXPECT_EQ(predict({path("bright.png"), "--device", "cpu"}).out,
            predict({path("bright.png")}).out);
}

TEST_F(PredictCommand, RefusesInALineWeightsThatAreNone) {
  weights = write("text.safetensors", "no weights at all");
  const Said said = predict({path("bright.png")});
  EXPECT_EQ(said.exit, 2);
  EXPECT_THAT(said.err, HasSubstr("not a valid safetensors file"));
  EXPECT_EQ(said.out, "");
}

TEST_F(PredictCommand, TakesParametersOrAveragesWhereTheWeightsAreThose) {
  const std::string plain = predict({path("dark.png")}).out;
  EXPECT_EQ(predict({path("dark.png"), "--raw"}).out, plain);
  EXPECT_THAT(predict({path("dark.png"), "--averaged"}).err,
              HasSubstr(weights + ": holds no moving averages"));
  EXPECT_THAT(predict({path("dark.png"), "--averaged", "--raw"}).err,
              HasSubstr("--averaged and --raw do not go together"));
  actors::ModelNote averages = actors::small_note();
  averages.average_decay = 0.9;
  actors::write_small_model(weights, averages);
  EXPECT_EQ(predict({path("dark.png")}).out, plain);
  EXPECT_THAT(predict({path("dark.png"), "--raw"}).err,
              HasSubstr(weights + ": holds moving averages alone"));
}

TEST_F(PredictCommand, WantsAPicture) {
  const Said said = predict({});
  EXPECT_EQ(said.exit, 2);
  EXPECT_THAT(said.err, HasSubstr("PICTURE is required"));
}

using ExportCommand = PredictCommand;

TEST_F(ExportCommand, WritesBesideTheWeightsOrWhereItIsTold) {
  const Said beside = sterna({"export", weights.c_str(), "--to", "onnx"});
  EXPECT_EQ(beside.exit, 0) << beside.err;
  EXPECT_THAT(beside.out, AllOf(StartsWith(path("weights.onnx") + ": "), EndsWith(" B\n")));
  EXPECT_TRUE(std::filesystem::exists(path("weights.onnx")));
  const std::string into = path("other.npz");
  EXPECT_EQ(sterna({"export", weights.c_str(), "--to", "npz", "--into", into.c_str()}).exit, 0);
  EXPECT_TRUE(std::filesystem::exists(into));
}

/// A checkpoint of the small model, of a run that has left no final weights.
void write_small_checkpoint(const std::string& run) {
  const auto bytes_of = [](const std::vector<float>& values) {
    return copy_bytes(std::as_bytes(std::span(values)));
  };
  const actors::StatePart part{
      .version = 4,
      .pieces = {{"parameters/logits/weights", 0, bytes_of({0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2})},
                 {"parameters/logits/biases", 0, bytes_of({0, 0, -1})}}};
  const std::string checkpoints = run + "/checkpoints";
  const actors::PartWritten written = actors::write_part(part, checkpoints, "", "server0");
  ASSERT_EQ(written.error, "");
  actors::Manifest manifest;
  manifest.net = "mlp";
  manifest.step = part.version;
  manifest.note = to_metadata(actors::small_note());
  manifest.parts.push_back({"server0", "server0.safetensors", written.bytes, written.hash});
  ASSERT_TRUE(actors::write_manifest(checkpoints + "/step-000000004", manifest).ok());
}

TEST_F(ExportCommand, OfACheckpointItWritesIntoTheRunsDirectory) {
  const std::string run = path("run");
  ASSERT_NO_FATAL_FAILURE(write_small_checkpoint(run));
  for (const std::string& given :
       {run, run + "/", run + "/checkpoints", run + "/checkpoints/step-000000004"}) {
    const Said said = sterna({"export", given.c_str(), "--to", "npz"});
    EXPECT_EQ(said.exit, 0) << said.err;
    EXPECT_THAT(said.out, StartsWith(run + "/step-000000004.npz: "));
    EXPECT_TRUE(std::filesystem::remove(run + "/step-000000004.npz")) << given;
  }
  const std::filesystem::directory_iterator kept(run + "/checkpoints");
  EXPECT_EQ(std::distance(begin(kept), end(kept)), 1);
}

TEST_F(ExportCommand, RefusesInALineWhatItCannotWrite) {
  const Said form = sterna({"export", weights.c_str(), "--to", "tensorflow"});
  EXPECT_EQ(form.exit, 2);
  EXPECT_THAT(form.err, HasSubstr("tensorflow not in {safetensors,npz,onnx,tensorboard}"));
  const Said itself = sterna({"export", weights.c_str(), "--to", "safetensors"});
  EXPECT_EQ(itself.exit, 2);
  EXPECT_THAT(itself.err, HasSubstr("would write over the weights themselves, " + weights +
                                    "; say where it goes with --into FILE"));
  const std::string kept = write("result.json", "{}");
  const Said over = sterna({"export", weights.c_str(), "--to", "npz", "--into", kept.c_str()});
  EXPECT_EQ(over.exit, 2);
  EXPECT_EQ(over.err,
            "--into " + kept + " is there already and does not end in .npz; name another file\n");
}

}  // namespace
}  // namespace sterna::launcher
