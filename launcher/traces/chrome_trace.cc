#include "launcher/traces/chrome_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "launcher/text/json_line.h"

namespace sterna::launcher {
namespace {

constexpr std::size_t kPiece = std::size_t{64} << 10U;

class Writer {
 public:
  Writer(const RunTrace& trace, const std::function<void(std::string_view)>& write)
      : trace_(trace), write_(write), began_(std::numeric_limits<std::int64_t>::max()) {
    for (const ProcessSpans& process : trace.processes) {
      for (const SpanRecord& record : process.records) began_ = std::min(began_, record.begin);
    }
  }

  void all() {
    text_ = R"({"displayTimeUnit":"ms","traceEvents":[)";
    for (std::size_t p = 0; p < trace_.processes.size(); ++p) process(p);
    std::size_t number = 0;
    for (const MessageArrow& arrow : trace_.arrows) {
      flow("s", "", ++number, arrow.sent);
      flow("f", R"(,"bp":"e")", number, arrow.received);
    }
    text_ += "\n]}\n";
    write_(text_);
  }

 private:
  static std::string quoted(const std::string& text) { return json_line(Json(text)); }
  /// Microseconds since the first record.
  std::string time(std::int64_t at) const {
    const std::int64_t ns = at - began_;
    return fmt::format("{}.{:03}", ns / 1000, ns % 1000);
  }
  template <class... Args>
  void event(fmt::format_string<Args...> format, Args&&... args) {
    text_ += first_ ? "\n" : ",\n";
    first_ = false;
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    if (text_.size() < kPiece) return;
    write_(text_);
    text_.clear();
  }
  void process(std::size_t index) {
    const ProcessSpans& process = trace_.processes[index];
    const std::string lives =
        process.incarnation > 1 ? fmt::format("#{}", process.incarnation) : "";
    event(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":{}}}}})", index + 1,
          quoted(fmt::format("{}{} on {}", process.name, lives, process.host)));
    event(R"({{"ph":"M","name":"process_sort_index","pid":{0},"args":{{"sort_index":{0}}}}})",
          index + 1);
    for (std::size_t t = 0; t < process.tracks.size(); ++t) {
      event(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})",
            index + 1, t + 1, quoted(process.tracks[t]));
    }
    std::vector<std::string> names;
    for (const std::string& name : process.names) names.push_back(quoted(name));
    for (const SpanRecord& record : process.records) one(index, record, names[record.name]);
  }
  void one(std::size_t process, const SpanRecord& record, const std::string& name) {
    switch (record.kind) {
      case SpanKind::span:
        event(
            R"({{"ph":"X","name":{},"pid":{},"tid":{},"ts":{},"dur":{}.{:03},"args":{{"step":{}}}}})",
            name, process + 1, record.track + 1, time(record.begin),
            (record.end - record.begin) / 1000, (record.end - record.begin) % 1000, record.step);
        break;
      case SpanKind::wait:
        ++waits_;
        event(
            R"({{"ph":"b","cat":"wait","id":{},"name":{},"pid":{},"tid":{},"ts":{},"args":{{"step":{}}}}})",
            waits_, name, process + 1, record.track + 1, time(record.begin), record.step);
        event(R"({{"ph":"e","cat":"wait","id":{},"name":{},"pid":{},"tid":{},"ts":{}}})", waits_,
              name, process + 1, record.track + 1, time(record.end));
        break;
      case SpanKind::counter:
        event(R"({{"ph":"C","name":{},"pid":{},"ts":{},"args":{{"bytes":{}}}}})", name, process + 1,
              time(record.begin), record.value);
        break;
      default:
        break;
    }
  }
  void flow(const char* phase, const char* more, std::size_t number, RecordPlace place) {
    const SpanRecord& record = trace_.at(place);
    event(R"({{"ph":"{}"{},"cat":"message","id":{},"name":{},"pid":{},"tid":{},"ts":{}}})", phase,
          more, number, quoted(trace_.name(place.process, record)), place.process + 1,
          record.track + 1, time(record.begin));
  }

  const RunTrace& trace_;
  const std::function<void(std::string_view)>& write_;
  std::int64_t began_;
  std::string text_;
  bool first_ = true;
  std::uint64_t waits_ = 0;
};

}  // namespace

void write_chrome_trace(const RunTrace& trace, const std::function<void(std::string_view)>& write) {
  Writer(trace, write).all();
}

}  // namespace sterna::launcher
