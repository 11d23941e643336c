#include "input/build/convert.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "input/build/file_names.h"
#include "input/build/record_split.h"
#include "input/digits/digits.h"
#include "input/formats/idx.h"
#include "input/formats/picture_folder.h"
#include "input/pictures/decode.h"
#include "input/records/tfrecord.h"
#include "made_pictures.h"
#include "scratch.h"

namespace sterna::input {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class ConvertTest : public testing::Test {
 protected:
  fs::path at(const std::string& name) const { return fs::path(folder_.path()) / name; }
  ConvertOptions options() const { return {.cache = at("cache")}; }

  void put(const std::string& name, const Bytes& bytes) const {
    fs::create_directories(at(name).parent_path());
    write_file(at(name), bytes);
  }
  void write_record(TfRecordWriter& writer, std::int64_t label, const std::string& name,
                    const std::string& class_text) const {
    const Bytes picture = make_jpeg(made_picture({8, 8, 3}), {});
    PictureRecord record;
    record.bytes.assign(picture.begin(), picture.end());
    record.label = label;
    record.name = name;
    record.class_text = class_text;
    ASSERT_TRUE(writer.append(pack_picture_record(record)).ok());
  }
  /// All files beneath a folder, by their place in it.
  std::vector<std::string> tree(const std::string& name) const {
    std::vector<std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(at(name))) {
      if (entry.is_regular_file()) files.push_back(fs::relative(entry, at(name)).string());
    }
    std::sort(files.begin(), files.end());
    return files;
  }
  RecordSplit open(const std::string& name, Split split) const {
    auto opened = open_record_split(at(name), split, at("cache"));
    EXPECT_TRUE(opened.ok()) << opened.error().message;
    return opened && *opened ? **std::move(opened) : RecordSplit{};
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(ConvertTest, DigitsComeBackFromRecordsAndFromAFolder) {
  ASSERT_TRUE(make_digits(at("digits"), {.train = 30, .test = 5}, {}).ok());
  const Result<Dataset> digits = load_mnist(at("digits"), Split::train);
  ASSERT_TRUE(digits.ok());
  const Result<Converted> records = convert_to_records(at("digits"), at("records"), options());
  ASSERT_TRUE(records.ok()) << records.error().message;
  EXPECT_EQ(records->train, 30U);
  EXPECT_EQ(records->validation, 5U);
  EXPECT_THAT(tree("records"),
              ElementsAre("labels.txt", "train-00000-of-00001", "validation-00000-of-00001"));
  const Result<ClassLabels> classes = read_labels(at("records/labels.txt"));
  ASSERT_TRUE(classes.ok()) << classes.error().message;
  EXPECT_THAT(classes->names, ElementsAre("0", "1", "2", "3", "4", "5", "6", "7", "8", "9"));
  const RecordSplit train = open("records", Split::train);
  ASSERT_EQ(train.count, 30U);
  for (std::size_t i = 0; i < train.count; ++i) {
    const Result<PictureRecord> record = train.read(i);
    ASSERT_TRUE(record.ok()) << record.error().message;
    EXPECT_EQ(record->coding, Coding::png);
    EXPECT_EQ(record->label, digits->labels[i]);
    const Result<Picture> picture = decode(record->picture(), {.channels = 1});
    ASSERT_TRUE(picture.ok());
    EXPECT_THAT(picture->pixels, testing::ElementsAreArray(digits->image(i)));
  }
  const Result<Converted> folder = convert_to_folder(at("records"), at("folder"), options());
  ASSERT_TRUE(folder.ok()) << folder.error().message;
  const Result<PictureFolder> listed = list_picture_folder(at("folder/train"));
  ASSERT_TRUE(listed.ok()) << listed.error().message;
  EXPECT_EQ(listed->pictures.size(), 30U);
  for (const auto& [path, label] : listed->pictures) {
    const std::size_t index = std::stoul(path.stem().string().substr(6));
    EXPECT_EQ(label, digits->labels[index]) << path;
  }
}

TEST_F(ConvertTest, AFolderIsNoDataSetBeforeAllOfItIsThere) {
  ASSERT_TRUE(make_digits(at("digits"), {.train = 4, .test = 2}, {}).ok());
  ConvertOptions how = options();
  std::size_t looked = 0;
  how.progress = [&](std::uint64_t, std::uint64_t) {
    EXPECT_FALSE(split_folder(at("folder"), Split::train));
    ++looked;
  };
  ASSERT_TRUE(convert_to_folder(at("digits"), at("folder"), how).ok());
  EXPECT_EQ(looked, 6U);
  EXPECT_TRUE(split_folder(at("folder"), Split::train));
  EXPECT_TRUE(split_folder(at("folder"), Split::test));
}

TEST_F(ConvertTest, RemovesWhatACallThatWasKilledLeft) {
  ASSERT_TRUE(make_digits(at("digits"), {.train = 4, .test = 2}, {}).ok());
  for (const char* name : {"folder/convert.unfinished/train/1/a.png.1234567890123456789",
                           "folder/convert.unfinished/validation/1/b.png",
                           "records/convert.unfinished/validation-00000-of-00001",
                           "records/convert.unfinished/train-00000-of-00001.1234567890123456789"}) {
    put(name, {1});
  }
  EXPECT_TRUE(convert_to_folder(at("digits"), at("folder"), options()).ok());
  EXPECT_TRUE(convert_to_records(at("digits"), at("records"), options()).ok());
  EXPECT_THAT(tree("records"),
              ElementsAre("labels.txt", "train-00000-of-00001", "validation-00000-of-00001"));
  EXPECT_FALSE(fs::exists(at("folder/convert.unfinished")));
  EXPECT_EQ(open("folder", Split::train).count, 4U);
}

TEST_F(ConvertTest, RemovesNothingFromAFolderThatItRefuses) {
  ASSERT_TRUE(make_digits(at("digits"), {.train = 4, .test = 2}, {}).ok());
  const std::vector<std::string> mine{"BUILD.txt.1234567890123456789", "BUILD.txt.7",
                                      "convert.unfinished/draft", "labels.txt.2", "notes.md"};
  for (const std::string& name : mine) put("mine/" + name, {1});
  for (const auto& convert : {convert_to_records, convert_to_folder}) {
    const Result<Converted> refused = convert(at("digits"), at("mine"), options());
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, Errc::already_exists);
  }
  EXPECT_EQ(tree("mine"), mine);
}

TEST_F(ConvertTest, NamesAllPicturesThatCannotBeReadAndWritesNothing) {
  const Bytes good = make_jpeg(made_picture({8, 8, 3}), {});
  put("pictures/train/a/good.jpg", good);
  put("pictures/val/a/good.jpg", good);
  put("pictures/val/a/torn.jpg", {1, 2, 3});
  for (int i = 10; i < 22; ++i) {
    put(fmt::format("pictures/train/a/torn{}.jpg", i), {1, 2, 3});
  }
  for (const auto& convert : {convert_to_records, convert_to_folder}) {
    const Result<Converted> refused = convert(at("pictures"), at("out"), options());
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, Errc::malformed);
    EXPECT_THAT(
        refused.error().message,
        AllOf(StartsWith("13 of 15 pictures cannot be read, so nothing is written; mend or "
                         "remove them:\n  " +
                         at("pictures/train/a/torn10.jpg").string()),
              HasSubstr("torn19.jpg"), Not(HasSubstr("torn20.jpg")), EndsWith("\n  and 3 more")));
    EXPECT_TRUE(fs::is_empty(at("out")));
  }
}

