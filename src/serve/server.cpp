#include "serve/server.h"

#include <fmt/format.h>
#include <microhttpd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>

#include "serve/confine.h"
#include "serve/guard.h"
#include "serve/listen.h"
#include "serve/site.h"
#include "serve/viewer.h"

namespace eureka::serve {
namespace {

constexpr std::size_t kRequestBytes = 32 << 10;  // line and headers
constexpr std::size_t kStackBytes = 2 << 20, kStreamPiece = 32 << 10;
constexpr unsigned kIdleSeconds = 60;

// From its first line until it is answered.
struct Request {
  std::string target;
  bool has_headers = false;
};

std::string header(MHD_Connection* connection, const char* name) {
  const char* value = ::MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
  return value == nullptr ? "" : value;
}

bool has_body(MHD_Connection* connection) {
  const std::string length = header(connection, "Content-Length");
  return (!length.empty() && length != "0") || !header(connection, "Transfer-Encoding").empty();
}

void add_headers(MHD_Response* response, const Answer& answer) {
  const auto add = [&](const char* name, const char* value) { ::MHD_add_response_header(response, name, value); };
  add("Content-Type", answer.type);
  add("Content-Security-Policy", answer.policy);
  add("X-Content-Type-Options", "nosniff");
  add("Referrer-Policy", "no-referrer");
  add("Cross-Origin-Resource-Policy", "same-origin");
  add("Cross-Origin-Opener-Policy", "same-origin");
  add("X-Frame-Options", "DENY");
  add("Cache-Control", "no-store");
  if (!answer.location.empty()) add("Location", answer.location.c_str());
  if (!answer.cookie.empty()) add("Set-Cookie", answer.cookie.c_str());
  if (answer.status == MHD_HTTP_METHOD_NOT_ALLOWED) add("Allow", "GET, HEAD");
}

MHD_Result send(MHD_Connection* connection, const Answer& answer) {
  using Body = std::shared_ptr<const std::string>;
  auto* body = new Body(answer.body);
  MHD_Response* response = ::MHD_create_response_from_buffer_with_free_callback_cls(
      (*body)->size(), const_cast<char*>((*body)->data()), [](void* held) { delete static_cast<Body*>(held); }, body);
  if (response == nullptr) {
    delete body;
    return MHD_NO;
  }
  add_headers(response, answer);
  const MHD_Result result = ::MHD_queue_response(connection, answer.status, response);
  ::MHD_destroy_response(response);
  return result;
}

// A viewer and what is still to be sent of what it said last.
struct Stream {
  Stream(std::unique_ptr<Viewer> who, std::atomic<unsigned>& count) : viewer(std::move(who)), viewers(count) {
    ++viewers;
  }
  ~Stream() { --viewers; }

  std::unique_ptr<Viewer> viewer;
  std::atomic<unsigned>& viewers;
  std::string pending;
};

ssize_t read_stream(void* held, std::uint64_t, char* into, std::size_t most) {
  auto& stream = *static_cast<Stream*>(held);
  try {
    if (stream.pending.empty()) {
      auto next = stream.viewer->next();
      if (!next) return MHD_CONTENT_READER_END_OF_STREAM;
      stream.pending = std::move(*next);
    }
  } catch (const std::exception&) {
    return MHD_CONTENT_READER_END_WITH_ERROR;
  }
  const std::size_t count = std::min(most, stream.pending.size());
  std::copy_n(stream.pending.data(), count, into);
  stream.pending.erase(0, count);
  return static_cast<ssize_t>(count);
}

}  // namespace

class Server::Parts {
 public:
  Parts(const ServeOptions& options, const Catalog& catalog);
  ~Parts() { stop(); }
  void stop();

  std::string address() const {
    return fmt::format("http://{}/{}", listening_.authority(), token_ ? "?token=" + token_->text() : "");
  }
  const Listening& listening() const { return listening_; }

 private:
  MHD_Daemon* start();
  MHD_Result handle(MHD_Connection* connection, const char* method, Request& request);
  MHD_Result respond(MHD_Connection* connection, const Request& request);
  MHD_Result begin_stream(MHD_Connection* connection, const RequestTarget& target);
  void refuse_strangers(MHD_Connection* connection) const;
  std::optional<Answer> let_in(MHD_Connection* connection, const RequestTarget& target) const;
  std::string cookie_name() const { return fmt::format("eureka_{}", listening_.port); }

