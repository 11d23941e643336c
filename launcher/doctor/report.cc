#include "launcher/doctor/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "launcher/text/json_struct.h"
#include "launcher/text/text_format.h"
#include "launcher/text/text_table.h"

namespace sterna::launcher {

STERNA_JSON(Finding, host, check, wrong, fix, hint)
STERNA_JSON(RoundTrip, from, to, microseconds, megabytes_per_second)

namespace {

constexpr int kFormat = 1;
constexpr double kMicrosecondsPerMillisecond = 1000;
constexpr std::size_t kCellWidth = 70;

const RoundTrip* between(const DoctorReport& report, const std::string& from,
                         const std::string& to) {
  const auto found =
      std::find_if(report.round_trips.begin(), report.round_trips.end(),
                   [&](const RoundTrip& trip) { return trip.from == from && trip.to == to; });
  return found == report.round_trips.end() ? nullptr : &*found;
}

std::string cell_of(const RoundTrip* trip) {
  if (trip == nullptr) return "";
  std::string text = fmt::format("{:.2f} ms", trip->microseconds / kMicrosecondsPerMillisecond);
  if (trip->megabytes_per_second) text += fmt::format(" {:.0f} MB/s", *trip->megabytes_per_second);
  return text;
}

std::string lines_text(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::string findings_table(const DoctorReport& report) {
  const std::vector<TableColumn> columns = {
      {"host"}, {"check"}, {"what is wrong", false, kCellWidth}, {"what fixes it"}};
  std::vector<std::vector<std::string>> rows;
  for (const Finding& finding : report.findings) {
    const std::string wrong = (finding.hint ? "hint: " : "") + finding.wrong;
    rows.push_back({finding.host, finding.check, wrong, finding.fix});
  }
  return lines_text(text_table(columns, rows));
}

/// From the hosts of the rows to those of the columns.
std::string round_trips_table(const DoctorReport& report) {
  std::vector<TableColumn> columns = {{"round trip"}};
  for (const std::string& host : report.hosts) columns.push_back({"to " + host, true});
  std::vector<std::vector<std::string>> rows;
  for (const std::string& from : report.hosts) {
    std::vector<std::string>& row = rows.emplace_back();
    row.push_back("from " + from);
    for (const std::string& to : report.hosts) row.push_back(cell_of(between(report, from, to)));
  }
  return lines_text(text_table(columns, rows));
}

std::string last_line(const DoctorReport& report) {
  if (report.interrupted) return "interrupted; what was seen until then is above";
  const std::string hosts = counted(report.hosts.size(), "host");
  const std::size_t hints = report.hints();
  if (report.well()) {
    return fmt::format("all is well on {}{}; {}", hosts,
                       hints == 0 ? "" : ", with " + counted(hints, "hint"), report.probed);
  }
  return fmt::format("{}{} on {}; {}", counted(report.findings.size() - hints, "finding"),
                     hints == 0 ? "" : " and " + counted(hints, "hint"), hosts, report.probed);
}

}  // namespace

std::string doctor_text(const DoctorReport& report) {
  std::string text;
  if (!report.findings.empty()) text += findings_table(report) + "\n";
  if (!report.round_trips.empty()) text += round_trips_table(report) + "\n";
  return text + fmt::format("{}: {}\n", report.file, last_line(report));
}

std::string doctor_json(const DoctorReport& report) {
  Json json = {{"format", kFormat},     {"file", report.file},
               {"well", report.well()}, {"interrupted", report.interrupted},
               {"hosts", report.hosts}, {"probed", report.probed}};
  json["findings"] = report.findings;
  json["round_trips"] = report.round_trips;
  for (Json& one : json["round_trips"]) {
    if (one["megabytes_per_second"].is_null()) one.erase("megabytes_per_second");
  }
  return json_line(json);
}

}  // namespace sterna::launcher