TEST_F(ConvertTest, APlaceOfSeveralSetsOrAFileSaysWhatToName) {
  ASSERT_TRUE(make_digits(at("place/digits"), {.train = 3, .test = 1}, {}).ok());
  put("place/notes/1.txt", {});
  const Result<Converted> place = convert_to_folder(at("place"), at("folder"), options());
  ASSERT_FALSE(place.ok());
  EXPECT_EQ(place.error().message, at("place").string() +
                                       " holds data sets in folders of their own; name one: " +
                                       at("place/digits").string());
  put("file", {});
  const Result<Converted> file = convert_to_folder(at("file"), at("folder"), options());
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().message, at("file").string() + " is a file; name its folder");
}

TEST_F(ConvertTest, APictureFolderComesBackAsItWas) {
  for (const char* name :
       {"from/train/a/1.jpg", "from/train/b/2.jpg", "from/val/a/3.JPEG", "from/val/b/4.jpg"}) {
    put(name, make_jpeg(made_picture({8, 8, 3}), {}));
  }
  put("from/train/b/5.png", make_png(made_picture({8, 8, 3}), {}));
  put("from/labels.txt", {'b', '\n', 'a', '\n'});
  ASSERT_TRUE(convert_to_records(at("from"), at("records"), options()).ok());
  const Result<Converted> back = convert_to_folder(at("records"), at("back"), options());
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_THAT(tree("back"),
              ElementsAre("labels.txt", "train/a/1.jpg", "train/b/2.jpg", "train/b/5.png",
                          "validation/a/3.JPEG", "validation/b/4.jpg"));
  EXPECT_EQ(read_file(at("back/train/b/5.png")), read_file(at("from/train/b/5.png")));
  EXPECT_EQ(read_labels(at("back/labels.txt")).value().names, (std::vector<std::string>{"b", "a"}));
}

