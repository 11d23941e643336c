#include "runtime/host/own_connections.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "tests/temporary_folder.h"

namespace sterna {
namespace {

/// A listener and both ends of a connection to it.
class Connection {
 public:
  template <class Address>
  explicit Connection(Address address) {
    listener_ = socket(address.family, SOCK_STREAM, 0);
    socklen_t size = address.size;
    EXPECT_EQ(bind(listener_, address.base(), size), 0) << std::strerror(errno);
    EXPECT_EQ(listen(listener_, 1), 0);
    EXPECT_EQ(getsockname(listener_, address.base(), &size), 0);
    dialled_ = socket(address.family, SOCK_STREAM, 0);
    EXPECT_EQ(connect(dialled_, address.base(), size), 0) << std::strerror(errno);
    accepted_ = accept(listener_, nullptr, nullptr);
    EXPECT_GE(accepted_, 0);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() {
    for (const int descriptor : {listener_, dialled_, accepted_}) ::close(descriptor);
  }
  bool is_over() const { return ends(dialled_) && ends(accepted_); }

 private:
  static bool ends(int descriptor) {
    char byte = 0;
    return recv(descriptor, &byte, 1, MSG_DONTWAIT) == 0;
  }
  int listener_ = -1;
  int dialled_ = -1;
  int accepted_ = -1;
};

struct TcpAddress {
  TcpAddress() {
    in.sin_family = AF_INET;
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  }
  sockaddr* base() { return reinterpret_cast<sockaddr*>(&in); }
  int family = AF_INET;
  sockaddr_in in{};
  socklen_t size = sizeof(in);
};

struct PathAddress {
  explicit PathAddress(const std::string& path) {
    un.sun_family = AF_UNIX;
    std::strncpy(un.sun_path, path.c_str(), sizeof(un.sun_path) - 1);
  }
  sockaddr* base() { return reinterpret_cast<sockaddr*>(&un); }
  int family = AF_UNIX;
  sockaddr_un un{};
  socklen_t size = sizeof(un);
};

TEST(OwnConnections, AreShutAtBothEndsWhetherTcpOrIpc) {
  const TemporaryFolder folder;
  const Connection tcp{TcpAddress()};
  const Connection ipc{PathAddress(folder.path() + "/s")};
  EXPECT_FALSE(tcp.is_over());
  EXPECT_GE(shut_own_connections(), 4U);
  EXPECT_TRUE(tcp.is_over());
  EXPECT_TRUE(ipc.is_over());
}

TEST(OwnConnections, PairsOfSocketsAndListenersAreLeftAlone) {
  std::array<int, 2> pair{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()), 0);
  shut_own_connections();
  EXPECT_EQ(send(pair[0], "x", 1, MSG_NOSIGNAL), 1);
  char byte = 0;
  EXPECT_EQ(recv(pair[1], &byte, 1, MSG_DONTWAIT), 1);
  for (const int descriptor : pair) ::close(descriptor);
}

}  // namespace
}  // namespace sterna
