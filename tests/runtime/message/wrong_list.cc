// Lists of fields that must not compile; WRONG chooses one.
#include "tests/runtime/message/test_messages.h"

namespace sterna::test {

struct Odd {
  using Wire = wire::Pair;
  std::string name;
  std::int64_t amount = 0;
  std::uint32_t narrow = 0;
#if WRONG == 1
  STERNA_INLINE_MESSAGE(Odd, FIELD(name, Nam), FIELD(amount, Amount))
#elif WRONG == 2
  STERNA_INLINE_MESSAGE(Odd, FIELD(name, Name), FIELD(narrow, Amount))
#elif WRONG == 3
  STERNA_INLINE_MESSAGE(Odd, FIELD(name, Name, any_float), FIELD(amount, Amount))
#else
  STERNA_INLINE_MESSAGE(Odd, FIELD(name, Name), FIELD(amount, Amount))
#endif
};
struct OddToo {
  using Wire = wire::Pair;
  std::string name;
  std::int64_t amount = 0;
  STERNA_INLINE_MESSAGE(OddToo, FIELD(name, Name), FIELD(amount, Amount))
};
#if WRONG == 4
struct Odds : Interface<Odd, OddToo> {};
#else
struct Odds : Interface<Odd> {};
#endif

// So that all of it is made.
const MessageType& type() { return kMessageType<Odd>; }
std::uint64_t id() { return Odds::type_id(); }

}  // namespace sterna::test
