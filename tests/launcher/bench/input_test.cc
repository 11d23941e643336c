#include "launcher/bench/input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "input/pictures/encode.h"
#include "tests/temporary_folder.h"

namespace sterna::launcher {
namespace {

InputBenchSetup small(const std::filesystem::path& pictures) {
  return {.pictures = pictures, .most_pictures = 3, .stored = 8, .rounds = 1};
}

TEST(BenchInput, SaysEveryFigureOfTheJpegsBelowAFolder) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "class");
  const auto jpeg =
      input::encode_jpeg({{200, 300, 3}, std::vector<std::uint8_t>(180000, 90)}, 80).value();
  for (const char* name : {"class/a.jpg", "class/b.jpeg", "class/none.txt"}) {
    std::ofstream(folder / name)
        .write(reinterpret_cast<const char*>(jpeg.data()),
               static_cast<std::streamsize>(jpeg.size()));
  }
  const Result<Figures> figures = bench_input(small(folder.path()), [](std::string_view) {});
  ASSERT_TRUE(figures.ok()) << figures.error().message;
  EXPECT_EQ(figures->at("pictures"), 2);
  EXPECT_EQ(figures->at("pictures_are_drawn"), 0);
  EXPECT_EQ(figures->at("mpixels_of_a_picture"), 0.06);
  for (const char* figure :
       {"decode_pictures", "decode_mpixels", "crop_flip_160_over_decode",
        "inception_224_over_decode", "two_thread_inception_224", "two_thread_decode",
        "cifar_24_pictures", "mnist_28_pictures", "to_values_gbps"}) {
    ASSERT_TRUE(figures->contains(figure)) << figure;
    EXPECT_GT(figures->at(figure), 0) << figure;
  }
}

TEST(BenchInput, NamesAFolderWithoutPicturesAndAPictureThatIsNone) {
  const TemporaryFolder folder;
  const auto message = [&] {
    return bench_input(small(folder.path()), [](std::string_view) {}).error().message;
  };
  EXPECT_THAT(message(), testing::HasSubstr(folder.path() + " holds no .jpg"));
  std::ofstream(folder / "bad.jpg") << "no JPEG";
  EXPECT_THAT(message(), testing::HasSubstr("bad.jpg: "));
}

}  // namespace
}  // namespace sterna::launcher
