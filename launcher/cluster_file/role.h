// The roles that actors have in training: the one table of what files call them and what they are.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace sterna::launcher {

enum class Role : std::uint8_t { kNone, kParameterServer, kWorker, kInputReader, kEvaluator };

struct RoleFacts {
  Role role = Role::kNone;
  std::string_view name;   ///< in files and reports, and of its actor type; kNone's is empty
  std::string_view actor;  ///< its actors are called actor0, actor1, … unless they are named
  std::string_view words;  ///< for one of them, in a sentence; with an "s" for several
  std::string_view does;   ///< "computes gradients"
  std::string_view own_key = {};  ///< the key of [[actor]] that is for it alone; empty: none
  bool reads_data = false;        ///< its actors want the data set's files on their host
  /// How often one that was lost is started again, where its [[actor]] does not say, and what it
  /// holds would not be lost (specs_of()).
  std::int64_t restarts = 0;
  bool computes = false;  ///< a net, on what "actor.backend" says
};

/// All of them, kNone (an actor of the program's own types) first; in the order of the enum.
std::span<const RoleFacts> roles();
const RoleFacts& facts_of(Role role);
/// kNone where no role is called so.
Role role_named(std::string_view name);
/// What [[actor]] role may say.
std::vector<std::string_view> role_names();

}  // namespace sterna::launcher
