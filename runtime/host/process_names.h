// How a run's processes are called on the command line, and how to find them by it:
//
//   PROGRAM __process NAME RUN PARENT
//
// PROGRAM is how the program is called (sterna, or a user's own): for ps, and for what the system
// says of a crash. NAME and RUN are there for people (ps) and for the last check that nothing of a
// run is left; PARENT is the pid of the parent, so that a child whose parent died before it could
// ask to die with it knows; 0 where a remote shell started it. Secrets never are on the command
// line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sterna {

struct ChildArguments {
  std::string name;
  std::uint64_t run = 0;
  std::int64_t parent = 0;  ///< 0: started on this host from another one
};

/// How this program was called, without its folder.
std::string own_program_name();
/// `program` is the path of the child's.
std::vector<std::string> child_arguments(const std::string& program, const std::string& name,
                                         std::uint64_t run, std::int64_t parent);
/// Null if the program was not started as a child.
std::optional<ChildArguments> parse_child_arguments(const std::vector<std::string>& arguments);

/// Of the process that keeps a run for its launcher: `sterna __own NAME RUN PARENT`. PARENT is who
/// starts it again if it dies; 0: nobody does.
std::vector<std::string> owner_arguments(const std::string& name, std::uint64_t run,
                                         std::int64_t parent = 0);
std::optional<ChildArguments> parse_owner_arguments(const std::vector<std::string>& arguments);

struct FoundProcess {
  std::int64_t pid = 0;
  std::string name;
};
/// The live processes of the run on this machine, without this one; zombies do not count.
std::vector<FoundProcess> processes_of_run(std::uint64_t run);

}  // namespace sterna
