// A server on loopback that says byte for byte what a test tells it to.

#ifndef CLIENTS_HTTP_LOOPBACK_SERVER_H_
#define CLIENTS_HTTP_LOOPBACK_SERVER_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/string_view.h"
#include "services/common/mutex.h"

namespace bimbackup::http {

// One connection, as the handler of a request sees it.
class LoopbackConnection {
 public:
  explicit LoopbackConnection(int socket) : socket_(socket) {}

  // False once the other side has gone or the server stops.
  bool Send(absl::string_view bytes);
  // Waits until the other side closes or the server stops.
  void WaitUntilClosed();
  // Ends the connection, with a reset where `reset` is set.
  void Close(bool reset = false);
  bool closed() const { return closed_; }

 private:
  friend class LoopbackServer;
  // Reads up to the end of a request's head, and its body by Content-Length.
  bool ReadRequest(std::string& head, std::string& body);

  const int socket_;
  bool closed_ = false;
  std::string unread_;
};

// Answers every connection on a thread of its own, on a free port. For tests
// only. Thread-safe.
class LoopbackServer {
 public:
  // Gets the request's target ("/path?query"), head and body.
  struct Call {
    std::string method;
    std::string target;
    std::string head;
    std::string body;
  };
  using Handler = std::function<void(const Call&, LoopbackConnection&)>;

  explicit LoopbackServer(Handler handler);
  ~LoopbackServer();

  int port() const { return port_; }
  // "http://127.0.0.1:port".
  std::string Url(absl::string_view target = "") const;
  int connections() const { return connections_; }

  // A complete answer with Content-Length.
  static std::string Answer(int status, absl::string_view body,
                            absl::string_view headers = "");

 private:
  void Accept();
  void Serve(int socket);

  const Handler handler_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<int> connections_ = 0;
  Mutex mutex_;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<int> sockets_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mutex_);
  std::thread acceptor_;
};

}  // namespace bimbackup::http

#endif  // CLIENTS_HTTP_LOOPBACK_SERVER_H_
