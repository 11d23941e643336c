#include "input/place/data_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "input/formats/idx.h"
#include "input/place/data_set.h"
#include "scratch.h"

namespace sterna::input {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

class FindData : public ::testing::Test {
 protected:
  FindData() {
    query_.digits = {.seed = 1, .train = 4, .test = 3};
    query_.say = [this](std::string_view line) { said_.emplace_back(line); };
  }

  /// Makes a place that holds (empty) files of MNIST's names, and returns it.
  fs::path place(const std::string& name, const std::string& beneath = "",
                 const std::string& suffix = "") {
    const fs::path dir = scratch_ / name / beneath;
    fs::create_directories(dir);
    for (const Split split : {Split::train, Split::test}) {
      write_file(dir / (mnist_names(split).images + suffix), {});
      write_file(dir / (mnist_names(split).labels + suffix), {});
    }
    return scratch_ / name;
  }
  fs::path empty_place(const std::string& name) {
    fs::create_directories(scratch_ / name);
    return scratch_ / name;
  }
  DataLocation found() {
    Result<DataLocation> result = find_data(query_);
    EXPECT_TRUE(result.ok()) << result.error().message;
    return result.ok() ? *result : DataLocation{};
  }
  Error refused() {
    const Result<DataLocation> result = find_data(query_);
    EXPECT_FALSE(result.ok());
    return result.ok() ? Error{} : result.error();
  }

