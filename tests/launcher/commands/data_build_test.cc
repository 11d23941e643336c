#include <filesystem>

#include "input/pictures/encode.h"
#include "tests/launcher/commands/command_fixture.h"

namespace sterna::launcher {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

/// Two classes of three pictures each, in `photos`.
class DataBuildCommand : public CommandTest {
 protected:
  DataBuildCommand() {
    for (const char* name : {"a", "b"}) {
      fs::create_directories(photos + "/" + name);
      for (const char* file : {"1.png", "2.png", "3.png"}) {
        const input::Picture picture{{2, 2, 1}, {1, 2, 3, 4}};
        const std::vector<std::uint8_t> bytes = input::encode_png(picture).value();
        write("photos/" + std::string(name) + "/" + file, {bytes.begin(), bytes.end()});
      }
    }
  }
  Said build(std::vector<const char*> more) const {
    std::vector<const char*> words = {
        "data",           "build", photos.c_str(),        "--into", out.c_str(),
        "--train-shards", "1",     "--validation-shards", "1"};
    words.insert(words.end(), more.begin(), more.end());
    return sterna(words);
  }

  std::string photos = folder.path() + "/photos";
  std::string out = folder.path() + "/out";
};

TEST_F(DataBuildCommand, SaysWhatItBuiltAndGoesOnWithIt) {
  const Said said = build({"--validation", "34%"});
  EXPECT_EQ(said.exit, 0) << said.err;
  const auto built = [this](int recoded) {
    return out + ": 4 pictures of 2 classes to train on and 2 to validate; " +
           std::to_string(recoded) +
           " of those written now became JPEGs of quality 100, with some loss: they were PNGs or "
           "CMYK (--raw keeps what is decoded)\n";
  };
  EXPECT_EQ(said.out, built(6));
  fs::remove(out + "/labels.txt");
  fs::remove(out + "/train-00000-of-00001");
  const Said again = build({"--validation", "34%", "--threads", "2"});
  EXPECT_EQ(again.exit, 0) << again.err;
  EXPECT_EQ(again.out, built(4));
  EXPECT_THAT(again.err, HasSubstr("1 files were there already and are kept"));
  EXPECT_TRUE(fs::exists(out + "/labels.txt"));
  const Said shown = sterna({"data", "show", out.c_str()});
  EXPECT_EQ(shown.exit, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("CLASS  NAME  TRAIN  TEST\n    0  a         2     1\n"));
  EXPECT_THAT(sterna({"data", "show", out.c_str(), "--json"}).out,
              HasSubstr(R"("names":["a","b"],"first_named":0)"));
}

TEST_F(DataBuildCommand, RefusesABadFolderShareOrPlace) {
  const Said share = build({"--validation", "ten"});
  EXPECT_EQ(share.exit, 2);
  EXPECT_THAT(share.err, HasSubstr("--validation wants a share such as 10%, not \"ten\""));
  const Said nothing = build({"--validation", "0%"});
  EXPECT_EQ(nothing.exit, 2);
  EXPECT_THAT(nothing.err, StartsWith("--validation 0% leaves nothing to validate"));
  EXPECT_EQ(build({"--validation", "34%"}).exit, 0);
  const Said other = build({"--validation", "34%", "--seed", "2"});
  EXPECT_EQ(other.exit, 2);
  EXPECT_THAT(other.err, HasSubstr("holds another build: \"seed 1\""));
  photos += "/a";
  const Said empty = build({});
  EXPECT_EQ(empty.exit, 2);
  EXPECT_THAT(empty.err, StartsWith(photos + " has no class folders"));
}

TEST_F(DataBuildCommand, NamesThePicturesThatItLeavesOut) {
  write("photos/a/4.jpg", "no picture");
  write("photos/a/5.gif", "of another format");
  write("photos/6.png", "beside the classes");
  const Said said = build({"--validation", "34%"});
  EXPECT_EQ(said.exit, 0);
  EXPECT_THAT(said.err, HasSubstr("left out: " + photos + "/a/4.jpg: neither a JPEG nor a PNG\n"));
  EXPECT_THAT(said.err, HasSubstr("left out: 1 file of other formats (.gif), 1 loose file\n"));
  EXPECT_THAT(build({"--validation", "34%"}).err,
              HasSubstr("left out: 1 pictures in all that cannot be decoded\n"));
}

TEST_F(DataBuildCommand, ConvertSaysHowRunsTakeSmallPicturesForWhatTheyWere) {
  const std::string digits = folder.path() + "/digits";
  ASSERT_EQ(
      sterna({"data", "make", "digits", "--out", digits.c_str(), "--train", "20", "--test", "10"})
          .exit,
      0);
  const Said said =
      sterna({"data", "convert", digits.c_str(), "--into", out.c_str(), "--to", "tfrecord"});
  EXPECT_EQ(said.exit, 0) << said.err;
  EXPECT_THAT(said.out,
              testing::EndsWith("10 to validate\nto train on them as on digits itself set "
                                "data.preprocess = \"mnist\" and data.channels = 1: "
                                "else they are enlarged\n"));
}

TEST_F(DataBuildCommand, IsUndoneByConvert) {
  ASSERT_EQ(build({"--validation", "34%"}).exit, 0);
  const std::string back = folder.path() + "/back";
  const Said said =
      sterna({"data", "convert", out.c_str(), "--into", back.c_str(), "--to", "folder"});
  EXPECT_EQ(said.exit, 0) << said.err;
  EXPECT_EQ(said.out, back + ": 4 examples to train on and 2 to validate\n");
  EXPECT_NE(fs::exists(back + "/train/b/3.png.jpg"), fs::exists(back + "/validation/b/3.png.jpg"));
  const Said again =
      sterna({"data", "convert", out.c_str(), "--into", back.c_str(), "--to", "folder"});
  EXPECT_EQ(again.exit, 2);
  EXPECT_EQ(again.err, back + " is there and not empty; name another folder\n");
  const Said form = sterna({"data", "convert", "x", "--into", "y", "--to", "z"});
  EXPECT_EQ(form.exit, 2);
  EXPECT_THAT(form.err, HasSubstr("--to"));
}

}  // namespace
}  // namespace sterna::launcher
