// What an owner is told at its start.
#include "launcher/owner/owner.h"

#include <gtest/gtest.h>

namespace sterna::launcher {
namespace {

TEST(OwnerOrder, IsReadAsItWasWritten) {
  const OwnerOrder order{.file_path = "/tmp/x.toml",
                         .data = "~/data",
                         .run_dir = "runs/a b\xFF",
                         .run_parent = "~/runs",
                         .run = 0xFEDCBA9876543210,
                         .program = "/opt/greeter",
                         .schema_hash = 0xFFFFFFFFFFFFFFFF,
                         .detached = true,
                         .again = 3,
                         .begun = true,
                         .starts_it = "sterna up x.toml"};
  const std::string json = order_json(order);
  const Result<OwnerOrder> read = parse_order(json);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(order_json(*read), json);
  EXPECT_EQ(read->file_path, order.file_path);
  EXPECT_EQ(read->run, order.run);
  EXPECT_EQ(read->schema_hash, order.schema_hash);
  EXPECT_TRUE(read->detached);
  EXPECT_EQ(read->again, 3U);
  EXPECT_TRUE(read->begun);
  EXPECT_EQ(read->starts_it, order.starts_it);
}

TEST(OwnerOrder, IsRefusedWhereItIsNone) {
  for (const char* text : {"", "{", "[]", "7", "{}", R"({"file_path":7})"}) {
    const Result<OwnerOrder> read = parse_order(text);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.error().code, Errc::malformed) << text;
  }
}

TEST(Owner, IsNotThisProgramUnlessItIsAsked) {
  std::string words[] = {"sterna", "run", "x.toml"};
  char* argv[] = {words[0].data(), words[1].data(), words[2].data()};
  EXPECT_EQ(own_if_asked(3, argv, Registry{}), std::nullopt);
}

}  // namespace
}  // namespace sterna::launcher
