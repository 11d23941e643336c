// program.done_when: whose ends end the run of a program's own actors.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "launcher/cluster_file/draft.h"
#include "launcher/text/nearest.h"

namespace sterna::launcher {
namespace {

/// Calls visit(actor, word) for every word that may stand for an actor: its own name, and the name
/// and the type of its table, which stand for all of that table.
template <class Visitor>
void for_each_word(const ClusterFile& file, Visitor&& visit) {
  std::size_t actor = 0;
  for (const ActorSection& table : file.tables) {
    for (std::int64_t n = 0; n < table.actors(); ++n, ++actor) {
      visit(file.actors[actor], file.actors[actor].name);
      if (!table.name.empty()) visit(file.actors[actor], table.name);
      visit(file.actors[actor], table.type);
    }
  }
}

}  // namespace

std::vector<std::string> ClusterFile::awaited() const {
  const std::vector<std::string>& asked = program.done_when;
  std::vector<std::string> names;
  for_each_word(*this, [&](const ActorPlan& actor, const std::string& word) {
    const bool wanted = asked.empty() || std::find(asked.begin(), asked.end(), word) != asked.end();
    if (wanted && (names.empty() || names.back() != actor.name)) names.push_back(actor.name);
  });
  return names;
}

void check_done_when(const Draft& draft, const ClusterFile& file, Problems& problems) {
  const Where where = draft.where("program.done_when");
  if (file.program.done_when.empty()) return;
  if (file.trains()) {
    return problems.add(where,
                        "\"program.done_when\" is for a program's own actors; training is done "
                        "with its last evaluation; remove it");
  }
  std::set<std::string> words;
  for_each_word(file, [&](const ActorPlan&, const std::string& word) { words.insert(word); });
  for (const std::string& word : file.program.done_when) {
    if (words.contains(word)) continue;
    const std::string advice = did_you_mean_of(word, std::vector(words.begin(), words.end()));
    problems.add(where, fmt::format("\"program.done_when\": no actor has the name or type \"{}\"{}",
                                    word, advice));
  }
}

}  // namespace sterna::launcher
