#include "launcher/commands/cli.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <functional>

#include "input/place/data_shard.h"
#include "launcher/commands/commands.h"
#include "launcher/commands/version.h"
#include "launcher/text/console.h"
#include "launcher/text/nearest.h"

namespace sterna::launcher {
namespace {

constexpr const char* description =
    "Trains image classifiers across ordinary machines: parameter servers, workers, input readers\n"
    "and an evaluator are actors, and gradients travel as ternary digits, 2 bits per parameter.\n";

constexpr const char* examples =
    "Examples:\n"
    "  sterna run configs/lenet_mnist.toml                train LeNet, watch its accuracy\n"
    "  sterna run configs/lenet_mnist.toml --set gradient.codec=none --set job.steps=500\n"
    "  sterna check my.toml                               is this file right, who runs where?\n"
    "  sterna help keys                                   everything such a file can say\n"
    "  sterna data fetch mnist                            real MNIST instead of drawn digits\n"
    "\n"
    "Exit codes: 0 done, 1 failed, 2 bad input, 130 Ctrl-C.";

constexpr std::int64_t most_examples = 10'000'000;

/// The parser and the options that it fills. `action` is set by the command that was given.
class CommandLine {
 public:
  explicit CommandLine(const Registry& registry)
      : registry_(registry), app_(description, "sterna") {
    app_.footer(examples);
    app_.set_version_flag(
        "--version", [] { return version_text(); }, "Print version, build id and libraries");
    app_.get_option("--help")->description("Print this help, or a command's");
    app_.set_help_flag("-h,--help", "Print this help, or a command's");
    app_.allow_extras();
    app_.require_subcommand(0, 1);  // a run may be called "run"
    add_run();
    add_up();
    add_visits();
    add_join();
    add_check();
    add_doctor();
    add_data();
    add_bench();
    add_test();
    add_help();
  }

  int parse_and_run(int argc, const char* const* argv) {
    // The parser would take `run` in `help run` for the command itself.
    const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
    if (words.size() > 1 && words[0] == "help" && words[1] != "keys" && words[1][0] != '-') {
      return help_on({words.begin() + 1, words.end()});
    }
    try {
      app_.parse(argc, argv);
    } catch (const CLI::Success& wanted) {
      return app_.exit(wanted);  // --help and --version
    } catch (const CLI::ParseError& error) {
      // An option nobody knows explains what is missing better than what is missing does.
      if (!unexpected().empty()) return complain(unexpected());
      return usage_error(error.what());
    }
    if (test_->parsed()) {
      test_options_.arguments = test_->remaining();
      return test_command(test_options_);
    }
    if (help_->parsed() && !help_keys_->parsed()) return help_on({});
    if (!unexpected().empty()) return complain(unexpected());
    if (action_) return action_();
    if (deepest() == &app_) {
      std::fputs(app_.help().c_str(), stderr);
      return exit_bad_input;
    }
    return usage_error(fmt::format("say which: {}", fmt::join(command_names(deepest()), ", ")));
  }

 private:
  CLI::App* add(CLI::App* parent, const std::string& name, const std::string& help) {
    CLI::App* command = parent->add_subcommand(name, help);
    command->set_help_flag("-h,--help", "Print this help");
    command->allow_extras();
    command->footer("");
    return command;
  }

  void add_overrides(CLI::App* command, std::vector<std::string>& overrides) {
    command->add_option("--set", overrides, "Change a key of the file, e.g. gradient.codec=none")
        ->type_name("KEY=VALUE")
        ->allow_extra_args(false);
  }

  void add_run() {
    CLI::App* run = add(&app_, "run", "Train in the foreground; Ctrl-C stops everything");
    run->add_option("FILE", run_options_.file, "The cluster file, e.g. configs/lenet_mnist.toml")
        ->required();
    add_overrides(run, run_options_.overrides);
    run->add_option("--data", run_options_.data, "The folder of the data set")->type_name("DIR");
    run->add_option("--run-dir", run_options_.run_dir,
                    "Where logs, metrics and weights go; must not exist")
        ->type_name("DIR");
    run->add_flag("--json", run_options_.json, "Print the result as one line of JSON at the end");
    run->footer(
        "\nExamples:\n"
        "  sterna run configs/lenet_mnist.toml\n"
        "  sterna run my.toml --set job.steps=500 --set actor.worker.count=4 --data ~/mnist\n"
        "  sterna run my.toml --json | tail -n 1 > result.json");
    run->callback([this] { action_ = [this] { return run_command(run_options_, registry_); }; });
  }

