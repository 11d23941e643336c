#include "input/place/data_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "input/augment/family.h"
#include "input/digits/digits.h"
#include "input/formats/format.h"
#include "input/formats/idx.h"
#include "scratch.h"

namespace sterna::input {
namespace {

using ::testing::ElementsAre;

TEST(DataSets, AreNamedInTheOrderOfTheSearch) {
  EXPECT_THAT(data_set_names(), ElementsAre("mnist", "digits", "cifar10", "cifar100", "tfrecord",
                                            "pictures", "synthetic"));
}

TEST(DataSets, HaveAFamilyThatIsPreprocessed) {
  for (const std::string_view name : data_set_names())
    EXPECT_NE(find_family(find_data_set(name)->family), nullptr) << name;
}

TEST(DataSets, HaveTheUsualOneFirstAndItsFormInCommonWithDrawnDigitsAlone) {
  EXPECT_EQ(usual_data_set().name, data_set_names().front());
  EXPECT_THAT(names_in_form_of(usual_data_set()), ElementsAre("mnist", "digits"));
  EXPECT_THAT(names_in_form_of(*find_data_set("cifar10")), ElementsAre("cifar10"));
}

TEST(DataSets, SayWhetherTheyAreMadeAndWhetherTheirFilesMayHaveAnyNames) {
  for (const std::string_view name : data_set_names()) {
    const DataSet& set = *find_data_set(name);
    EXPECT_EQ(is_made_where_missing(set), name == "digits" || name == "synthetic") << name;
    EXPECT_EQ(takes_patterns(set), name == "tfrecord") << name;
  }
  EXPECT_EQ(find_data_set(kAnyDataSet), nullptr) << "which stands for all of them";
}

TEST(DataSets, AreNullByAnotherName) { EXPECT_EQ(find_data_set("cifar"), nullptr); }

TEST(DataSets, DrawnOnesAreToldByTheirMarkAndLoadWithTheirFamily) {
  TemporaryFolder scratch;
  ASSERT_TRUE(make_digits(scratch.path(), {.seed = 3, .train = 4, .test = 2}).ok());
  EXPECT_EQ(data_set_in(scratch.path()).name, "digits");
  EXPECT_TRUE(data_facts(scratch.path(), Split::test).ok());
  EXPECT_EQ(load_data(scratch.path(), Split::train)->count, 4U);
  EXPECT_EQ(load_data(scratch.path(), Split::test)->family, "mnist");
  std::filesystem::remove(scratch / kDrawnMarker);
  EXPECT_EQ(data_set_in(scratch.path()).name, "mnist");
}

TEST(DataSets, AreNotToldOfAsMnistWhereTheyOnlyHaveItsForm) {
  TemporaryFolder scratch;
  ASSERT_TRUE(make_digits(scratch.path(), {.seed = 3, .train = 4, .test = 2}).ok());
  EXPECT_EQ(told_name(scratch.path(), data_set_in(scratch.path()).name), "digits");
  std::filesystem::remove(scratch / kDrawnMarker);
  EXPECT_EQ(told_name(scratch.path(), data_set_in(scratch.path()).name), "idx");
  EXPECT_EQ(told_name(scratch / "nowhere", "mnist"), "mnist");  // on another host, perhaps
}

TEST(Formats, AreKnownByTheirFilesPlainOrGzip) {
  TemporaryFolder scratch;
  EXPECT_EQ(missing_files(kIdx, scratch.path()).size(), 4U);
  write_file(scratch / "train-images-idx3-ubyte", {});
  write_file(scratch / "t10k-labels-idx1-ubyte.gz", {});
  EXPECT_THAT(missing_files(kIdx, scratch.path()),
              ElementsAre("train-labels-idx1-ubyte", "t10k-images-idx3-ubyte"));
  EXPECT_EQ(&format_of(scratch.path(), {}), &kIdx);
}

TEST(Formats, WriteAPartThatIsReadBack) {
  TemporaryFolder scratch;
  const Dataset whole = draw_digits(5, Split::train, 6);
  ASSERT_TRUE(kIdx.write(scratch.path(), Split::train, whole, {2, 5}).ok());
  const Result<Dataset> part = kIdx.load(scratch.path(), Split::train);
  ASSERT_TRUE(part.ok()) << part.error().message;
  EXPECT_THAT(part->labels, ElementsAre(whole.labels[2], whole.labels[3], whole.labels[4]));
  EXPECT_TRUE(std::ranges::equal(part->image(2), whole.image(4)));
  EXPECT_EQ(kIdx.facts(scratch.path(), Split::train, {})->count, 3U);
}

TEST(DataSets, OfOtherFormsHaveNoUseForALabelOffset) {
  TemporaryFolder scratch;
  ASSERT_TRUE(make_digits(scratch.path(), {.seed = 1, .train = 4, .test = 2}).ok());
  const auto opened = open_data(scratch.path(), Split::train, {.label_offset = 1});
  ASSERT_FALSE(opened.ok());
  EXPECT_THAT(opened.error().message,
              ::testing::HasSubstr("data.label_offset = 1 is for TFRecord"));
  EXPECT_FALSE(data_facts(scratch.path(), Split::test, {.label_offset = 1}).ok());
}

}  // namespace
}  // namespace sterna::input
