// Checkpoints as no run leaves them: whatever their manifests and parts hold, opening and reading
// one ends in a line that names the file, or in a net's values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "actors/checkpoint/saved.h"
#include "actors/checkpoint/state_part.h"
#include "actors/weights/model.h"
#include "tests/actors/weights/written_model.h"
#include "tests/as_nobody.h"
#include "tests/temporary_folder.h"

namespace sterna::actors {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using Json = nlohmann::json;

Bytes bytes_of(const std::vector<float>& values) {
  const auto buffer = make_buffer(values.size() * sizeof(float));
  std::ranges::copy(values, buffer->as<float>().begin());
  return share(buffer);
}

/// The small model's matrix in two parts, its biases in the second.
class HostileCheckpoint : public testing::Test {
 protected:
  HostileCheckpoint() {
    pieces(0, {{"parameters/logits/weights", 0, bytes_of({0, 0, 0, 0, 1, 1})}});
    pieces(1, {{"parameters/logits/weights", 6, bytes_of({1, 1, 2, 2, 2, 2})},
               {"parameters/logits/biases", 0, bytes_of({0, 0, -1})}});
    whole_ = manifest();
  }

  std::string folder() const { return run_ / "checkpoints/step-000000004"; }
  std::string part(int server) const {
    return folder() + "/server" + std::to_string(server) + ".safetensors";
  }
  /// Writes a server's part, and a manifest that has it as it is.
  void pieces(int server, std::vector<StatePiece> pieces) {
    const PartWritten written =
        write_part({.version = 4, .pieces = std::move(pieces)}, run_ / "checkpoints", "",
                   "server" + std::to_string(server));
    ASSERT_EQ(written.error, "");
    vouch();
  }
  /// Writes the manifest anew for the parts as they are.
  void vouch() {
    Manifest manifest{.net = "mlp",
                      .step = 4,
                      .position = 64,
                      .ranks = 2,
                      .resolved = "format = 1\n",
                      .note = to_metadata(small_note()),
                      .parts = {},
                      .precision = {}};
    for (int server = 0; server < 2; ++server) {
      if (!fs::exists(part(server))) continue;
      const std::string name = "server" + std::to_string(server);
      manifest.parts.push_back({name, name + ".safetensors", fs::file_size(part(server)),
                                hash_of_file(part(server)).value()});
    }
    ASSERT_TRUE(write_manifest(folder(), manifest).ok());
  }
  std::string manifest() const { return content(folder() + "/manifest.json"); }
  static std::string content(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void write(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }

  /// Of opening it and reading all that it keeps; "": all went well.
  std::string refusal() const {
    const auto weights = TrainedWeights::open(folder());
    const Result<void> read = weights ? model(*weights) : Result<void>(weights.error());
    if (read) return "";
    const std::string& message = read.error().message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_THAT(message, HasSubstr(folder()));
    // The run's other checkpoints are looked for, and there are none.
    return message;
  }
  static Result<void> model(const TrainedWeights& weights) {
    STERNA_TRY(Model::load(weights));
    return {};
  }
  /// With a manifest in which `change` has changed something.
  template <class Change>
  std::string changed(Change change) const {
    Json json = Json::parse(whole_);
    change(json);
    write(folder() + "/manifest.json", json.dump(2));
    return refusal();
  }

  TemporaryFolder run_;
  std::string whole_;  ///< the manifest
};

TEST_F(HostileCheckpoint, AsItWasWrittenItIsRead) {
  EXPECT_EQ(refusal(), "");
  EXPECT_EQ(changed([](Json& json) { json["ranks"] = 7; }), "");
}

TEST_F(HostileCheckpoint, AManifestCutAnywhereIsRefused) {
  for (std::size_t length = 0; length + 1 < whole_.size(); ++length) {
    write(folder() + "/manifest.json", whole_.substr(0, length));
    EXPECT_THAT(refusal(), HasSubstr("manifest.json: not a checkpoint's manifest: ")) << length;
  }
}

TEST_F(HostileCheckpoint, AManifestWithAnyByteFlippedIsRefusedOrOfTheSameNet) {
  for (std::size_t at = 0; at < whole_.size(); ++at) {
    std::string flipped = whole_;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x15);
    write(folder() + "/manifest.json", flipped);
    refusal();  // its expectations
  }
}

TEST_F(HostileCheckpoint, PartsLieWithinTheFolder) {
  for (const std::string name :
       {"../server0.safetensors", "/etc/passwd", "a/b", "", ".", "..", ".hidden", "a\nb"}) {
    EXPECT_THAT(changed([&](Json& json) { json["parts"][0]["file"] = name; }),
                HasSubstr("a part's file is no plain name"))
        << name;
  }
  EXPECT_THAT(changed([](Json& json) { json["parts"][0]["file"] = std::string(300, 'x'); }),
              HasSubstr("a part's file is no plain name"));
}

TEST_F(HostileCheckpoint, PartsAreFiles) {
  fs::rename(part(0), run_ / "elsewhere");
  fs::create_symlink(run_ / "elsewhere", part(0));
  EXPECT_THAT(refusal(), HasSubstr("server0.safetensors: this part of the checkpoint is a link"));
  fs::remove(part(0));
  ASSERT_EQ(::mkfifo(part(0).c_str(), 0600), 0);
  EXPECT_THAT(refusal(), HasSubstr("is a link or no file"));
}

TEST_F(HostileCheckpoint, AFolderForOthersEyesAloneIsNotSaidToBeEmpty) {
  const std::string run = run_.path();
  for (const std::string& secret : {run, run + "/checkpoints"}) {
    fs::permissions(secret, fs::perms::none);
    {
      const AsNobody nobody;
      const auto weights = TrainedWeights::open(run);
      ASSERT_FALSE(weights.ok());
      EXPECT_EQ(weights.error().code, Errc::permission);
      EXPECT_THAT(weights.error().message, testing::EndsWith(": Permission denied"));
    }
    fs::permissions(secret, fs::perms::owner_all);
  }
}

TEST_F(HostileCheckpoint, PartsAreThoseOfTheManifest) {
  EXPECT_THAT(changed([](Json& json) { json["parts"][1] = json["parts"][0]; }),
              HasSubstr("a part comes twice"));
  EXPECT_THAT(changed([](Json& json) { json["parts"].clear(); }), HasSubstr("it has no parts"));
  EXPECT_THAT(changed([](Json& json) { json["parts"][0]["bytes"] = 1; }),
              HasSubstr("bytes, and the checkpoint's manifest says 1; take another checkpoint"));
  EXPECT_THAT(changed([](Json& json) { json["parts"][0]["bytes"] = UINT64_MAX; }),
              HasSubstr("manifest says 18446744073709551615"));
  EXPECT_THAT(changed([](Json& json) { json["parts"][0]["blake2b"] = std::string(32, '0'); }),
              HasSubstr("server0.safetensors: its bytes are not those that were written; take"));
  EXPECT_THAT(changed([](Json& json) { json["parts"][0]["blake2b"] = "0"; }),
              HasSubstr("no hash of 16 bytes"));
  // A shard that the manifest does not have, and one that the folder does not have.
  EXPECT_THAT(changed([](Json& json) { json["parts"].erase(1); }),
              HasSubstr("mlp has \"logits/weights\" {3, 4}, and the checkpoint has 6 numbers"));
  fs::remove(part(1));
  EXPECT_THAT(changed([](Json&) {}),
              HasSubstr("server1.safetensors: this part of the checkpoint is missing"));
}

TEST_F(HostileCheckpoint, CountsThatNoJobHasAreRefused) {
  const auto with = [&](const char* key, const Json& value) {
    return changed([&](Json& json) { json[key] = value; });
  };
  EXPECT_THAT(with("step", 10'000'000'000), HasSubstr("step is no natural number, or too large"));
  EXPECT_THAT(with("step", -1), HasSubstr("step is no natural number"));
  EXPECT_THAT(with("position", UINT64_MAX), HasSubstr("position is no natural number, or too"));
  EXPECT_THAT(with("ranks", 0), HasSubstr("ranks is 0"));
  EXPECT_THAT(with("ranks", 1'000'000), HasSubstr("ranks is no natural number, or too large"));
  EXPECT_THAT(with("ranks", 1.5), HasSubstr("ranks is no natural number"));
  EXPECT_THAT(with("format", 2), HasSubstr("another format than 1"));
  EXPECT_THAT(with("parts", "all"), HasSubstr("parts is no list"));
  EXPECT_THAT(with("parts", Json::array({Json::array({Json::array()})})),
              HasSubstr("a part is no object"));
  EXPECT_THAT(with("note", {{"labels", 5}}), HasSubstr("note holds more than texts"));
  EXPECT_THAT(with("note", Json::object()), HasSubstr("does not say which net"));
  write(folder() + "/manifest.json", std::string(1'000'000, '['));
  EXPECT_THAT(refusal(), HasSubstr("no JSON object"));
}

TEST_F(HostileCheckpoint, AVastManifestIsNotReadToItsEnd) {
  fs::resize_file(folder() + "/manifest.json", std::uintmax_t{1} << 40);
  EXPECT_THAT(refusal(), HasSubstr("manifest.json"));
}

TEST_F(HostileCheckpoint, EveryFlippedByteOfAPartIsFound) {
  const std::string bytes = content(part(1));
  for (std::size_t at = 0; at < bytes.size(); at += 7) {
    std::string flipped = bytes;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
    write(part(1), flipped);
    EXPECT_THAT(refusal(), HasSubstr("server1.safetensors: its bytes are not those that were"));
  }
}

TEST_F(HostileCheckpoint, NorDoesOneHarmThatTheManifestVouchesFor) {
  const std::string bytes = content(part(1));
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string flipped = bytes;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x15);
    write(part(1), flipped);
    vouch();
    refusal();  // its expectations
  }
}

TEST_F(HostileCheckpoint, WhatIsNoNumberIsRefused) {
  for (const float one : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    pieces(0, {{"parameters/logits/weights", 0, bytes_of({0, 0, 0, one, 1, 1})}});
    EXPECT_THAT(refusal(), HasSubstr("server0.safetensors: parameters/logits/weights holds what is "
                                     "no number"));
  }
}

TEST_F(HostileCheckpoint, PartsOfAnotherNetAreRefused) {
  pieces(0, {{"parameters/conv1/weights", 0, bytes_of({1})}});
  pieces(1, {{"parameters/logits/biases", 0, bytes_of({0, 0, -1})}});
  EXPECT_THAT(refusal(),
              HasSubstr("mlp has \"logits/weights\" {3, 4}, and the checkpoint has none"));
  pieces(0, {{"parameters/logits/weights", 0, bytes_of(std::vector<float>(24))}});
  EXPECT_THAT(refusal(), HasSubstr("and the checkpoint has 24 numbers of it"));
}

TEST_F(HostileCheckpoint, PiecesNeitherOverlapNorLeaveHoles) {
  pieces(0, {{"parameters/logits/weights", 0, bytes_of(std::vector<float>(7))}});
  EXPECT_THAT(refusal(), HasSubstr("pieces of parameters/logits/weights overlap"));
  pieces(0, {{"parameters/logits/weights", 6, bytes_of(std::vector<float>(6))}});
  EXPECT_THAT(refusal(), HasSubstr("parameters/logits/weights comes twice in the checkpoint"));
  pieces(0, {{"parameters/logits/weights", 40, bytes_of(std::vector<float>(6))}});
  EXPECT_THAT(refusal(), HasSubstr("the checkpoint has no element 0 of parameters/logits/weights"));
  pieces(0, {{"parameters/logits/weights", UINT64_MAX - 1, bytes_of(std::vector<float>(6))}});
  EXPECT_THAT(refusal(), HasSubstr("pieces of parameters/logits/weights overlap"));
  pieces(0, {{"no kind", 0, bytes_of({1})}});
  EXPECT_THAT(refusal(), HasSubstr("holds a tensor that is no part of a state"));
}

}  // namespace
}  // namespace sterna::actors
