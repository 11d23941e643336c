#include "launcher/page/page_feed.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "launcher/page/known_runs.h"
#include "launcher/page/log_folder.h"
#include "launcher/page/page_hub.h"
#include "launcher/page/page_shelf.h"
#include "launcher/page/run_story.h"
#include "launcher/text/growing_file.h"
#include "launcher/text/json_line.h"
#include "launcher/view/status_json.h"
#include "runtime/base/clock.h"
#include "runtime/base/file.h"

namespace sterna::launcher {
namespace {

constexpr Duration kTick = std::chrono::milliseconds(200);
constexpr Duration kComments = std::chrono::seconds(5);
constexpr Duration kShelfIsFresh = std::chrono::seconds(2);
/// A thread that hangs on a disk is left behind.
constexpr Duration kPatience = std::chrono::seconds(2);
constexpr Duration kLastRound = std::chrono::seconds(1);
/// In one round of all logs; what is more stays for the next.
constexpr std::size_t kLogLinesAtOnce = 500;
constexpr const char* kOfRun = "run ";

}  // namespace

struct PageFeed::State {
  explicit State(std::string folder) : directory(std::move(folder)) {}

  const std::string directory;
  const std::shared_ptr<PageHub> hub = std::make_shared<PageHub>();
  PageShelf shelf;
  const SteadyClock clock;

  std::mutex given_mutex;  // what was given and is not told yet; held for moments
  std::condition_variable changed;
  std::optional<RunStatus> given_status;
  std::deque<std::pair<std::string, std::string>> given_lines;
  bool stopping = false;
  bool stopped = false;
  bool closing = false;  // after one more round
  bool closed = false;
  std::function<void()> wake;

  std::mutex mutex;  // what was told; an event is pushed together with what it changes here
  std::string status = "null";
  RunStory story;
  std::deque<std::pair<std::string, std::string>> log_lines;
  std::string ended = "null";
  bool is_over() const { return ended != "null"; }

  // The reading thread's alone.
  GrowingFile metrics{directory + "/metrics.jsonl"};
  LogFolder logs{directory + "/logs"};
  std::optional<Time> pushed;

