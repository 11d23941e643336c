#include "launcher/plots/drawer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include "tests/temporary_folder.h"

// Fontconfig, which cairo asks for fonts, never frees some patterns.
extern "C" const char* __lsan_default_suppressions();  // NOLINT(bugprone-reserved-identifier)
extern "C" const char* __lsan_default_suppressions() { return "leak:libfontconfig\n"; }

namespace sterna::launcher {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class DrawerTest : public testing::Test {
 protected:
  static std::string content(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  Result<void> draw_to(const std::string& name) {
    return draw(plot, temporary.path() + "/" + name, STERNA_DRAWING_FOLDER);
  }
  /// All points of lines in the picture, in pixels.
  static std::vector<std::pair<double, double>> points_of(const std::string& svg) {
    std::vector<std::pair<double, double>> points;
    const std::regex point(R"([ML] ([0-9.]+) ([0-9.]+))");
    for (std::sregex_iterator at(svg.begin(), svg.end(), point), end; at != end; ++at) {
      points.emplace_back(std::stod((*at)[1]), std::stod((*at)[2]));
    }
    return points;
  }

  TemporaryFolder temporary;
  const Plot plot{.x_label = "steps",
                  .y_label = "precision@1",
                  .curves = {{.label = "fp32", .x = {100, 200, 400}, .mean = {0.91, 0.953, 0.981}},
                             {.label = "ternary",
                              .x = {100, 200, 400},
                              .mean = {0.90, 0.947, 0.98},
                              .low = {0.89, 0.94, 0.975},
                              .high = {0.905, 0.951, 0.985}}}};
};

TEST_F(DrawerTest, AnSvgHasEveryPointWhereItLies) {
  ASSERT_TRUE(draw_to("a.svg").ok());
  const auto points = points_of(content(temporary.path() + "/a.svg"));
  const PlotFrame frame(plot);
  const auto is_there = [&](double x, double y) {
    for (const auto& [px, py] : points) {
      if (std::abs(px - frame.x_of(x)) < 0.01 && std::abs(py - frame.y_of(y)) < 0.01) return true;
    }
    return false;
  };
  for (const PlotCurve& curve : plot.curves) {
    for (const auto* values : {&curve.mean, &curve.low, &curve.high}) {
      for (std::size_t i = 0; i < values->size(); ++i) {
        EXPECT_TRUE(is_there(curve.x[i], (*values)[i])) << curve.x[i] << " " << (*values)[i];
      }
    }
  }
  EXPECT_FALSE(is_there(100, 0.93));
}

TEST_F(DrawerTest, OnePointIsADot) {
  // A circle begins to the right of its middle.
  const auto dots = [&](const PlotCurve& curve) {
    Plot one{.x_label = "steps", .y_label = "loss", .curves = {curve}};
    const std::string path = temporary.path() + "/dot.svg";
    EXPECT_TRUE(draw(one, path, STERNA_DRAWING_FOLDER).ok());
    const std::string svg = content(path);
    std::vector<std::pair<double, double>> middles;
    const std::regex circle(R"(M ([0-9.]+) ([0-9.]+) C )");
    const std::size_t drawn = svg.rfind("</defs>");  // letters are before it
    const std::string picture = drawn == std::string::npos ? svg : svg.substr(drawn);
    for (std::sregex_iterator at(picture.begin(), picture.end(), circle), end; at != end; ++at) {
      middles.emplace_back(std::stod((*at)[1]) - 4, std::stod((*at)[2]));
    }
    return std::pair(middles, PlotFrame(one));
  };
  const auto is_one_at = [](const auto& drawn, double x, double y) {
    const auto& [middles, frame] = drawn;
    return middles.size() == 1 && std::abs(middles[0].first - frame.x_of(x)) < 0.01 &&
           std::abs(middles[0].second - frame.y_of(y)) < 0.01;
  };
  EXPECT_TRUE(is_one_at(dots({.label = "a", .x = {45}, .mean = {2.5}}), 45, 2.5));
  EXPECT_TRUE(is_one_at(dots({.label = "band", .x = {45}, .mean = {2.5}, .low = {2}, .high = {3}}),
                        45, 2.5));
  EXPECT_TRUE(
      is_one_at(dots({.label = "part", .x = {10, 20, 5}, .mean = {3, 2, 1}, .gaps = {2}}), 5, 1));
  EXPECT_TRUE(dots({.label = "line", .x = {10, 20}, .mean = {3, 2}}).first.empty());
}

TEST_F(DrawerTest, MoreCurvesThanColorsAreBroken) {
  Plot many = plot;
  const std::string path = temporary.path() + "/many.svg";
  while (many.curves.size() < 7) many.curves.push_back(many.curves.front());
  ASSERT_TRUE(draw(many, path, STERNA_DRAWING_FOLDER).ok());
  EXPECT_THAT(content(path), testing::Not(HasSubstr("stroke-dasharray")));
  many.curves.push_back(many.curves.front());
  ASSERT_TRUE(draw(many, path, STERNA_DRAWING_FOLDER).ok());
  EXPECT_THAT(content(path), HasSubstr("stroke-dasharray"));
}

TEST_F(DrawerTest, NumbersAreWrittenWithoutAnyoneWhoDraws) {
  const std::string path = temporary.path() + "/a.csv";
  ASSERT_TRUE(draw(plot, path, temporary.path()).ok());
  EXPECT_THAT(content(path), HasSubstr("\n\"fp32\",200,0.953,"));
}

TEST_F(DrawerTest, AMarkIsARingThatNoLineLeadsToAndTheNoteSaysWhatItIs) {
  Plot marked = plot;
  marked.curves[0].marks = {{.x = 450, .mean = 0.97, .low = 0.97, .high = 0.97}};
  const std::string path = temporary.path() + "/marked.svg";
  const auto height = [&](const Plot& one) {
    EXPECT_TRUE(draw(one, path, STERNA_DRAWING_FOLDER).ok());
    std::smatch found;
    const std::string svg = content(path);
    EXPECT_TRUE(std::regex_search(svg, found, std::regex(R"(height="([0-9.]+))")));
    return std::stod(found[1]);
  };
  const double before = height(marked);
  const PlotFrame frame(marked);
  std::size_t lines = 0;
  for (const auto& [x, y] : points_of(content(path))) {
    if (std::abs(x - frame.x_of(450)) < 0.01 && std::abs(y - frame.y_of(0.97)) < 0.01) ++lines;
  }
  EXPECT_LE(lines, 2U) << "the ends of a band without height";
  marked.note = "measured on all";
  EXPECT_GT(height(marked), before);
}

TEST_F(DrawerTest, APngIsOneAndNothingElseIsLeft) {
  ASSERT_TRUE(draw_to("a.png").ok());
  EXPECT_THAT(content(temporary.path() + "/a.png"), StartsWith("\x89PNG"));
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& one : std::filesystem::directory_iterator(temporary.path()))
    ++files;
  EXPECT_EQ(files, 1U);
}

TEST_F(DrawerTest, WhatCannotBeDrawnIsSaid) {
  const auto message = [](const Result<void>& drawn) {
    return drawn.ok() ? std::string("no error") : drawn.error().message;
  };
  EXPECT_THAT(
      message(draw_to("a.pdf")),
      EndsWith("/a.pdf: a picture's name ends in .svg or .png, that of its numbers in .csv"));
  EXPECT_THAT(message(draw_to("nowhere/a.svg")), HasSubstr("/nowhere/a.svg: "));
  EXPECT_THAT(message(draw_to("nowhere/a.png")), HasSubstr("/nowhere/a.png: "));
  EXPECT_THAT(message(draw(plot, temporary.path() + "/a.svg", temporary.path())),
              HasSubstr("/sterna-drawing.so is not there"));
}

}  // namespace
}  // namespace sterna::launcher