  void add_up() {
    CLI::App* up = add(&app_, "up", "Start a run on its hosts and leave it to itself");
    up->add_option("FILE", run_options_.file, "The cluster file")->required();
    add_overrides(up, run_options_.overrides);
    up->add_option("--data", run_options_.data, "The folder of the data set")->type_name("DIR");
    up->add_option("--run-dir", run_options_.run_dir,
                   "Where logs, metrics and weights go, on the head; must not exist")
        ->type_name("DIR");
    up->add_flag("--json", run_options_.json, "Print the run as one line of JSON");
    up->callback([this] { action_ = [this] { return up_command(run_options_, registry_); }; });
  }

  void add_join() {
    CLI::App* join = add(&app_, "join", "Be a host's node agent, under a supervisor of your own");
    join->add_option("FILE", join_options_.file, "The run's file for this host, RUN_DIR/join/HOST")
        ->required();
    join->footer(
        "\nWith placer = \"join\" `sterna run` and `sterna up` write a file for each host and "
        "wait.\n"
        "It holds secrets: bring it there unread by others (mode 0600). SIGTERM ends the node\n"
        "politely; without a word from the run for cluster.lease it ends with exit code 3.");
    join->callback([this] { action_ = [this] { return join_command(join_options_); }; });
  }

  void add_visits() {
    struct Visit {
      const char* name;
      const char* help;
      int (*command)(const VisitOptions&);
    };
    for (const auto& [name, help, command] :
         {Visit{"status", "What runs where, once", status_command},
          Visit{"watch", "The same, live, with the accuracy", watch_command},
          Visit{"down", "End a run, and make sure that nothing of it is left", down_command},
          Visit{"list", "The runs that this user started here", list_command}}) {
      CLI::App* visit = add(&app_, name, help);
      const std::string_view which(name);
      if (which != "list") {
        visit->add_option("RUN", visit_options_.run, "Its id or name; default: the only one");
      }
      if (which == "down") {
        visit->add_flag("--all", visit_options_.all, "Every run known here");
        visit->add_option("--file", visit_options_.file, "Whatever runs on the hosts of this file")
            ->type_name("FILE");
      }
      visit->add_option("--via", visit_options_.via, "Ask on that host, over ssh")
          ->type_name("HOST");
      visit->add_flag("--json", visit_options_.json, "Print JSON, a line each");
      visit->callback([this, command = command] {
        action_ = [this, command] { return command(visit_options_); };
      });
    }
    CLI::App* logs = add(&app_, "logs", "What the processes of a run say");
    logs->add_option("RUN", logs_options_.run, "Its id or name; default: the only one");
    logs->add_option("ACTOR", logs_options_.actor, "One process; default: all");
    logs->add_flag("-f,--follow", logs_options_.follow, "Go on until the run ends");
    logs->add_option("--since", logs_options_.since, "Only what is younger, e.g. 10m")
        ->type_name("TIME");
    logs->add_option("--via", logs_options_.via, "Ask on that host, over ssh")->type_name("HOST");
    logs->add_flag("--json", logs_options_.json, "Print JSON, a line each");
    logs->callback([this] { action_ = [this] { return logs_command(logs_options_); }; });
  }

  void add_check() {
    CLI::App* check =
        add(&app_, "check", "Check a cluster file and show who runs where; start nothing");
    check->add_option("FILE", check_options_.file, "The cluster file")->required();
    add_overrides(check, check_options_.overrides);
    check->add_flag("--json", check_options_.json, "Print the placement as one line of JSON");
    check->callback([this] { action_ = [this] { return check_command(check_options_); }; });
  }

  void add_doctor() {
    CLI::App* doctor = add(&app_, "doctor", "Look for what would go wrong on a file's hosts");
    doctor->add_option("FILE", doctor_options_.file, "The cluster file")->required();
    add_overrides(doctor, doctor_options_.overrides);
    doctor->add_flag("--no-ship", doctor_options_.no_ship,
                     "Only what a shell can tell: put nothing on the hosts, start nothing there");
    doctor->add_flag("--bandwidth", doctor_options_.bandwidth,
                     "Measure how fast the hosts send to each other, too");
    doctor->add_flag("--json", doctor_options_.json, "Print what was found as one line of JSON");
    doctor->callback(
        [this] { action_ = [this] { return doctor_command(doctor_options_, registry_); }; });
  }

