#include "launcher/doctor/report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace sterna::launcher {
namespace {

using Json = nlohmann::json;

DoctorReport with_a_finding() {
  DoctorReport report;
  report.file = "x.toml";
  report.hosts = {"a"};
  report.findings = {{"a", "disk", "1 GB is free", "make room"}};
  report.probed = "not probed";
  return report;
}

TEST(DoctorReport, SaysInOneLineThatAllIsWell) {
  DoctorReport report{"x.toml", {"a", "b"}, {}, {}, "probed", false};
  EXPECT_EQ(doctor_text(report), "x.toml: all is well on 2 hosts; probed\n");
}

TEST(DoctorReport, HasATableOfRoundTripsFromRowToColumn) {
  DoctorReport report{"x.toml", {"a", "b"}, {}, {{"a", "b", 250, 11.0}}, "probed", false};
  EXPECT_EQ(doctor_text(report),
            "round trip             to b\n"
            "from a      0.25 ms 11 MB/s\n"
            "from b\n\n"
            "x.toml: all is well on 2 hosts; probed\n");
}

TEST(DoctorReport, HasATableOfFindings) {
  EXPECT_EQ(doctor_text(with_a_finding()),
            "host  check  what is wrong  what fixes it\n"
            "a     disk   1 GB is free   make room\n\n"
            "x.toml: 1 finding on 1 host; not probed\n");
}

TEST(DoctorReport, IsWellWithHints) {
  DoctorReport report = with_a_finding();
  report.findings.push_back({"a", "mps", "they take turns", "start it", true});
  EXPECT_FALSE(report.well());
  EXPECT_NE(doctor_text(report).find("x.toml: 1 finding and 1 hint on 1 host; not probed\n"),
            std::string::npos);
  report.findings.erase(report.findings.begin());
  EXPECT_TRUE(report.well());
  EXPECT_EQ(doctor_text(report),
            "host  check  what is wrong          what fixes it\n"
            "a     mps    hint: they take turns  start it\n\n"
            "x.toml: all is well on 1 host, with 1 hint; not probed\n");
}

TEST(DoctorReport, IsNotWellWhereItWasInterrupted) {
  DoctorReport report;
  EXPECT_TRUE(report.well());
  report.interrupted = true;
  EXPECT_FALSE(report.well());
  EXPECT_EQ(doctor_text(report), ": interrupted; what was seen until then is above\n");
}

TEST(DoctorJson, HasTheFindingsAndTheRoundTrips) {
  DoctorReport report = with_a_finding();
  report.round_trips = {{"a", "b", 250, 11.0}, {"b", "a", 300, std::nullopt}};
  const Json json = Json::parse(doctor_json(report));
  EXPECT_EQ(json["format"], 1);
  EXPECT_EQ(json["well"], false);
  EXPECT_EQ(json["findings"][0].dump(),
            R"({"check":"disk","fix":"make room","hint":false,"host":"a","wrong":"1 GB is free"})");
  EXPECT_EQ(json["round_trips"][0]["megabytes_per_second"], 11);
  EXPECT_FALSE(json["round_trips"][1].contains("megabytes_per_second"));
}

}  // namespace
}  // namespace sterna::launcher
