#include "services/coordinator/http_side.h"

#include <sys/socket.h>

#include <atomic>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "httplib.h"
#include "services/common/clock.h"
#include "services/common/status_macros.h"
#include "services/coordinator/https_identity.h"

namespace bimbackup::coordinator {
namespace {

constexpr int kThreads = 4;

// Unlike httplib's default, does not share the port with another process.
void SetSocketOptions(int socket) {
  const int on = 1;
  setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
}

}  // namespace

struct HttpSide::Parts {
  SystemClock clock;
  std::unique_ptr<HttpsIdentity> identity;
  std::unique_ptr<httplib::Server> server;
  HttpPages pages;
  std::string address;
  std::atomic<bool> ended = false;
  std::thread thread;
};

std::unique_ptr<httplib::Server> HttpSide::MakeServer(
    const rpc::Security& security, Parts& parts) {
  if (!security.tls()) return std::make_unique<httplib::Server>();
  parts.identity =
      std::make_unique<HttpsIdentity>(security.files(), parts.clock);
  return std::make_unique<httplib::SSLServer>([&parts](SSL_CTX& context) {
    parts.identity->Install(context);
    return true;
  });
}

HttpSide::HttpSide(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

HttpSide::~HttpSide() { Stop(); }

absl::StatusOr<std::unique_ptr<HttpSide>> HttpSide::Bind(
    absl::string_view address, const rpc::Security& security) {
  const size_t colon = address.rfind(':');
  int port = 0;
  if (colon == absl::string_view::npos ||
      !absl::SimpleAtoi(address.substr(colon + 1), &port) || port < 0 ||
      port > 65535) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--http_listen: \"", address, "\" is not of the form host:port"));
  }
  const std::string host(address.data(), colon);
  ABSL_RETURN_IF_ERROR(security.CheckListen("--http_listen", address));
  auto parts = std::make_unique<Parts>();
  parts->server = MakeServer(security, *parts);
  parts->server->set_socket_options(SetSocketOptions);
  parts->server->new_task_queue = [] {
    return new httplib::ThreadPool(kThreads);
  };
  parts->server->set_keep_alive_timeout(1);
  parts->server->set_read_timeout(5);
  parts->server->set_write_timeout(5);
  const bool bound = port == 0
                         ? (port = parts->server->bind_to_any_port(host)) > 0
                         : parts->server->bind_to_port(host, port);
  if (!bound) {
    return absl::InvalidArgumentError(
        absl::StrCat("--http_listen: cannot listen on ", address,
                     ": the address is malformed, or another process has the "
                     "port"));
  }
  parts->address = absl::StrCat(host, ":", port);
  return std::unique_ptr<HttpSide>(new HttpSide(std::move(parts)));
}

void HttpSide::Serve(HttpPages pages) {
  Parts& parts = *parts_;
  parts.pages = std::move(pages);
  parts.server->Get("/healthz", [&parts](const auto&, auto& response) {
    const bool healthy = parts.pages.healthy();
    const std::string pause = healthy ? parts.pages.pause() : "";
    // A pause is not for a supervisor to mend: a restart would not make room.
    response.status = healthy ? 200 : 503;
    response.set_content(!healthy        ? "stopping\n"
                         : pause.empty() ? "ok\n"
                                         : "paused: " + pause + "\n",
                         "text/plain");
  });
  parts.server->Get("/metrics", [&parts](const auto&, auto& response) {
    response.set_content(parts.pages.metrics(),
                         "text/plain; version=0.0.4; charset=utf-8");
  });
  parts.server->Get("/", [&parts](const auto&, auto& response) {
    response.set_content(parts.pages.status(), "text/html; charset=utf-8");
  });
  parts.thread = std::thread([&parts] {
    parts.server->listen_after_bind();
    parts.ended = true;
  });
}

void HttpSide::Stop() {
  if (!parts_->thread.joinable()) return;
  // Before it runs, httplib's stop() has no effect.
  while (!parts_->server->is_running() && !parts_->ended) {
    std::this_thread::yield();
  }
  parts_->server->stop();
  parts_->thread.join();
}

const std::string& HttpSide::address() const { return parts_->address; }

}  // namespace bimbackup::coordinator
