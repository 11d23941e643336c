#include <filesystem>
#include <nlohmann/json.hpp>

#include "input/pictures/decode.h"
#include "launcher/data/contact_sheet.h"
#include "runtime/base/file.h"
#include "tests/launcher/commands/command_fixture.h"

namespace sterna::launcher {
namespace {

using testing::HasSubstr;

class DataShow : public CommandTest {
 protected:
  DataShow() {
    EXPECT_EQ(
        sterna({"data", "make", "digits", "--out", digits.c_str(), "--train", "70", "--test", "10"})
            .exit,
        0);
  }
  /// The shape of the sheet that --png PATH has made.
  static input::PictureShape shape_of(const std::string& path) {
    const std::string bytes = read_file(path).value();
    const std::vector<std::uint8_t> png(bytes.begin(), bytes.end());
    return input::shape_of({input::Coding::png, png, {}}, input::kMostPixels).value();
  }

  const std::string digits = folder.path() + "/digits";
  const std::string png = folder.path() + "/sheet.png";
};

TEST_F(DataShow, CountsWhatEachSplitHoldsOfEachClass) {
  const Said said = sterna({"data", "show", digits.c_str(), "--json", "--check"});
  ASSERT_EQ(said.exit, 0) << said.err;
  const auto json = nlohmann::json::parse(said.out);
  EXPECT_EQ(json["name"], "digits");
  EXPECT_EQ(json["stored_as"], "idx");
  EXPECT_EQ(json["preprocess"], "mnist");
  EXPECT_EQ(json["seen_by_the_net"], nlohmann::json({28, 28, 1}));
  for (const auto& [split, examples] : {std::pair("train", 70), std::pair("test", 10)}) {
    const auto& found = json["splits"][split];
    EXPECT_EQ(found["examples"], examples);
    EXPECT_EQ(found["rows"], nlohmann::json({28, 28}));
    EXPECT_EQ(found["damaged"], 0);
    EXPECT_EQ(found["per_class"].size(), 10U);
    int sum = 0;
    for (const int count : found["per_class"]) sum += count;
    EXPECT_EQ(sum, examples);
  }
  const Said text = sterna({"data", "show", digits.c_str(), "--split", "test"});
  EXPECT_THAT(text.out, HasSubstr("digits, stored as idx; mnist makes 28 x 28 x 1 of a picture"));
  EXPECT_THAT(text.out, HasSubstr("TEST"));
  EXPECT_THAT(text.out, testing::Not(HasSubstr("TRAIN")));
}

TEST_F(DataShow, DrawsASheetOfWhatTheNetSees) {
  for (const char* split : {"train", "test"}) {
    const Said said =
        sterna({"data", "show", digits.c_str(), "--split", split, "--png", png.c_str()});
    ASSERT_EQ(said.exit, 0) << said.err;
    EXPECT_EQ(shape_of(png), sheet_shape({28, 28, 1}));
  }
  ASSERT_EQ(sterna({"data", "show", digits.c_str(), "--preprocess", "inception", "--size", "40",
                    "--step", "3", "--png", png.c_str()})
                .exit,
            0);
  EXPECT_EQ(shape_of(png), sheet_shape({40, 40, 1}));
}

TEST_F(DataShow, RefusesWhatItCannotShowInOneLine) {
  EXPECT_THAT(sterna({"data", "show", digits.c_str(), "--data", "cifar10"}).err,
              HasSubstr("holds digits, but --data asks for cifar10"));
  for (const char* bad : {"--split=valid", "--preprocess=cropp", "--size=4097"}) {
    EXPECT_EQ(sterna({"data", "show", digits.c_str(), bad}).exit, 2) << bad;
  }
  const Said said = sterna({"data", "show", digits.c_str(), "--png", "/nowhere/sheet.png"});
  EXPECT_NE(said.exit, 0);
  EXPECT_EQ(said.out, "");
  EXPECT_THAT(said.err, HasSubstr("/nowhere/sheet.png"));
  const std::string kept = write("weights.safetensors", "kept");
  EXPECT_EQ(sterna({"data", "show", digits.c_str(), "--png", kept.c_str()}).exit, 2);
  EXPECT_EQ(read_file(kept).value(), "kept");
}

TEST_F(DataShow, SaysThatAFolderGoesWithoutData) {
  EXPECT_THAT(sterna({"data", "show", "--data", digits.c_str()}).err,
              HasSubstr("a folder goes without it: sterna data show " + digits));
  const Said unknown = sterna({"data", "show", "--data", "minst"});
  EXPECT_EQ(unknown.exit, 2);
  EXPECT_THAT(unknown.err, HasSubstr("there is no data set minst; take one of mnist, "));
}

TEST_F(DataShow, CallsTheFolderByNoOptionOfAnotherCommand) {
  // Here --data takes a data set's name.
  const std::string empty = folder.path() + "/empty";
  std::filesystem::create_directory(empty);
  EXPECT_THAT(sterna({"data", "show", "/nowhere"}).err,
              testing::StartsWith("the folder /nowhere does not exist; "));
  EXPECT_THAT(sterna({"data", "show", empty.c_str()}).err,
              testing::StartsWith("the folder " + empty + " holds no data: "));
}

}  // namespace
}  // namespace sterna::launcher