  void add_data() {
    CLI::App* data = add(&app_, "data", "Make, fetch or split a data set");
    CLI::App* make = add(data, "make", "Make a data set on this machine");
    CLI::App* digits = add(make, "digits", "Draw handwritten-looking digits, in MNIST's format");
    digits->add_option("--out", make_options_.out, "The folder to write")
        ->required()
        ->type_name("DIR");
    digits->add_option("--seed", make_options_.seed, "Same seed, same digits")
        ->capture_default_str();
    digits->add_option("--train", make_options_.train, "Examples to train on")
        ->check(CLI::Range(std::int64_t{1}, most_examples).description(""))
        ->capture_default_str()
        ->type_name("N");
    digits->add_option("--test", make_options_.test, "Examples to test on")
        ->check(CLI::Range(std::int64_t{1}, most_examples).description(""))
        ->capture_default_str()
        ->type_name("N");
    digits->callback([this] { action_ = [this] { return data_make_command(make_options_); }; });

    CLI::App* fetch = add(data, "fetch", "Download a data set");
    CLI::App* mnist = add(fetch, "mnist", "MNIST's four files, their sums checked");
    mnist->add_option("--dir", fetch_options_.dir, "Where to put them; default ~/.cache/sterna")
        ->type_name("DIR");
    mnist
        ->add_option("--mirror", fetch_options_.mirrors,
                     "Where to get them; several are tried in order")
        ->type_name("URL")
        ->allow_extra_args(false);
    mnist->callback([this] { action_ = [this] { return data_fetch_command(fetch_options_); }; });

    CLI::App* split = add(data, "split", "Cut a data set into shards, one for each input reader");
    split->add_option("folder", split_options_.from, "The folder of the whole data set")
        ->required()
        ->type_name("FOLDER");
    split->add_option("--shards", split_options_.shards, "How many: the input readers' count")
        ->required()
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{input::kMostShards}).description(""))
        ->type_name("N");
    split->add_option("--into", split_options_.into, "Where shard-0-of-N, ... are written")
        ->required()
        ->type_name("DIR");
    split->callback([this] { action_ = [this] { return data_split_command(split_options_); }; });
  }

  void add_bench() {
    CLI::App* bench = add(&app_, "bench", "Measure this machine");
    for (const auto& [name, help] : {std::pair{"actors", "Asks per second, beside raw ZeroMQ"},
                                     std::pair{"codec", "Ternary codec, beside reading memory"},
                                     std::pair{"exchange", "Steps that only move gradients"},
                                     std::pair{"train", "A step with actors over one without"}}) {
      CLI::App* which = add(bench, name, help);
      which->add_flag("--json", bench_options_.json, "Print one line of JSON at the end");
      const std::string_view what(name);
      if (what != "train") {
        which->add_option("--only", bench_options_.only, "Measure the parts whose name begins so")
            ->type_name("NAME");
      }
      if (what == "codec" || what == "exchange") {
        which->add_option("--elements", bench_options_.elements, "Of the gradient tensor")
            ->type_name("N")
            ->capture_default_str();
      }
      if (what == "exchange") add_exchange_options(which);
      which->callback([this, name = std::string(name)] {
        bench_options_.what = name;
        action_ = [this] { return bench_command(bench_options_, registry_); };
      });
    }
  }

  void add_exchange_options(CLI::App* exchange) {
    const auto number = [&](const char* name, std::int64_t& value, const char* help,
                            std::int64_t least, std::int64_t most) {
      return exchange->add_option(name, value, help)
          ->check(CLI::Range(least, most).description(""))
          ->type_name("N");
    };
    exchange
        ->add_option("--link", bench_options_.link,
                     "Between a host for each rank, emulated and shaped in both directions, e.g. "
                     "1gbit; needs root. Default: all on this machine, over ipc and tcp")
        ->type_name("RATE");
    number("--ranks", bench_options_.ranks, "Workers with a rank each", 2, 64)
        ->capture_default_str();
    number("--servers", bench_options_.servers, "Beside the ranks; default: as many", 1, 64);
    exchange->add_option("--security", bench_options_.security, "Only over tcp that is so")
        ->check(CLI::IsMember({"none", "curve"}).description(""))
        ->type_name("none|curve");
    number("--steps", bench_options_.steps, "Of each run; the first four are not measured", 2,
           100000)
        ->capture_default_str();
    number("--rounds", bench_options_.rounds, "Of all contenders in turn", 1, 1000)
        ->capture_default_str();
    exchange
        ->add_option("--gloo", bench_options_.gloo,
                     "tests/bench/gloo_allreduce.py: gloo's all-reduce beside them")
        ->type_name("SCRIPT");
  }