  ServeOptions options_;
  ServedTree tree_;
  Listening listening_;
  std::optional<Token> token_;
  bool is_confined_;  // before there are threads
  RunIndex index_;
  Api api_;
  NewsBoard board_;
  Watch watch_;
  Deadlines deadlines_;
  std::atomic<unsigned> viewers_{0};
  MHD_Daemon* daemon_ = nullptr;
};

Server::Parts::Parts(const ServeOptions& options, const Catalog& catalog)
    : options_(options),
      tree_(options.directory),
      listening_(listen_at(options.host, options.port)),
      is_confined_(options.confines && confine_to(tree_.root())),
      index_(tree_),
      api_(tree_, index_, catalog),
      board_(tree_),
      watch_(tree_, index_),
      deadlines_(options.limits) {
  if (!listening_.is_loopback || options.asks_for_token) token_ = Token::random();
  daemon_ = start();
  if (daemon_ == nullptr) throw Error(ErrorKind::failed, "the server cannot be started", listening_.authority());
}

MHD_Daemon* Server::Parts::start() {
  const auto on_line = [](void*, const char* target, MHD_Connection*) -> void* { return new Request{target}; };
  const auto on_request = [](void* self, MHD_Connection* connection, const char*, const char* method, const char*,
                             const char*, std::size_t* bytes, void** request) -> MHD_Result {
    if (*request == nullptr) return MHD_NO;
    *bytes = 0;
    return static_cast<Parts*>(self)->handle(connection, method, *static_cast<Request*>(*request));
  };
  const auto on_answered = [](void* self, MHD_Connection* connection, void** request, MHD_RequestTerminationCode) {
    delete static_cast<Request*>(std::exchange(*request, nullptr));
    static_cast<Parts*>(self)->deadlines_.enter(connection, Deadlines::Phase::request);
  };
  const auto on_connection = [](void* self, MHD_Connection* connection, void**, MHD_ConnectionNotificationCode what) {
    Deadlines& deadlines = static_cast<Parts*>(self)->deadlines_;
    if (what == MHD_CONNECTION_NOTIFY_CLOSED) return deadlines.end(connection);
    deadlines.begin(connection, ::MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd);
  };
  using OnLine = void* (*)(void*, const char*, MHD_Connection*);
  return ::MHD_start_daemon(
      MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL, 0, nullptr, nullptr,
      static_cast<MHD_AccessHandlerCallback>(on_request), this,                                      //
      MHD_OPTION_LISTEN_SOCKET, ::dup(listening_.socket.get()),                                      //
      MHD_OPTION_CONNECTION_LIMIT, options_.connections,                                             //
      MHD_OPTION_CONNECTION_TIMEOUT, kIdleSeconds,                                                   //
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, kRequestBytes,                                             //
      MHD_OPTION_THREAD_STACK_SIZE, kStackBytes,                                                     //
      MHD_OPTION_STRICT_FOR_CLIENT, 1,                                                               //
      MHD_OPTION_URI_LOG_CALLBACK, static_cast<OnLine>(on_line), this,                               //
      MHD_OPTION_NOTIFY_COMPLETED, static_cast<MHD_RequestCompletedCallback>(on_answered), this,     //
      MHD_OPTION_NOTIFY_CONNECTION, static_cast<MHD_NotifyConnectionCallback>(on_connection), this,  //
      MHD_OPTION_END);
}

void Server::Parts::stop() {
  watch_.stop();
  if (daemon_ != nullptr) ::MHD_stop_daemon(std::exchange(daemon_, nullptr));
  deadlines_.stop();
}

// Called twice for each request: when its headers are there, and when it is whole. What is answered the first time ends
// the connection.
MHD_Result Server::Parts::handle(MHD_Connection* connection, const char* method, Request& request) {
  try {
    const std::string_view verb = method;
    if (verb != "GET" && verb != "HEAD")
      throw Refusal(405, "only GET and HEAD are answered", "nothing can be changed here");
    if (has_body(connection)) throw Refusal(400, "a request here has no body");
    if (!std::exchange(request.has_headers, true)) return MHD_YES;
    deadlines_.enter(connection, Deadlines::Phase::answer);
    return respond(connection, request);
  } catch (const Refusal& refusal) {
    return send(connection, refusal.answer());
  } catch (const Error& error) {
    return send(connection, Refusal(500, error.what(), error.hint()).answer());
  } catch (const std::exception& error) {
    return send(connection, Refusal(500, fmt::format("this cannot be shown: {}", error.what())).answer());
  }
}

MHD_Result Server::Parts::respond(MHD_Connection* connection, const Request& request) {
  refuse_strangers(connection);
  const std::optional<RequestTarget> target = parse_request_target(request.target);
  if (!target) throw Refusal(400, "this is no address of ours", "begin at /");
  if (const auto first = let_in(connection, *target)) return send(connection, *first);
  if (target->path == "/api/stream") return begin_stream(connection, *target);
  return send(connection, site_answer(api_, *target));
}

void Server::Parts::refuse_strangers(MHD_Connection* connection) const {
  const std::string host = header(connection, "Host");
  if (is_local_host(host)) return;
  std::array<char, 256> own{};
  ::gethostname(own.data(), own.size() - 1);
  const std::string_view name = without_port(host);
  if (!name.empty() && token_ && (name == options_.host || name == std::string_view(own.data()))) return;
  throw Refusal(421, "this server is not for that name",
                fmt::format("ask it by its address: http://{}/", listening_.authority()));
}

// Nothing for those who have shown the token; for those who show it with the address, a cookie in its place.
std::optional<Answer> Server::Parts::let_in(MHD_Connection* connection, const RequestTarget& target) const {
  if (!token_) return std::nullopt;
  const std::string cookies = header(connection, "Cookie");
  const auto shown = target.find("token");
  if (shown && token_->is(*shown)) {
    if (target.path != "/" && target.path != "/plain") return std::nullopt;
    Answer on = text_answer(kHtml, "");
    on.status = 303, on.location = target.path;
    on.cookie = fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict", cookie_name(), token_->text());
    return on;
  }
  if (token_->is(cookie_value(cookies, cookie_name()))) return std::nullopt;
  throw Refusal(401, "this needs the token", "open the address that eureka serve has printed, with its ?token=...");
}

MHD_Result Server::Parts::begin_stream(MHD_Connection* connection, const RequestTarget& target) {
  const std::string id = target.find("id").value_or("");
  if (!id.empty() && !is_entry_id(id)) throw Refusal(400, "this is no id", "ids are those of /api/index");
  if (!id.empty()) {
    const auto index = index_.snapshot_with(id);
    const IndexEntry* entry = index->find(id);
    if (entry == nullptr || !entry->run) throw Refusal(404, "there is no such run", "/api/index lists those that are");
  }
  if (viewers_ >= options_.connections / 2) throw Refusal(503, "too many watch already", "close some other window");
  const std::string resumed = header(connection, "Last-Event-ID");
  const std::string place = resumed.empty() ? target.find("from").value_or("") : resumed;
  const int socket = ::MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
  auto stream = std::make_unique<Stream>(std::make_unique<Viewer>(tree_, board_, watch_, id, place, socket), viewers_);
  MHD_Response* response =
      ::MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, kStreamPiece, &read_stream, stream.get(),
                                          [](void* held) { delete static_cast<Stream*>(held); });
  if (response == nullptr) return MHD_NO;
  static_cast<void>(stream.release());  // the response has it
  add_headers(response, {.type = "text/event-stream; charset=utf-8"});
  deadlines_.enter(connection, Deadlines::Phase::stream);
  const MHD_Result result = ::MHD_queue_response(connection, MHD_HTTP_OK, response);
  ::MHD_destroy_response(response);
  return result;
}

Server::Server(const ServeOptions& options, const Catalog& catalog)
    : parts_(std::make_unique<Parts>(options, catalog)) {}
Server::~Server() = default;

std::string Server::address() const { return parts_->address(); }
int Server::port() const { return parts_->listening().port; }
bool Server::is_loopback() const { return parts_->listening().is_loopback; }
void Server::stop() { parts_->stop(); }

}  // namespace eureka::serve