  TemporaryFolder scratch_;
  DataQuery query_;
  std::vector<std::string> said_;
};

TEST_F(FindData, AsksTheFlagThenTheFileThenTheEnvironmentThenTheCache) {
  query_ = {.flag = place("flag"),
            .file = place("file"),
            .env = place("env"),
            .cache = place("cache", "mnist")};
  EXPECT_EQ(found().dir, scratch_ / "flag");
  query_.flag.reset();
  EXPECT_EQ(found().dir, scratch_ / "file");
  query_.file.reset();
  EXPECT_EQ(found().dir, scratch_ / "env");
  query_.env.reset();
  EXPECT_EQ(found().dir, scratch_ / "cache/mnist");
  EXPECT_EQ(found().name, "mnist");
  EXPECT_FALSE(found().drawn);
}

TEST_F(FindData, LooksIntoMnistAndDigitsBeneathAPlaceAndTakesGzFiles) {
  query_.flag = place("a", "mnist", ".gz");
  EXPECT_EQ(found().dir, scratch_ / "a/mnist");
  place("b", "digits");
  write_file(scratch_ / "b/digits" / kDrawnMarker, {});
  query_.flag = scratch_ / "b";
  EXPECT_EQ(found().dir, scratch_ / "b/digits");
  EXPECT_EQ(found().name, "digits");
  place("b", "mnist");
  EXPECT_EQ(found().name, "mnist");
}

TEST_F(FindData, ANamedPlaceWithoutDataIsAnErrorThatSaysWhatIsMissing) {
  query_.cache = place("cache");
  query_.flag = empty_place("flag");
  EXPECT_THAT(refused().message, HasSubstr("--data " + (scratch_ / "flag").string()));
  place("flag", "mnist");
  fs::remove(scratch_ / "flag/mnist/t10k-labels-idx1-ubyte");
  EXPECT_THAT(refused().message,
              HasSubstr("flag/mnist looks like mnist, but lacks t10k-labels-idx1-ubyte (or .gz of "
                        "it); mnist comes from `sterna data fetch mnist`"));
  query_.flag = scratch_ / "nowhere";
  EXPECT_THAT(refused().message, HasSubstr("nowhere does not exist; correct it, or leave it out"));
  query_.name = "digits";
  EXPECT_THAT(refused().message,
              HasSubstr("nowhere does not exist; `sterna data make digits --out "));
  query_.name = "tfrecord";
  EXPECT_THAT(refused().message,
              HasSubstr("nowhere does not exist; tfrecord comes from `sterna data build`"));
  query_.name.clear();
  query_.flag.reset();
  query_.file = empty_place("file");
  EXPECT_EQ(refused().code, Errc::not_found);
  EXPECT_THAT(refused().message, HasSubstr("the cluster file's"));
}

TEST_F(FindData, AShardBesideOthersGoesBeforeTheWholeSetForItsReaderAlone) {
  const auto shard = [&](const std::string& name) {
    place("parts", name);
    write_file(scratch_ / "parts" / name / kShardFile, {});
  };
  shard("shard-0-of-2");
  shard("shard-1-of-2");
  query_.file = scratch_ / "parts";
  query_.shard = ShardId{1, 2};
  EXPECT_EQ(found().dir, scratch_ / "parts/shard-1-of-2");
  EXPECT_EQ(found().folder(), scratch_ / "parts");
  query_.shard = ShardId{1, 3};
  EXPECT_THAT(refused().message, HasSubstr("no complete shard-1-of-3, only shard-0-of-2, shard-1"));
  query_.shard.reset();
  EXPECT_THAT(refused().message, HasSubstr("holds no whole data set, only shard-0-of-2, shard-1"));
  query_.any_shard = true;
  EXPECT_EQ(found().dir, scratch_ / "parts/shard-0-of-2");
  EXPECT_EQ(found().folder(), scratch_ / "parts");
  place("parts");
  EXPECT_EQ(found().dir, scratch_ / "parts");
  EXPECT_EQ(found().folder(), scratch_ / "parts");
  query_.shard = ShardId{1, 2};
  EXPECT_EQ(found().dir, scratch_ / "parts/shard-1-of-2");
}

TEST_F(FindData, TwoWholeSetsInOnePlaceAreNotChosenBetween) {
  query_.flag = place("both");
  write_file(scratch_ / "both/train-00000-of-00001", {});
  write_file(scratch_ / "both/validation-00000-of-00001", {});
  EXPECT_THAT(refused().message, HasSubstr("both holds two data sets, one stored as idx and one "
                                           "as tfrecord; move one into a folder of its own"));
  query_.options.train_files = "train-*";
  EXPECT_EQ(found().name, "tfrecord");
}

TEST_F(FindData, RecordFilesOfOneSplitSayWhatIsLacking) {
  query_.flag = empty_place("half");
  write_file(scratch_ / "half/flowers_validation_00000-of-00001.tfrecord", {});
  EXPECT_THAT(refused().message, HasSubstr("half holds TFRecord files to test with "
                                           "(flowers_validation_00000-of-00001.tfrecord) alone: "));
  EXPECT_THAT(refused().message, HasSubstr("or name them by a pattern (data.train_files"));
}

TEST_F(FindData, OfSeveralSetsOfRecordFilesAPatternNamesOne) {
  query_.flag = empty_place("sets");
  for (const char* name : {"a_train_00000-of-00001.tfrecord", "b_train_00000-of-00001.tfrecord",
                           "a_val_00000-of-00001.tfrecord", "b_val_00000-of-00001.tfrecord"}) {
    write_file(scratch_ / "sets" / name, {});
  }
  EXPECT_THAT(refused().message, HasSubstr("are of different sets; move one away, or name the "
                                           "files of one by a pattern (data.train_files"));
  query_.options.train_files = "a_train_*";
  query_.options.test_files = "a_val_*";
  EXPECT_EQ(found().name, "tfrecord");
  query_.options.test_files = "c_*";
  EXPECT_THAT(refused().message, HasSubstr("sets has no file that fits the pattern c_*"));
}

TEST_F(FindData, FoldersOfPicturesOfOneSplitSayWhatToGive) {
  for (const char* folder : {"photos/train/roses", "photos/val/roses", "alone/roses"}) {
    fs::create_directories(scratch_ / folder);
    write_file(scratch_ / folder / "1.png", {});
  }
  query_.flag = scratch_ / "photos/train";
  EXPECT_THAT(refused().message,
              HasSubstr("give the folder around it, " + (scratch_ / "photos").string()));
  query_.flag = scratch_ / "alone";
  EXPECT_THAT(refused().message, HasSubstr("`sterna data build " + (scratch_ / "alone").string()));
  query_.flag = scratch_ / "photos";
  EXPECT_EQ(found().name, "pictures");
}

TEST_F(FindData, AFolderForOneSplitSaysThatTheOtherIsMissingOrHasAnotherName) {
  for (const char* folder : {"capital/train/a", "capital/Val/a", "val/val/a", "train/train/a"}) {
    fs::create_directories(scratch_ / folder);
    write_file(scratch_ / folder / "1.png", {});
  }
  query_.flag = scratch_ / "capital";
  EXPECT_THAT(refused().message, HasSubstr("capital holds train/ with pictures, but Val/ beside it "
                                           "is not looked for under that name; rename it"));
  query_.flag = scratch_ / "val";
  EXPECT_THAT(refused().message, HasSubstr("val holds val/ with pictures, but no train/ beside"));
  query_.flag = scratch_ / "train";
  EXPECT_THAT(refused().message, HasSubstr("train holds train/ with pictures, but no val/ (or "));
}

TEST_F(FindData, AClassWithoutAPictureIsNamed) {
  fs::create_directories(scratch_ / "flowers/roses");
  write_file(scratch_ / "flowers/roses/1.png", {});
  fs::create_directories(scratch_ / "flowers/tulips");
  query_.flag = scratch_ / "flowers";
  EXPECT_THAT(refused().message, HasSubstr("flowers holds folders of pictures, but "));
  EXPECT_THAT(refused().message, HasSubstr("flowers/tulips is a class without a picture"));
}

TEST_F(FindData, RecordFilesOfNoSplitOrNotAllOfASetAreCalledSo) {
  query_.flag = empty_place("records");
  write_file(scratch_ / "records/flowers.tfrecord", {});
  EXPECT_THAT(refused().message,
              HasSubstr("holds TFRecord files (flowers.tfrecord), but none has train in its name"));
  write_file(scratch_ / "records/test-00000-of-00002", {});
  EXPECT_THAT(refused().message, HasSubstr("test-00001-of-00002 is missing"));
}

TEST_F(FindData, MostOfASetsFilesSayWhichAreMissingAndWhereThatSetIsFrom) {
  query_.flag = empty_place("cifar");
  for (const char* name : {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                           "data_batch_4.bin", "test_batch.bin"}) {
    write_file(scratch_ / "cifar" / name, {});
  }
  EXPECT_THAT(refused().message,
              HasSubstr("cifar looks like cifar10, but lacks data_batch_5.bin (or .gz of it); "
                        "cifar10 comes from `sterna data fetch cifar10`"));
}

TEST_F(FindData, WhatLooksLikeNothingIsToldByWhatItHolds) {
  query_.flag = empty_place("odd");
  EXPECT_THAT(refused().message, HasSubstr("odd holds no data: it is empty; neither it nor its "));
  for (const char* name : {"a.npy", "b.npy", "README"}) write_file(scratch_ / "odd" / name, {});
  fs::create_directories(scratch_ / "odd/more");
  EXPECT_THAT(refused().message,
              HasSubstr("holds no data: it holds 3 files (.npy, README) and 1 folder (more/); "));
  EXPECT_THAT(refused().message, HasSubstr("train/ and val/ with a folder of JPEGs and PNGs"));
  query_.name = "cifar10";
  EXPECT_THAT(refused().message, HasSubstr("has data_batch_1.bin (or .gz of it) and the others of "
                                           "cifar10; that comes from `sterna data fetch cifar10`"));
  query_.flag = scratch_ / "odd/a.npy";
  EXPECT_THAT(refused().message, HasSubstr("a.npy is a file; give the folder it is in"));
}

TEST_F(FindData, TheEnvironmentsPlaceMayLackData) {
  query_.env = empty_place("env");
  query_.cache = place("cache", "mnist");
  EXPECT_EQ(found().dir, scratch_ / "cache/mnist");
}

TEST_F(FindData, WithoutAnyDataDigitsAreDrawnIntoTheCacheOnceAndOneLineSaysSo) {
  query_.cache = scratch_ / "cache";
  const DataLocation drawn = found();
  EXPECT_EQ(drawn.dir, scratch_ / "cache/digits");
  EXPECT_EQ(drawn.name, "digits");
  EXPECT_TRUE(drawn.drawn);
  ASSERT_EQ(said_.size(), 1U);
  EXPECT_THAT(said_[0], HasSubstr("sterna data fetch mnist"));
  EXPECT_THAT(said_[0], HasSubstr((scratch_ / "cache/digits").string()));
  EXPECT_THAT(said_[0], Not(HasSubstr("\n")));
  EXPECT_TRUE(load_mnist(drawn.dir, Split::train).ok());

  const DataLocation again = found();
  EXPECT_EQ(again.name, "digits");
  EXPECT_FALSE(again.drawn);
  EXPECT_EQ(said_.size(), 1U);
}

TEST_F(FindData, WithoutDataAndCacheTheErrorSaysWhatToGive) {
  EXPECT_THAT(refused().message, HasSubstr("--data DIR"));
}

TEST(Environment, TheCacheIsXdgsOrBelowHome) {
  std::map<std::string, std::string> values;
  const Environment environment = [&](const char* name) -> std::optional<std::string> {
    const auto found = values.find(name);
    if (found == values.end()) return std::nullopt;
    return found->second;
  };
  EXPECT_EQ(cache_directory(environment), std::nullopt);
  EXPECT_EQ(data_directory(environment), std::nullopt);
  values = {{"HOME", "/somewhere/a"}, {"STERNA_DATA", ""}};
  EXPECT_EQ(cache_directory(environment), fs::path("/somewhere/a/.cache/sterna"));
  EXPECT_EQ(data_directory(environment), std::nullopt);
  values["XDG_CACHE_HOME"] = "relative";
  EXPECT_EQ(cache_directory(environment), fs::path("/somewhere/a/.cache/sterna"));
  values["XDG_CACHE_HOME"] = "/var/cache/a";
  values["STERNA_DATA"] = "/data";
  EXPECT_EQ(cache_directory(environment), fs::path("/var/cache/a/sterna"));
  EXPECT_EQ(data_directory(environment), fs::path("/data"));
}

/// A folder of this machine with the real MNIST, if there is one.
std::optional<fs::path> real_mnist() {
  const Environment environment = [](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    if (value == nullptr) return std::nullopt;
    return value;
  };
  std::vector<std::optional<fs::path>> places = {data_directory(environment),
                                                 cache_directory(environment)};
  if (const auto source = environment("STERNA_SOURCE")) {
    places.emplace_back(fs::path(*source) / "../shared/data");
  }
  for (const auto& place : places) {
    if (!place) continue;
    const Result<DataLocation> found = find_data({.flag = place});
    if (found && found->name == "mnist") return found->dir;
  }
  return std::nullopt;
}

TEST(RealMnist, HasTheCountsAndTheLabelsThatItIsKnownFor) {
  const auto dir = real_mnist();
  if (!dir) {
    GTEST_SKIP() << "SKIPPED: no real MNIST in $STERNA_DATA, ~/.cache/sterna or ../shared/data";
  }
  const Result<Dataset> train = load_mnist(*dir, Split::train);
  const Result<Dataset> test = load_mnist(*dir, Split::test);
  ASSERT_TRUE(train.ok()) << train.error().message;
  ASSERT_TRUE(test.ok()) << test.error().message;
  EXPECT_EQ(train->count, 60000U);
  EXPECT_EQ(test->count, 10000U);
  EXPECT_EQ(told_name(*dir, "mnist"), "mnist");
  const auto histogram = [](const Dataset& data) {
    std::array<int, 10> counts{};
    for (const std::uint16_t label : data.labels) ++counts.at(label);
    return counts;
  };
  EXPECT_THAT(histogram(*train),
              ::testing::ElementsAre(5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949));
  EXPECT_THAT(histogram(*test),
              ::testing::ElementsAre(980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009));
}

}  // namespace
}  // namespace sterna::input
