// What holds for a file of the Trace Event format that we write, read by nothing of ours: every
// event has what its phase needs, complete events of a thread lie in or beside each other,
// asynchronous ones begin and end, each arrow has both ends, in a span, the second not before the
// first (by more than `slack` microseconds).
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace sterna::launcher::test {

struct CheckedTrace {
  std::size_t spans = 0;
  std::size_t arrows = 0;
  std::size_t waits = 0;
  std::size_t counters = 0;
  std::map<std::string, std::size_t> named;      ///< spans by name
  std::map<std::string, std::size_t> processes;  ///< by the name given
};

inline CheckedTrace check_trace(const std::string& text, double slack = 0) {
  using Json = nlohmann::json;
  CheckedTrace checked;
  const Json file = Json::parse(text, nullptr, false);
  if (!file.is_object() || !file["traceEvents"].is_array()) {
    ADD_FAILURE() << "no JSON object with traceEvents";
    return checked;
  }
  // In whole nanoseconds: a microsecond's thousandths are written.
  const auto ns = [](const Json& value) { return std::llround(value.get<double>() * 1000); };
  using Thread = std::pair<int, int>;
  struct Span {
    long long begin, end;
    std::string name;
  };
  std::map<Thread, std::vector<Span>> spans;
  struct End {
    Thread thread;
    long long at;
  };
  std::map<std::string, std::vector<End>> out, in;
  std::map<std::string, long long> open;
  for (const Json& event : file["traceEvents"]) {
    const std::string phase = event.at("ph");
    const int pid = event.at("pid");
    const Thread thread{pid, event.value("tid", 0)};
    if (phase == "M") {
      if (event.at("name") == "process_name") ++checked.processes[event["args"].at("name")];
      continue;
    }
    const std::string name = event.at("name");
    const long long at = ns(event.at("ts"));
    if (at < 0) ADD_FAILURE() << name << " before the beginning";
    if (phase == "X") {
      spans[thread].push_back({at, at + ns(event.at("dur")), name});
      ++checked.spans;
      ++checked.named[name];
    } else if (phase == "s" || phase == "f") {
      const std::string id = event.at("id").dump() + event.at("cat").get<std::string>() + name;
      (phase == "s" ? out : in)[id].push_back({thread, at});
      if (phase == "f" && event.value("bp", "") != "e") ADD_FAILURE() << "an arrow binds nowhere";
    } else if (phase == "b") {
      if (!open.emplace(event.at("id").dump(), at).second) ADD_FAILURE() << "a wait begins twice";
      ++checked.waits;
    } else if (phase == "e") {
      const auto begun = open.find(event.at("id").dump());
      if (begun == open.end() || begun->second > at) {
        ADD_FAILURE() << name << " ends before it begins";
      } else {
        open.erase(begun);
      }
    } else if (phase == "C") {
      ++checked.counters;
    } else {
      ADD_FAILURE() << "an event of phase " << phase;
    }
  }
  EXPECT_TRUE(open.empty()) << open.size() << " waits do not end";
  for (auto& [thread, all] : spans) {
    std::ranges::sort(all, [](const Span& a, const Span& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
    });
    std::vector<Span> around;
    for (const Span& span : all) {
      while (!around.empty() && around.back().end <= span.begin) around.pop_back();
      if (!around.empty() && span.end > around.back().end) {
        ADD_FAILURE() << span.name << " begins in " << around.back().name << " and ends after it";
      }
      around.push_back(span);
    }
  }
  const auto bound = [&](const End& end) {
    return std::ranges::any_of(spans[end.thread], [&](const Span& span) {
      return span.begin <= end.at && end.at <= span.end;
    });
  };
  EXPECT_EQ(out.size(), in.size());
  for (const auto& [id, ends] : out) {
    const auto other = in.find(id);
    if (ends.size() != 1 || other == in.end() || other->second.size() != 1) {
      ADD_FAILURE() << "arrow " << id << " has not one end on each side";
      continue;
    }
    ++checked.arrows;
    EXPECT_TRUE(bound(ends[0])) << id << " leaves from no span";
    EXPECT_TRUE(bound(other->second[0])) << id << " comes to no span";
    EXPECT_GE(static_cast<double>(other->second[0].at - ends[0].at), -1000 * slack) << id;
  }
  return checked;
}

}  // namespace sterna::launcher::test
