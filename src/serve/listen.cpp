#include "serve/listen.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/error.h"

namespace eureka::serve {
namespace {

constexpr int kBacklog = 128;

bool is_loopback(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    return ntohl(v4.sin_addr.s_addr) >> 24 == 127;
  }
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
  return IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
}

int port_of(int socket) {
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &size) != 0) return 0;
  return ntohs(own.ss_family == AF_INET ? reinterpret_cast<const sockaddr_in&>(own).sin_port
                                        : reinterpret_cast<const sockaddr_in6&>(own).sin6_port);
}

[[noreturn]] void refuse(int problem, const std::string& host, int port) {
  if (problem == EADDRINUSE)
    throw Error(ErrorKind::usage, fmt::format("port {} is taken", port), "--port",
                "another eureka serve may be running there; --port 0 takes any that is free");
  if (problem == EACCES)
    throw Error(ErrorKind::usage, fmt::format("port {} is not for everybody", port), "--port",
                "those from 1024 on are; --port 0 takes any that is free");
  if (problem == EADDRNOTAVAIL)
    throw Error(ErrorKind::usage, fmt::format("'{}' is no address of this machine", host), "--host",
                "--host 0.0.0.0 is all it has");
  throw Error(ErrorKind::usage, fmt::format("cannot listen there: {}", std::strerror(problem)),
              fmt::format("{} port {}", host, port));
}

}  // namespace

std::string Listening::authority() const {
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

Listening listen_at(const std::string& host, int port) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  const int problem = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (problem != 0)
    throw Error(ErrorKind::usage, fmt::format("'{}' is no address: {}", host, ::gai_strerror(problem)), "--host",
                "127.0.0.1 is this machine alone");
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses(found, &::freeaddrinfo);
  Listening listening{Opened(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0)), host, port,
                      is_loopback(*found->ai_addr)};
  const int socket = listening.socket.get();
  if (socket < 0) refuse(errno, host, port);
  // A port that was ours a moment ago can be had again at once.
  const int yes = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (::bind(socket, found->ai_addr, found->ai_addrlen) != 0 || ::listen(socket, kBacklog) != 0)
    refuse(errno, host, port);
  listening.port = port_of(socket);
  return listening;
}

}  // namespace eureka::serve
