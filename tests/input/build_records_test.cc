#include "input/build/build_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <set>

#include "input/build/build_note.h"
#include "input/formats/labels.h"
#include "input/pictures/decode.h"
#include "input/records/example.h"
#include "input/records/record_files.h"
#include "input/records/record_index.h"
#include "made_pictures.h"
#include "scratch.h"

namespace sterna::input {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kOfEachClass = 10;

class BuildRecordsTest : public testing::Test {
 protected:
  BuildRecordsTest() {
    for (const char* name : {"a", "b"}) {
      for (int i = 0; i < kOfEachClass; ++i) {
        put("photos/" + std::string(name) + "/" + std::to_string(i) + ".jpg",
            make_jpeg(made_picture({8, static_cast<std::uint32_t>(8 + i), 3}), {}));
      }
    }
  }
  fs::path at(const std::string& name) const { return fs::path(folder_.path()) / name; }
  void put(const std::string& name, const Bytes& bytes) const {
    fs::create_directories(at(name).parent_path());
    write_file(at(name), bytes);
  }
  Result<BuildReport> build(const std::string& into, const BuildOptions& options) const {
    return build_records(at("photos"), at(into), options);
  }
  BuildReport built(const std::string& into, const BuildOptions& options) const {
    Result<BuildReport> report = build(into, options);
    EXPECT_TRUE(report.ok()) << report.error().message;
    return report ? *std::move(report) : BuildReport{};
  }
  std::string refused(const std::string& into, const BuildOptions& options) const {
    const Result<BuildReport> report = build(into, options);
    EXPECT_FALSE(report.ok());
    return report ? "" : report.error().message;
  }
  /// Every file of a folder.
  std::map<std::string, Bytes> content(const std::string& name) const {
    std::map<std::string, Bytes> files;
    for (const std::string& file : files_in(at(name))) files[file] = read_file(at(name) / file);
    return files;
  }
  std::vector<PictureRecord> records(const std::string& into,
                                     std::span<const std::string_view> words) const {
    std::vector<PictureRecord> all;
    const auto paths = find_record_files(at(into), words);
    EXPECT_TRUE(paths.ok()) << paths.error().message;
    if (!paths) return all;
    for (const fs::path& path : *paths) {
      const Result<RecordFile> file = RecordFile::open(path);
      const Result<RecordIndex> index = RecordIndex::scan(*file);
      for (std::size_t i = 0; i < index->count(); ++i) {
        Bytes data;
        EXPECT_TRUE(file->read(index->place(i), data).ok());
        all.push_back(parse_picture_record(data).value());
      }
    }
    return all;
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(BuildRecordsTest, KeepsEveryPictureByteForByte) {
  const BuildReport report = built("out", {.train_shards = 3, .validation = 0.2});
  EXPECT_EQ(report.classes, 2U);
  EXPECT_EQ(report.train.records, 16U);
  ASSERT_TRUE(report.validation.has_value());
  EXPECT_EQ(report.validation->records, 4U);
  EXPECT_THAT(files_in(at("out")),
              ElementsAre("BUILD.txt", "labels.txt", "train-00000-of-00003", "train-00001-of-00003",
                          "train-00002-of-00003", "validation-00000-of-00002",
                          "validation-00001-of-00002"));
  std::set<std::string> pictures;
  std::map<std::int64_t, int> validating;
  for (const PictureRecord& record : records("out", kTrainingWords)) {
    pictures.insert(record.class_text + "/" + record.name);
    const Bytes file = read_file(at("photos") / record.class_text / record.name);
    EXPECT_EQ(record.bytes, std::string(file.begin(), file.end()));
    EXPECT_EQ(record.shape.rows, 8U);
    EXPECT_EQ(record.shape.columns, 8U + static_cast<unsigned>(record.name[0] - '0'));
  }
  for (const PictureRecord& record : records("out", kTestWords)) {
    pictures.insert(record.class_text + "/" + record.name);
    ++validating[record.label.value()];
  }
  EXPECT_EQ(pictures.size(), 20U);
  EXPECT_THAT(validating, ElementsAre(std::pair(0, 2), std::pair(1, 2)));
  EXPECT_EQ(read_labels(at("out") / kLabelsFile).value(), (ClassLabels{{"a", "b"}, 0}));
}

TEST_F(BuildRecordsTest, TheSameBytesComeOfAnyNumberOfThreads) {
  built("one", {.threads = 1});
  built("four", {.threads = 4});
  built("more", {.threads = 100});
  EXPECT_EQ(content("one"), content("four"));
  EXPECT_EQ(content("one"), content("more"));
  built("other", {.seed = 2});
  EXPECT_NE(content("one"), content("other"));
}

TEST_F(BuildRecordsTest, AnInterruptedBuildGoesOnToTheSameBytes) {
  built("whole", {});
  built("broken", {});
  fs::remove(at("broken/labels.txt"));
  fs::remove(at("broken/train-00003-of-00008"));
  fs::resize_file(at("broken/train-00005-of-00008"),
                  fs::file_size(at("broken/train-00005-of-00008")) - 1);
  put("broken/train-00003-of-00008.1234", {1, 2, 3});
  const BuildReport report = built("broken", {.threads = 3});
  EXPECT_EQ(report.train.kept, 6U);
  EXPECT_EQ(report.train.records, 18U);
  EXPECT_EQ(report.train.left_out, 0U);
  EXPECT_EQ(content("broken"), content("whole"));
}

TEST_F(BuildRecordsTest, AnotherBuildIsNotMixedWithThisOne) {
  built("out", {});
  EXPECT_THAT(
      refused("out", {.seed = 2}),
      HasSubstr("BUILD.txt holds another build: \"seed 1\", and this one is of \"seed 2\""));
  EXPECT_THAT(refused("out", {.raw = true}), HasSubstr("\"pictures JPEG\""));
  EXPECT_THAT(refused("out", {.validation = 0.5}), HasSubstr("\"train pictures 18 sha256"));
  put("photos/a/new.jpg", make_jpeg(made_picture({8, 8, 3}), {}));
  EXPECT_THAT(refused("out", {}), HasSubstr("train pictures"));
  put("taken/file", {1});
  EXPECT_THAT(refused("taken", {}), HasSubstr("taken is there and not empty"));
}

TEST_F(BuildRecordsTest, APictureThatChangedWithItsSizeKeptMakesAnotherBuild) {
  built("out", {});
  const fs::path picture = at("photos/a/1.jpg");
  const auto time = fs::last_write_time(picture);
  Bytes bytes = read_file(picture);
  bytes[bytes.size() / 2] ^= 1U;
  write_file(picture, bytes);
  fs::last_write_time(picture, time);
  EXPECT_THAT(refused("out", {}), HasSubstr("another build"));  // by its ends
  bytes[bytes.size() / 2] ^= 1U;
  write_file(picture, bytes);
  fs::last_write_time(picture, time + std::chrono::nanoseconds(1));
  EXPECT_THAT(refused("out", {}), HasSubstr("another build"));  // by its time
  fs::last_write_time(picture, time);
  built("out", {});
}

TEST_F(BuildRecordsTest, AFolderThatAnotherBuildWritesIsRefused) {
  built("out", {});
  {
    const Result<FolderLock> other = FolderLock::take(at("out"));
    ASSERT_TRUE(other.ok());
    EXPECT_EQ(refused("out", {}), "another process is writing into " + at("out").string() +
                                      "; wait for it, or name another folder");
  }
  built("out", {});
}

TEST_F(BuildRecordsTest, WhatCannotBeDecodedIsLeftOutAndNamed) {
  Bytes cut = read_file(at("photos/a/5.jpg"));
  cut.resize(cut.size() / 2);
  put("photos/a/5.jpg", cut);
  put("photos/b/5.jpg", {'n', 'o'});
  const BuildReport report = built("out", {.validation = 0});
  EXPECT_EQ(report.train.records, 18U);
  EXPECT_EQ(report.train.left_out, 2U);
  EXPECT_FALSE(report.validation.has_value());
  EXPECT_THAT(report.left_out, ElementsAre(HasSubstr("a/5.jpg: a JPEG that"),
                                           HasSubstr("b/5.jpg: neither a JPEG nor a PNG")));
  const BuildReport again = built("out", {.validation = 0});
  EXPECT_EQ(again.train.left_out, 2U);
  EXPECT_THAT(again.left_out, IsEmpty());
}

TEST_F(BuildRecordsTest, PngAndInksBecomeJpegsOfRgb) {
  put("photos/a/5.jpg", make_png(made_picture({9, 9, 3}), {}));
  put("photos/b/5.jpg", make_jpeg(made_picture({9, 9, 3}), {.colors = Colors::cmyk}));
  EXPECT_EQ(built("out", {.validation = 0}).recoded, 2U);
  EXPECT_EQ(built("out", {.validation = 0}).recoded, 0U) << "all files were there";
  EXPECT_EQ(built("raw", {.validation = 0, .raw = true}).recoded, 0U);
  int seen = 0;
  for (const PictureRecord& record : records("out", kTrainingWords)) {
    EXPECT_EQ(record.coding, Coding::jpeg);
    if (record.name != "5.jpg") continue;
    ++seen;
    EXPECT_EQ(record.shape, (PictureShape{9, 9, 3}));
    EXPECT_EQ(shape_of(record.picture(), kMostPixels).value(), record.shape);
  }
  EXPECT_EQ(seen, 2);
}

TEST_F(BuildRecordsTest, AShareThatHoldsNothingBackIsRefused) {
  EXPECT_EQ(refused("out", {.validation = 0.04}),
            "a validation share of 4% of each class holds no picture back, as no class has more "
            "than 10; give at least 5%");
  EXPECT_FALSE(fs::exists(at("out")));
  EXPECT_EQ(built("out", {.validation_shards = 1, .validation = 0.05}).validation->records, 2U);
}

TEST_F(BuildRecordsTest, RawPicturesAreDecodedAndSquashed) {
  built("raw", {.validation = 0, .raw = true});
  for (const PictureRecord& record : records("raw", kTrainingWords)) {
    EXPECT_EQ(record.coding, Coding::pixels);
    const Bytes file = read_file(at("photos") / record.class_text / record.name);
    const Picture picture = decode({Coding::jpeg, file, {}}, {}).value();
    EXPECT_EQ(Bytes(record.bytes.begin(), record.bytes.end()), picture.pixels);
    EXPECT_EQ(record.shape, picture.shape);
  }
  built("small", {.validation = 0, .raw = true, .side = 4});
  for (const PictureRecord& record : records("small", kTrainingWords)) {
    EXPECT_EQ(record.shape, (PictureShape{4, 4, 3}));
  }
  EXPECT_THAT(refused("x", {.side = 4}), HasSubstr("--raw"));
}

TEST_F(BuildRecordsTest, LabelsMayBeginAtOneAsTheOriginalsDo) {
  built("out", {.first_label = 1});
  for (const PictureRecord& record : records("out", kTrainingWords)) {
    EXPECT_EQ(record.label, record.class_text == "a" ? 1 : 2);
  }
  EXPECT_EQ(read_labels(at("out") / kLabelsFile).value(), (ClassLabels{{"a", "b"}, 1}));
}

TEST_F(BuildRecordsTest, SynsetsAndBoxesGoIntoTheRecordsAsImageNetHasThem) {
  const auto text = [&](const std::string& name, const std::string& content) {
    put(name, Bytes(content.begin(), content.end()));
  };
  text("names.txt", "n0\tunused\na\tcrane, a bird\nb  crane, a bird\r\n");
  const auto object = [](const std::string& name, const std::string& edges) {
    return "<object><name>" + name + "</name><bndbox>" + edges + "</bndbox></object>";
  };
  const std::string edges = "<xmin>2</xmin><ymin>1</ymin><xmax>6</xmax><ymax>5</ymax>";
  text("boxes/a/3.xml", "<annotation><size><width>8</width><height>10</height></size>" +
                            object("a", edges) + object("b", edges) + object("crane", edges) +
                            "</annotation>");
  text("boxes/4.xml", "<annotation></annotation>");
  const BuildOptions options{.validation = 0, .names = at("names.txt"), .boxes = at("boxes")};
  built("out", options);
  for (const PictureRecord& record : records("out", kTrainingWords)) {
    const bool first = record.label == 0;
    EXPECT_EQ(record.synset, first ? "a" : "b");
    EXPECT_EQ(record.class_text, first ? "crane, a bird" : "crane, a bird (b)");
    // What is around another class is left out.
    const std::vector<Box> around(2, {.top = 0.1F, .left = 0.25F, .bottom = 0.5F, .right = 0.75F});
    EXPECT_EQ(record.boxes, first && record.name == "3.jpg" ? around : std::vector<Box>());
  }
  EXPECT_EQ(read_labels(at("out") / kLabelsFile).value().names,
            (std::vector<std::string>{"crane, a bird", "crane, a bird (b)"}));
  EXPECT_THAT(refused("out", {.validation = 0}), HasSubstr("\"names sha256"));
  text("boxes/b/3.xml", "<annotation>");
  EXPECT_THAT(refused("new", options), HasSubstr("b/3.xml: it ends within <annotation>"));
  text("names.txt", "a crane\n");
  EXPECT_THAT(refused("new2", options),
              HasSubstr("does not say what the class folder b is called"));
  text("names.txt", "a crane\nb\n");
  EXPECT_THAT(refused("new2", options), HasSubstr("names.txt:2: wants a class folder"));
  fs::create_directory(at("none"));
  EXPECT_THAT(refused("new2", {.validation = 0, .boxes = at("none")}),
              HasSubstr("has boxes for none of the pictures"));
  EXPECT_THAT(refused("new2", {.validation = 0, .boxes = at("nowhere")}),
              HasSubstr("nowhere: there is no such folder of boxes"));
}

TEST_F(BuildRecordsTest, BoxesAreOfThePictureAsItsRecordHasIt) {
  put("photos/a/3.jpg", with_orientation(make_jpeg(made_picture({8, 16, 3}), {}), 6, true));
  const std::string text =
      "<annotation><size><width>16</width><height>8</height></size><object><name>a</name><bndbox>"
      "<xmin>4</xmin><ymin>0</ymin><xmax>8</xmax><ymax>1</ymax></bndbox></object></annotation>";
  put("boxes/a/3.xml", Bytes(text.begin(), text.end()));
  const auto box = [this](const std::string& into) {
    for (const PictureRecord& record : records(into, kTrainingWords)) {
      if (!record.boxes.empty()) return record.boxes.front();
    }
    return Box{};
  };
  built("jpeg", {.validation = 0, .boxes = at("boxes")});
  EXPECT_EQ(box("jpeg"), (Box{.top = 0, .left = 0.25F, .bottom = 0.125F, .right = 0.5F}));
  built("raw", {.validation = 0, .raw = true, .boxes = at("boxes")});  // a quarter turn clockwise
  EXPECT_EQ(box("raw"), (Box{.top = 0.25F, .left = 0.875F, .bottom = 0.5F, .right = 1}));
}

TEST_F(BuildRecordsTest, OtherBoxesOfAnyPictureMakeAnotherBuild) {
  const BuildOptions options{.validation = 0.5, .boxes = at("boxes")};
  const std::string none = "<annotation></annotation>";
  const auto boxes = [&](const std::string& name, const std::string& content) {
    put("boxes/" + name, Bytes(content.begin(), content.end()));
  };
  for (int i = 0; i < kOfEachClass; ++i) boxes(std::to_string(i) + ".xml", none);
  built("out", options);
  const auto written = content("out");
  built("out", options);
  EXPECT_EQ(content("out"), written);
  // Half of these pictures validate.
  for (const char* name : {"a", "b"}) {
    for (int i = 0; i < kOfEachClass; ++i) {
      const std::string own = std::string(name) + "/" + std::to_string(i) + ".xml";
      boxes(own, none);
      EXPECT_THAT(refused("out", options), HasSubstr("another build: \"boxes ")) << own;
      fs::remove(at("boxes") / own);
    }
  }
}

TEST_F(BuildRecordsTest, AFolderOfItsOwnValidates) {
  fs::create_directory(at("whole"));
  fs::rename(at("photos"), at("whole/train"));
  fs::create_directories(at("whole/val/a"));
  fs::copy(at("whole/train/a/1.jpg"), at("whole/val/a/7.jpg"));
  fs::rename(at("whole"), at("photos"));
  put("photos/val/c/7.jpg", read_file(at("photos/val/a/7.jpg")));
  EXPECT_THAT(refused("out", {.validation_shards = 1}),
              HasSubstr("val/c is of a class that the training pictures beside it do not have"));
  fs::remove_all(at("photos/val/c"));
  put("photos/val/b/7.jpg", read_file(at("photos/val/a/7.jpg")));
  const BuildReport report = built("out", {});
  EXPECT_EQ(report.train.records, 20U);
  EXPECT_EQ(report.validation.value().records, 2U);
}

TEST_F(BuildRecordsTest, MoreFilesThanPicturesAreRefused) {
  EXPECT_EQ(refused("out", {.train_shards = 19}),
            "18 train pictures cannot fill 19 files; ask for 1 to 18 (--train-shards)");
  EXPECT_FALSE(fs::exists(at("out")));
}

}  // namespace
}  // namespace sterna::input