  void read_until_stopped();
  bool tell_given();
  void tell_status(const RunStatus& now);
  bool read_metrics();
  /// `anew`: what was told before is no more. Takes and tells at once: between the two facts()
  /// would give what is then told again.
  bool tell_metrics(const std::vector<Json>& lines, bool anew);
  bool tell_lines(LogLines lines);
  std::string make(const std::string& name) const;
};

void PageFeed::State::tell_status(const RunStatus& now) {
  std::string json = status_json(now);
  const std::lock_guard lock(mutex);
  if (is_over()) return;  // what is told with the end is the last
  status = std::move(json);
  hub->push("status", status);
}

bool PageFeed::State::tell_given() {
  std::optional<RunStatus> now;
  LogLines lines;
  {
    const std::lock_guard lock(given_mutex);
    now = std::exchange(given_status, std::nullopt);
    lines.assign(given_lines.begin(), given_lines.end());
    given_lines.clear();
  }
  if (now) tell_status(*now);
  return tell_lines(std::move(lines)) || now.has_value();
}

bool PageFeed::State::read_metrics() {
  bool told = false;
  do {
    std::vector<Json> lines;
    for (const std::string& text : metrics.lines()) {
      Json line = Json::parse(text, nullptr, false);
      if (line.is_object()) lines.push_back(std::move(line));
    }
    told = tell_metrics(lines, metrics.began_anew()) || told;
  } while (metrics.has_more());
  return told;
}

bool PageFeed::State::tell_metrics(const std::vector<Json>& lines, bool anew) {
  const std::lock_guard lock(mutex);
  if (anew) story = RunStory{};
  for (const Json& line : lines) story.take(line);
  const std::optional<Json> news = story.news();
  if (story.begins_anew() || anew) {
    hub->push("again", "0");
  } else if (news) {
    hub->push("story", json_line(*news));
  } else {
    return false;
  }
  return true;
}

bool PageFeed::State::tell_lines(LogLines lines) {
  if (lines.empty()) return false;
  if (lines.size() > kLogLinesAtOnce) {
    const std::size_t left_out = lines.size() - kLogLinesAtOnce;
    lines.erase(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(left_out));
    lines.front() = {"", std::to_string(left_out + 1) + " lines are left out here"};
  }
  Json json = Json::array();
  for (auto& [actor, line] : lines) {
    if (line.size() > kLongestLogLine) line.resize(kLongestLogLine);
    json.push_back({actor, line});
  }
  const std::lock_guard lock(mutex);
  hub->push("log", json_line(json));
  for (auto& one : lines) log_lines.push_back(std::move(one));
  while (log_lines.size() > kMostLogLines) log_lines.pop_front();
  return true;
}

std::string PageFeed::State::make(const std::string& name) const {
  if (name == "resolved") {
    const Result<std::string> text = read_file(directory + "/resolved.toml");
    return json_line(text ? Json(*text) : Json());
  }
  const Result<RunStates> states = RunStates::of_user();
  const std::vector<KnownRun> runs =
      known_runs(directory, states ? states->all() : std::vector<RunState>());
  if (name == "runs") return known_runs_json(runs, directory);
  for (const KnownRun& run : runs) {
    if (name == kOfRun + run.directory) return run_story_json(run.directory);
  }
  return "null";
}

void PageFeed::State::read_until_stopped() {
  std::unique_lock lock(given_mutex);
  while (!stopping) {
    const bool is_last = closing;
    lock.unlock();
    bool told = tell_given();
    told = read_metrics() || told;
    const Time now = clock.now();
    told = tell_lines(logs.lines(now)) || told;
    shelf.make_wanted(now, kShelfIsFresh, [this](const std::string& name) { return make(name); });
    if (!told && (!pushed || now - *pushed >= kComments)) {
      hub->push_comment();
      told = true;
    }
    if (told) pushed = now;
    lock.lock();
    if (told && wake) wake();
    if (is_last) {
      closed = true;
      changed.notify_all();
    }
    changed.wait_for(lock, kTick, [this] { return stopping || (closing && !closed); });
  }
  stopped = true;
  changed.notify_all();
}

PageFeed::PageFeed(std::string run_directory)
    : state_(std::make_shared<State>(std::move(run_directory))) {
  std::thread([state = state_] { state->read_until_stopped(); }).detach();
}

PageFeed::~PageFeed() {
  std::unique_lock lock(state_->given_mutex);
  state_->stopping = true;
  state_->wake = nullptr;
  state_->changed.notify_all();
  state_->changed.wait_for(lock, kPatience, [this] { return state_->stopped; });
}

void PageFeed::set_wake(std::function<void()> wake) {
  const std::lock_guard lock(state_->given_mutex);
  state_->wake = std::move(wake);
}

void PageFeed::update(const RunStatus& status) {
  const std::lock_guard lock(state_->given_mutex);
  state_->given_status = status;
}

void PageFeed::log(const std::string& actor, const std::vector<std::string>& lines) {
  const std::lock_guard lock(state_->given_mutex);
  for (const std::string& line : lines) state_->given_lines.emplace_back(actor, line);
  while (state_->given_lines.size() > kMostLogLines) state_->given_lines.pop_front();
}

void PageFeed::end(const RunStatus& status, int exit, std::string_view words) {
  {
    const std::lock_guard lock(state_->given_mutex);
    state_->given_status.reset();
  }
  std::string last = status_json(status);
  {
    const std::lock_guard lock(state_->mutex);
    state_->ended = json_line({{"exit", exit}, {"words", words}});
    state_->status = std::move(last);
    state_->hub->push("end", state_->ended);
    state_->hub->push("status", state_->status);
  }
  const std::lock_guard lock(state_->given_mutex);
  if (state_->wake) state_->wake();
}

void PageFeed::close() {
  std::unique_lock lock(state_->given_mutex);
  state_->closing = true;
  state_->changed.notify_all();
  state_->changed.wait_for(lock, kLastRound, [this] { return state_->closed; });
  state_->hub->close();
  if (state_->wake) state_->wake();
}

std::string PageFeed::facts() const {
  State& state = *state_;
  const std::lock_guard lock(state.mutex);
  Json lines = Json::array();
  for (const auto& [actor, line] : state.log_lines) lines.push_back({actor, line});
  std::string text = "{\"last\":" + std::to_string(state.hub->last());
  text += ",\"status\":" + state.status;
  text += ",\"story\":" + json_line(state.story.all());
  text += ",\"log\":" + json_line(lines);
  return text + ",\"end\":" + state.ended + "}";
}

std::unique_ptr<HttpStream> PageFeed::open(std::uint64_t after) const {
  return state_->hub->open(after);
}

bool PageFeed::is_full() const { return state_->hub->pages() >= PageHub::kMostPages; }

std::optional<std::string> PageFeed::shelf(const std::string& name) const {
  return state_->shelf.get(name, state_->clock.now());
}

}  // namespace sterna::launcher