  void add_test() {
    test_ = add(&app_, "test", "Run the tests of this build; arguments go to ctest");
    test_->prefix_command();
  }

  void add_help() {
    help_ = add(&app_, "help", "Help on a command, or on the cluster file's keys");
    help_keys_ = add(help_, "keys", "Every key of a cluster file");
    help_keys_->add_flag("--markdown", help_keys_options_.markdown, "As a Markdown table");
    help_keys_->callback(
        [this] { action_ = [this] { return help_keys_command(help_keys_options_); }; });
  }

  /// sterna help [COMMAND]
  int help_on(const std::vector<std::string>& path) {
    CLI::App* about = &app_;
    for (const std::string& word : path) {
      const std::vector<std::string> names = command_names(about);
      if (std::find(names.begin(), names.end(), word) == names.end()) {
        return usage_error(
            fmt::format("unknown command \"{}\"{}", word, did_you_mean(word, names)));
      }
      about = about->get_subcommand(word);
    }
    const CLI::App* parent = about->get_parent();
    std::fputs(about->help(parent ? full_name(parent) : "").c_str(), stdout);
    return exit_done;
  }

  CLI::App* deepest() {
    CLI::App* command = &app_;
    while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
    return command;
  }

  static std::vector<std::string> command_names(const CLI::App* command) {
    std::vector<std::string> names;
    for (const CLI::App* one : command->get_subcommands([](const CLI::App*) { return true; })) {
      names.push_back(one->get_name());
    }
    return names;
  }

  /// "sterna data fetch"
  static std::string full_name(const CLI::App* command) {
    return command->get_parent() ? full_name(command->get_parent()) + " " + command->get_name()
                                 : command->get_name();
  }

  /// The first word that no command took, or "".
  std::string unexpected() {
    for (const std::string& word : app_.remaining(true)) {
      if (word != "--") return word;
    }
    return "";
  }

  int complain(const std::string& word) {
    CLI::App* command = deepest();
    if (word.starts_with("-")) {
      std::vector<std::string> options;
      for (const CLI::Option* option : command->get_options()) {
        for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
      }
      const std::string bare = word.substr(0, word.find('='));
      return usage_error(fmt::format("unknown option \"{}\"{}", bare, did_you_mean(bare, options)));
    }
    const std::vector<std::string> commands = command_names(command);
    if (commands.empty()) return usage_error(fmt::format("unexpected argument \"{}\"", word));
    if (word.ends_with(".toml")) {
      return usage_error(fmt::format("unknown command \"{0}\"; did you mean \"run {0}\"?", word));
    }
    return usage_error(fmt::format("unknown command \"{}\"{}", word, did_you_mean(word, commands)));
  }

  int usage_error(std::string message) {
    std::replace(message.begin(), message.end(), '\n', ' ');
    const std::string name = full_name(deepest());
    if (message.back() != '?') message += fmt::format("; see {} --help", name);
    std::fprintf(stderr, "%s: %s\n", name.c_str(), message.c_str());
    return exit_bad_input;
  }

  const Registry& registry_;
  CLI::App app_;
  CLI::App* test_ = nullptr;
  CLI::App* help_ = nullptr;
  CLI::App* help_keys_ = nullptr;
  std::function<int()> action_;
  JoinOptions join_options_;
  RunOptions run_options_;
  CheckOptions check_options_;
  DoctorOptions doctor_options_;
  VisitOptions visit_options_;
  LogsOptions logs_options_;
  DataMakeOptions make_options_;
  DataFetchOptions fetch_options_;
  DataSplitOptions split_options_;
  BenchOptions bench_options_;
  TestOptions test_options_;
  HelpKeysOptions help_keys_options_;
};

}  // namespace

int command_line(int argc, const char* const* argv, const Registry& registry) {
  try {
    return CommandLine(registry).parse_and_run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sterna: internal error: %s\n", error.what());
    return exit_failed;
  }
}

}  // namespace sterna::launcher
