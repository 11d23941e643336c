#include "runtime/base/result.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <set>
#include <string>
#include <type_traits>

namespace sterna {
namespace {

Result<int> half(int n) {
  if (n % 2 != 0) return Error{Errc::invalid_argument, "odd"};
  return n / 2;
}

Result<int> quarter(int n) {
  STERNA_ASSIGN(const int h, half(n));
  return half(h);
}

Result<void> halve_twice(int n, int& tries) {
  ++tries;
  STERNA_TRY(half(n));
  ++tries;
  STERNA_TRY(half(n / 2));
  return {};
}

TEST(Result, PassesErrorsUp) {
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_EQ(quarter(6).error().message, "odd");
}

TEST(Result, TryGivesUpAtTheFirstError) {
  int tries = 0;
  EXPECT_EQ(halve_twice(3, tries).error().code, Errc::invalid_argument);
  EXPECT_EQ(tries, 1);
  EXPECT_TRUE(halve_twice(4, tries).ok());
}

TEST(Result, GivesAwayWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> made = std::make_unique<int>(7);
  const std::unique_ptr<int> taken = std::move(made).value();
  EXPECT_EQ(*taken, 7);
}

TEST(Result, TakesAnothersPlaceWhateverTheTwoAre) {
  using Shared = std::shared_ptr<int>;
  const auto watched = std::make_shared<int>(7);
  static_assert(!std::is_copy_constructible_v<Result<std::unique_ptr<int>>>);
  for (const bool from_value : {true, false}) {
    for (const bool to_value : {true, false}) {
      const Error wrong{Errc::io, "a message too long for the string itself to hold"};
      const auto made = [&](bool value) { return value ? Result<Shared>(watched) : wrong; };
      Result<Shared> to = made(to_value);
      const Result<Shared> from = made(from_value);
      to = from;
      EXPECT_EQ(to.ok(), from_value);
      EXPECT_EQ(from_value ? *to.value() : 7, 7);
      EXPECT_EQ(from_value ? wrong.message : to.error().message, wrong.message);
      to = std::move(to);
      EXPECT_EQ(to.ok(), from_value);
      Result<Shared> moved = std::move(to);
      EXPECT_EQ(moved.ok(), from_value);
      EXPECT_EQ(watched.use_count(), from_value ? 3 : 1) << "itself, from and moved";
    }
  }
  EXPECT_EQ(watched.use_count(), 1);
}

TEST(ResultDeathTest, WhoReadsWhatIsNotThereEndsTheProgram) {
  EXPECT_DEATH((void)quarter(6).value(), "sterna: the value of a failed Result is read: odd");
  const Result<std::string> failed = Error{Errc::io, "the disk is gone"};
  EXPECT_DEATH((void)failed->size(), "sterna: .* is read: the disk is gone");
  EXPECT_DEATH((void)quarter(8).error(), "sterna: the error of a Result is read that has none");
  const Result<void> done;
  EXPECT_DEATH((void)done.error(), "sterna: the error of a Result is read that has none");
}

TEST(Error, GathersContextOnItsWayUpAndKeepsItsKind) {
  const Error error = half(1).error().in("one").in("counting");
  EXPECT_EQ(error.message, "counting: one: odd");
  EXPECT_EQ(error.code, Errc::invalid_argument);
}

TEST(Error, OfTheSystemSaysWhatFailedAndTheSystemsWord) {
  const Error error = system_error("cannot read x", ENOENT);
  EXPECT_EQ(error.code, Errc::io);
  EXPECT_EQ(error.message, "cannot read x: No such file or directory");
}

TEST(Errc, EachHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (int code = 0; code <= static_cast<int>(Errc::internal); ++code) {
    EXPECT_TRUE(names.insert(name(static_cast<Errc>(code))).second) << code;
  }
  EXPECT_FALSE(names.contains("unknown"));
  EXPECT_EQ(name(static_cast<Errc>(999)), "unknown");
}

}  // namespace
}  // namespace sterna
