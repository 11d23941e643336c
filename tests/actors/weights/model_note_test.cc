#include "actors/weights/model_note.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "actors/reader/preparation.h"
#include "nets/describe_net.h"

namespace sterna::actors {
namespace {

using testing::HasSubstr;

JobConfig flowers() {
  JobConfig job;
  job.net = "googlenet";
  job.steps = 100;
  job.precision = Precision::bf16;
  job.net_choices.bn_scale = true;
  job.net_choices.keep = 0.8;
  job.data.name = "pictures";
  job.data.dir = "where/they/lie";
  job.data.preprocess = "resize_crop";
  job.data.mean = {0.485, 0.456, 0.406};
  job.data.deviation = {0.229, 0.224, 0.225};
  job.data.label_offset = 1;
  job.picture = {64, 48, 3};
  job.classes = 3;
  job.optimizer.average_decay = 0.999;
  return job;
}

ModelNote note() { return note_of(flowers(), 70, "resize_crop", {{"daisy", "rose"}, 1}); }

/// What is said of a file with this metadata.
std::string refusal_of(const nets::Metadata& metadata) {
  const auto read = note_from(metadata, "some.safetensors");
  if (read) return "";
  EXPECT_THAT(read.error().message, testing::Not(HasSubstr("\n")));
  EXPECT_THAT(read.error().message, testing::StartsWith("some.safetensors: "));
  return read.error().message;
}

/// The same with one value changed.
std::string refusal_of(const std::string& key, const std::string& value) {
  nets::Metadata metadata = to_metadata(note());
  metadata[key] = value;
  return refusal_of(metadata);
}

TEST(ModelNote, ReadsBackWhatItWrote) {
  const auto read = note_from(to_metadata(note()), "file");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, note());
  EXPECT_EQ(read->steps, 70U);
  EXPECT_EQ(read->average_decay, 0.999);
}

TEST(ModelNote, NamesTheFirstClassThatAnotherCallsDifferently) {
  const auto other = [](const std::vector<std::string>& labels, std::uint16_t first) {
    const ModelNote theirs = note_of(flowers(), 0, "resize_crop", {labels, first});
    return first_other_class(note(), "A", theirs, "B").value_or("none");
  };
  EXPECT_EQ(other({"daisy", "rose"}, 1), "none");
  EXPECT_EQ(other({"background", "daisy", "rose", "tulip"}, 0), "none") << "more are named";
  EXPECT_EQ(other({}, 0), "none");
  EXPECT_EQ(other({"daisy", "tulip"}, 1), "class 2 is \"rose\" in A and \"tulip\" in B");
  EXPECT_EQ(other({"rose", "daisy"}, 1), "class 1 is \"daisy\" in A and \"rose\" in B");
  EXPECT_EQ(other({"daisy", "rose"}, 0), "class 1 is \"daisy\" in A and \"rose\" in B");
}

TEST(ModelNote, SaysWhatTheNetIsMadeWith) {
  const JobConfig job = flowers();
  const nets::NetOptions options = note().net(7);
  EXPECT_EQ(options.batch, 7U);
  EXPECT_FALSE(options.trains);
  EXPECT_EQ(options.backend.precision, nets::Element::bf16);
  const auto ours = nets::describe_net(options);
  const auto jobs = nets::describe_net(net_options(job));
  ASSERT_TRUE(ours.ok() && jobs.ok());
  ASSERT_EQ(ours->parameters.size(), jobs->parameters.size());
  for (std::size_t i = 0; i < ours->parameters.size(); ++i) {
    EXPECT_EQ(ours->parameters[i].name, jobs->parameters[i].name);
    EXPECT_EQ(ours->parameters[i].shape, jobs->parameters[i].shape);
  }
}

TEST(ModelNote, PreparesPicturesAsTheJobDid) {
  const JobConfig job = flowers();
  const auto jobs =
      preparation_of(job, {.count = 1, .shape = {}, .classes = 3, .family = "inception"}, 1);
  ASSERT_TRUE(jobs.ok());
  const input::Preparation ours = note().preparation();
  EXPECT_EQ(ours.family, jobs->family);
  EXPECT_EQ(ours.options.shape, jobs->options.shape);
  EXPECT_EQ(ours.options.mean, jobs->options.mean);
  EXPECT_EQ(ours.options.deviation, jobs->options.deviation);
}

TEST(ModelNote, NamesTheFamilyOfTheDataSetWhereTheJobNamesNone) {
  JobConfig job = flowers();
  job.data.preprocess = kAutoPreprocess;
  EXPECT_EQ(note_of(job, 0, "inception", {}).preparation().family, input::find_family("inception"));
}

TEST(ModelNote, CallsClassesByTheirNamesOrNumbers) {
  EXPECT_EQ(note().name_of(0), "0");
  EXPECT_EQ(note().name_of(1), "daisy");
  EXPECT_EQ(note().name_of(2), "rose");
  EXPECT_EQ(note().name_of(3), "3");
}

TEST(ModelNote, WritesNoControlCharactersAndReadsNone) {
  const ModelNote odd = note_of(flowers(), 1, "vgg", {{"a\nb", "\x1b[31mred", "ä \"é\""}, 0});
  EXPECT_EQ(odd.labels, (std::vector<std::string>{"a?b", "?[31mred", "ä \"é\""}));
  const auto read = note_from(to_metadata(odd), "file");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->labels, odd.labels);
  EXPECT_THAT(refusal_of("labels", "[\"\\u001b[31m\"]"), HasSubstr("control characters"));
}

