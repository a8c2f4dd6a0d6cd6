// Just enough of HTTP over a socket on loopback to ask a server of ours: written here, so that it shares no mistake
// with the server.
//
//   HttpReply reply = http_get(port, "/api/index");
//   EventStream stream(port, "/api/stream?id=run");
//   stream.wait_for("event: row", 2);
#pragma once

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

namespace eureka {

class LoopbackSocket {
 public:
  explicit LoopbackSocket(int port) : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
      throw std::runtime_error("nobody listens");
  }
  ~LoopbackSocket() { ::close(descriptor_); }
  LoopbackSocket(const LoopbackSocket&) = delete;
  LoopbackSocket& operator=(const LoopbackSocket&) = delete;

  bool send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t n = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }
  // What has come within that time; nothing and `ended` when the other side has closed.
  std::string receive(std::chrono::milliseconds patience, bool& ended) const {
    pollfd state{descriptor_, POLLIN, 0};
    ended = false;
    if (::poll(&state, 1, static_cast<int>(patience.count())) <= 0) return {};
    std::string bytes(1 << 16, '\0');
    const ssize_t n = ::recv(descriptor_, bytes.data(), bytes.size(), 0);
    ended = n <= 0;
    bytes.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return bytes;
  }
  // Until the other side closes.
  std::string receive_all() const {
    std::string all;
    for (bool ended = false; !ended;) all += receive(std::chrono::minutes(2), ended);
    return all;
  }

 private:
  int descriptor_;
};

struct HttpReply {
  int status = 0;
  std::map<std::string, std::string> headers;  // names in small letters
  std::string body;

  std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }
};

inline HttpReply parse_reply(const std::string& bytes) {
  HttpReply reply;
  const std::size_t end = bytes.find("\r\n\r\n");
  if (!bytes.starts_with("HTTP/1.") || end == std::string::npos) return reply;
  reply.status = std::stoi(bytes.substr(9, 3));
  for (std::size_t at = bytes.find("\r\n") + 2; at < end;) {
    const std::size_t stop = bytes.find("\r\n", at);
    const std::string line = bytes.substr(at, stop - at);
    std::string name = line.substr(0, line.find(':'));
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    reply.headers[name] = line.substr(std::min(line.size(), line.find(':') + 2));
    at = stop + 2;
  }
  reply.body = bytes.substr(end + 4);
  return reply;
}

// Sends these bytes and reads until the connection ends.
inline std::string http_raw(int port, std::string_view bytes) {
  const LoopbackSocket socket(port);
  socket.send(bytes);
  return socket.receive_all();
}

// `more`: whole header lines, each ended by "\r\n"; one of them may be another Host.
inline HttpReply http_get(int port, const std::string& target, const std::string& more = "",
                          const std::string& method = "GET") {
  const std::string host = more.find("Host:") == std::string::npos ? "Host: 127.0.0.1\r\n" : "";
  return parse_reply(
      http_raw(port, method + " " + target + " HTTP/1.1\r\n" + host + more + "Connection: close\r\n\r\n"));
}

// A stream of server-sent events, as bytes with the marks of HTTP's chunks in between.
class EventStream {
 public:
  EventStream(int port, const std::string& target, const std::string& more = "") : socket_(port) {
    socket_.send("GET " + target + " HTTP/1.1\r\nHost: localhost\r\n" + more + "\r\n");
  }

  std::size_t count(std::string_view words) const {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = text_.find(words, at)) != std::string::npos; at += words.size()) ++found;
    return found;
  }
  // Until the words have come so often; false if the stream ends before, or nothing comes for long.
  bool wait_for(std::string_view words, std::size_t times = 1) {
    while (count(words) < times) {
      bool ended = false;
      const std::string bytes = socket_.receive(std::chrono::minutes(1), ended);
      if (bytes.empty()) return false;
      text_ += bytes;
    }
    return true;
  }
  bool wait_for_end() {
    for (bool ended = false; !ended;) {
      const std::string bytes = socket_.receive(std::chrono::minutes(1), ended);
      if (bytes.empty() && !ended) return false;
      text_ += bytes;
    }
    return true;
  }
  const std::string& text() const { return text_; }

 private:
  LoopbackSocket socket_;
  std::string text_;
};

}  // namespace eureka
