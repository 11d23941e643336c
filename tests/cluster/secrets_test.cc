// What a user of a host may learn of a run that is another's, and do to it: nothing secret stands
// on a command line or in an environment, files are for their owner only, and each ends his own
// runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cctype>
#include <filesystem>
#include <set>

#include "tests/cluster/cluster_runs.h"

namespace sterna::test {
namespace {

constexpr const char* kHomes = "/home";  // on every host

using std::chrono::seconds;

constexpr Duration kPatience = seconds(60);
const User kAda{"ada"};
const User kBob{"bob"};

class Users : public testing::Test {
 protected:
  static void SetUpTestSuite() { runs_ = std::make_unique<ClusterRuns>(4); }
  static void TearDownTestSuite() { runs_.reset(); }
  void SetUp() override { STERNA_NEEDS_HOSTS(runs_->hosts()); }
  ClusterRuns& runs() { return *runs_; }
  const ClusterHosts& hosts() { return runs_->hosts(); }

  /// Its id.
  std::string up(const User& user, const std::string& head) {
    const std::string file =
        runs().file({"of_" + user.name, {"a", "b", "c", "d"}, head, user.name, ""}, kUnhurriedJob);
    const nlohmann::json state = runs().ask({"up", file}, user);
    EXPECT_TRUE(state.is_object()) << state;
    return state.is_object() ? state.value("id", "") : "";
  }
  bool goes_on(const std::string& id, const User& user) {
    const std::int64_t before = runs().step_of(id, user);
    return before >= 0 && eventually(kPatience, [&] { return runs().step_of(id, user) > before; });
  }

 private:
  static inline std::unique_ptr<ClusterRuns> runs_;
};

/// All secret keys and tokens in a state file.
void collect_secrets(const nlohmann::json& json, std::set<std::string>& secrets) {
  if (json.is_object()) {
    for (const auto& [key, value] : json.items()) {
      if ((key == "secret_key" || key == "token") && value.is_string() && !value.empty()) {
        secrets.insert(value.get<std::string>());
      }
      collect_secrets(value, secrets);
    }
  } else if (json.is_array()) {
    for (const auto& value : json) collect_secrets(value, secrets);
  }
}

/// A word that may be a key: forty characters of ZeroMQ's alphabet, not all of one kind, or 64
/// hexadecimal digits.
bool looks_secret(const std::string& word) {
  const auto all = [&](auto is) { return std::all_of(word.begin(), word.end(), is); };
  const auto any = [&](auto is) { return std::any_of(word.begin(), word.end(), is); };
  const auto hex = [](unsigned char c) { return std::isxdigit(c) != 0; };
  if (word.size() == 64 && all(hex)) return true;
  const auto z85 = [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view(".-:+=^!/*?&<>()[]{}@%$#").find(c) != std::string_view::npos;
  };
  return word.size() == 40 && all(z85) && any([](unsigned char c) { return std::isupper(c); }) &&
         any([](unsigned char c) { return std::islower(c); }) &&
         any([](unsigned char c) { return std::isdigit(c); });
}

/// A path, which a compiler's option may name, may be as long as a key: one in a folder of the
/// root's.
bool is_path(const std::string& word) {
  const std::size_t begin = word.find('/');
  const std::size_t end = begin == word.npos ? begin : word.find('/', begin + 1);
  std::error_code ignored;
  return end != word.npos && end > begin + 1 &&
         std::filesystem::is_directory(word.substr(begin, end - begin), ignored);
}

/// The command lines and environments of all processes, a string a line.
constexpr const char* kAllStrings =
    "cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'";

TEST_F(Users, FindNothingSecretInCommandLinesAndEnvironments) {
  for (const char* head : {"", "a"}) {
    const std::string id = up(kAda, head);
    std::set<std::string> secrets;
    for (const std::string& file : runs().state_files(kAda)) {
      collect_secrets(nlohmann::json::parse(content_of(file), nullptr, false), secrets);
    }
    ASSERT_FALSE(secrets.empty());
    Program here(hosts().launcher_folder(), {"/bin/sh", "-c", kAllStrings}, own_environment());
    ASSERT_TRUE(here.exit_code(kPatience));
    std::vector<std::string> strings = lines_of(here.out());
    for (const std::string& host : hosts().names()) {
      const Said said = hosts().exec(host, {"/bin/sh", "-c", kAllStrings});
      for (const std::string& line : lines_of(said.out)) strings.push_back(line);
    }
    EXPECT_GT(strings.size(), 100U);
    for (const std::string& string : strings) {
      for (const std::string& secret : secrets) EXPECT_EQ(string.find(secret), std::string::npos);
      std::size_t begin = 0;
      for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
        end = string.find_first_of(" ='\",;", begin);
        const std::string word = string.substr(begin, end - begin);
        EXPECT_TRUE(!looks_secret(word) || is_path(word)) << string;
      }
    }
    EXPECT_EQ(runs().ask({"down", id}, kAda).value("left", -1), 0);
  }
}

TEST_F(Users, KeepTheirFilesForThemselves) {
  const std::string id = up(kAda, "a");
  for (const std::string& file : runs().state_files(kAda)) {
    struct stat status = {};
    ASSERT_EQ(::stat(file.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600U) << file;
    ASSERT_EQ(::stat(std::filesystem::path(file).parent_path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700U) << file;
  }
  for (const std::string& host : hosts().names()) {
    // Whatever of ada's others could open: neither by itself nor by a folder above it.
    const Said said = hosts().exec(host, {"find",      std::string(kHomes) + "/ada",
                                          "/tmp",      "/dev/shm",
                                          "-mindepth", "1",
                                          "-user",     "ada",
                                          "(",         "-type",
                                          "d",         "-not",
                                          "-perm",     "/077",
                                          "-prune",    "-o",
                                          "-perm",     "/077",
                                          "-print",    ")"});
    EXPECT_EQ(said.out, "") << host;
  }
  const Said state = hosts().exec("a", {"find", std::string(kHomes) + "/ada/.local/state/sterna",
                                        "-name", id, "-perm", "0600"});
  EXPECT_NE(state.out, "") << "the head has no state file, or one that others may read";
  EXPECT_EQ(runs().ask({"down", id}, kAda).value("left", -1), 0);
}

TEST_F(Users, RunSideBySideAndEachEndsHisOwn) {
  const std::string of_ada = up(kAda, "a");
  const std::string of_bob = up(kBob, "");
  EXPECT_TRUE(goes_on(of_ada, kAda));
  EXPECT_TRUE(goes_on(of_bob, kBob));
  const auto down = runs().sterna({"down", "--all"}, kAda);
  EXPECT_EQ(down->exit_code(kPatience), 0) << down->story();
  EXPECT_TRUE(goes_on(of_bob, kBob));
  for (const std::string& host : hosts().names()) {
    EXPECT_EQ(hosts().exec(host, {"pgrep", "-u", "ada"}).out, "") << host;
    EXPECT_NE(hosts().exec(host, {"pgrep", "-u", "bob"}).out, "") << host;
  }
  EXPECT_EQ(runs().ask({"down", of_bob}, kBob).value("left", -1), 0);
}

}  // namespace
}  // namespace sterna::test