TEST(ModelNote, PassesOverWhatOthersWrote) {
  nets::Metadata metadata = to_metadata(note());
  metadata["license"] = "CC0";
  EXPECT_EQ(refusal_of(metadata), "");
}

TEST(ModelNote, TakesDefaultsForKeysThatCameLater) {
  nets::Metadata metadata = to_metadata(note());
  metadata.erase("net.keep");
  const auto read = note_from(metadata, "file");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->choices.keep, NetSection{}.keep);
}

TEST(ModelNote, RefusesFilesThatSayNothingOfThemselves) {
  const char* nothing = "does not say which net, pictures and classes its weights are for";
  EXPECT_THAT(refusal_of(nets::Metadata{}), HasSubstr(nothing));
  EXPECT_THAT(refusal_of(nets::Metadata{{"format", "pt"}}), HasSubstr(nothing));
  EXPECT_THAT(refusal_of({{"format", "1"}, {"net", "lenet"}, {"steps", "5"}}), HasSubstr(nothing));
}

TEST(ModelNote, RefusesWhatCannotBe) {
  EXPECT_THAT(refusal_of("job.net", "\"lenett\""), HasSubstr("\"job.net\" must be"));
  EXPECT_THAT(refusal_of("job.net", "lenet"), HasSubstr("\"job.net\" cannot be read"));
  EXPECT_THAT(refusal_of("job.hidden", "[5]"), HasSubstr("hidden layers for googlenet"));
  EXPECT_THAT(refusal_of("job.hidden", "[0]"), HasSubstr("\"job.hidden\""));
  EXPECT_THAT(refusal_of("net.keep", "2.0"), HasSubstr("\"net.keep\" must be"));
  EXPECT_THAT(refusal_of("net.keep", "0.5\nbn_scale = true"), HasSubstr("more than a value"));
  EXPECT_THAT(refusal_of("data.preprocess", "\"auto\""), HasSubstr("how pictures are prepared"));
  EXPECT_THAT(refusal_of("data.preprocess", "\"x\""), HasSubstr("\"data.preprocess\" must be"));
  EXPECT_THAT(refusal_of("data.mean", "[1.0]"), HasSubstr("data.mean"));
  EXPECT_THAT(refusal_of("rows", "0"), HasSubstr("\"rows\" must be at least 1"));
  EXPECT_THAT(refusal_of("columns", "4097"), HasSubstr("at most 4096"));
  EXPECT_THAT(refusal_of("channels", "2"), HasSubstr("1 or 3 channels"));
  EXPECT_THAT(refusal_of("classes", "65537"), HasSubstr("\"classes\" must be"));
  EXPECT_THAT(refusal_of("first_label", "65535"), HasSubstr("more classes than labels can count"));
  EXPECT_THAT(refusal_of("labels", "[1]"), HasSubstr("\"labels\""));
  EXPECT_THAT(refusal_of("steps", "-1"), HasSubstr("\"steps\""));
  EXPECT_THAT(refusal_of("net.turbo\x1b", "1"), HasSubstr("\"net.turbo?\", which this build"));
  nets::Metadata metadata = to_metadata(note());
  metadata.erase("rows");
  EXPECT_THAT(refusal_of(metadata), HasSubstr("rows"));
}

TEST(ModelNote, RefusesPicturesThatTheNetCannotTake) {
  nets::Metadata metadata = to_metadata(note());
  metadata["job.net"] = "\"inception_v3\"";
  EXPECT_THAT(refusal_of(metadata), HasSubstr("takes none that is smaller than 107 x 107"));
}

}  // namespace
}  // namespace sterna::actors