TEST_F(ConvertTest, LabelsKeepTheirNumbersWhereAClassHasNoExample) {
  fs::create_directory(at("records"));
  auto writer = TfRecordWriter::create(at("records/train-00000-of-00001"));
  ASSERT_TRUE(writer.ok());
  write_record(*writer, 2, "x.jpg", "");
  write_record(*writer, 1, "y.jpg", "");
  ASSERT_TRUE(writer->finish().ok());
  auto test = TfRecordWriter::create(at("records/validation-00000-of-00001"));
  ASSERT_TRUE(test.ok());
  write_record(*test, 2, "z.jpg", "");
  ASSERT_TRUE(test->finish().ok());
  const ClassLabels labels{{"background", "daisy", "rose", "tulip"}, 0};
  ASSERT_TRUE(write_labels(at("records/labels.txt"), labels).ok());
  const Result<Converted> done = convert_to_folder(at("records"), at("folder"), options());
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_EQ(read_labels(at("folder/labels.txt")).value(), labels);
  EXPECT_THAT(tree("folder"), ElementsAre("labels.txt", "train/daisy/y.jpg", "train/rose/x.jpg",
                                          "validation/rose/z.jpg"));
  const auto train = list_split(at("folder"), Split::train).value();
  ASSERT_TRUE(train.has_value());
  EXPECT_EQ(train->pictures.at(0).label, 1);
  EXPECT_EQ(train->pictures.at(1).label, 2);
  const auto validation = list_split(at("folder"), Split::test).value();
  ASSERT_TRUE(validation.has_value());
  EXPECT_EQ(validation->pictures.at(0).label, 2);
}

TEST_F(ConvertTest, NoNameInARecordLeadsOutOfItsFolder) {
  fs::create_directory(at("records"));
  auto writer = TfRecordWriter::create(at("records/train-00000-of-00001"));
  ASSERT_TRUE(writer.ok());
  write_record(*writer, 0, "../../../escaped.jpg", "../..");
  write_record(*writer, 0, "/etc/escaped.jpg", "");
  write_record(*writer, 1, "..", "a/_.");
  write_record(*writer, 2, std::string("\n\0.jpg", 6), "");
  write_record(*writer, 2, "", "");
  ASSERT_TRUE(writer->finish().ok());
  const Result<Converted> done = convert_to_folder(at("records"), at("folder"), options());
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_THAT(tree(""), ElementsAre("folder/labels.txt", "folder/train/2/00000004.jpg",
                                    "folder/train/2/__.jpg", "folder/train/_.-1/_..jpg",
                                    "folder/train/_./escaped-00000001.jpg",
                                    "folder/train/_./escaped.jpg", "records/train-00000-of-00001",
                                    "records/train-00000-of-00001.sterna-index"));
}

TEST_F(ConvertTest, RefusesAFolderInUseAndLabelsWithoutAName) {
  fs::create_directory(at("records"));
  auto writer = TfRecordWriter::create(at("records/train-00000-of-00001"));
  ASSERT_TRUE(writer.ok());
  write_record(*writer, 3, "x.jpg", "");
  ASSERT_TRUE(writer->finish().ok());
  const Result<Converted> taken = convert_to_folder(at("records"), at("records"), options());
  ASSERT_FALSE(taken.ok());
  EXPECT_EQ(taken.error().code, Errc::already_exists);
  put("records/labels.txt", {'0', ':', 'a', '\n'});
  const Result<Converted> unnamed = convert_to_folder(at("records"), at("folder"), options());
  ASSERT_FALSE(unnamed.ok());
  EXPECT_THAT(unnamed.error().message, HasSubstr("label 3, which the data set's labels (0 to 0)"));
}

TEST(FileNames, AreOneSafePart) {
  EXPECT_EQ(safe_file_name("a/b\\c d.jpg"), "c d.jpg");
  EXPECT_EQ(safe_file_name(".hidden"), "_hidden");
  EXPECT_EQ(safe_file_name(".."), "_.");
  EXPECT_EQ(safe_file_name("a/"), "");
  EXPECT_EQ(safe_file_name("a:b\x7f*"), "a_b__");
  EXPECT_EQ(safe_file_name(std::string(300, 'x')).size(), 200U);
}

TEST(FileNames, ThatAreTakenGetASuffix) {
  std::set<std::string> taken;
  EXPECT_EQ(free_name(taken, "a", ".jpg", "7"), "a.jpg");
  EXPECT_EQ(free_name(taken, "a-7", ".jpg", "7"), "a-7.jpg");
  EXPECT_EQ(free_name(taken, "a", ".jpg", "7"), "a-7-7.jpg");
}

}  // namespace
}  // namespace sterna::input
