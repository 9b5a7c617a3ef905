// One connection of the server. Included by http_server.cc alone, because
// Boost is slow to compile.

#ifndef SERVICES_BIM360_EMULATOR_HTTP_CONNECTION_H_
#define SERVICES_BIM360_EMULATOR_HTTP_CONNECTION_H_

#include <algorithm>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "services/bim360_emulator/http_message.h"

namespace bimbackup::bim360_emulator {

// Reads a request, has it answered, writes the answer, and starts over.
// Lives as long as an operation of its own is pending. All methods run on
// the thread of its socket.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  HttpConnection(boost::asio::ip::tcp::socket socket, HttpHandler& handler)
      : socket_(std::move(socket)),
        timer_(socket_.get_executor()),
        handler_(handler) {}

  void Read();

 private:
  using Error = boost::system::error_code;
  using SteadyTime = std::chrono::steady_clock::time_point;

  void OnRead(Error error);
  HttpRequest TakeRequest();
  void Send(HttpResponse response);
  void WriteHead();
  void WriteBody();
  void WriteSlice(size_t count);
  void OnWritten(Error error);
  void End();
  void Close();

  std::string Head() const;
  // How many bytes of the body the next write takes.
  size_t NextSlice() const;
  // When a slice may leave, so that the rate holds; it is sent once its last
  // byte is due.
  SteadyTime DueAfter(size_t slice);
  bool FillSlice(size_t count);

  boost::asio::ip::tcp::socket socket_;
  boost::asio::steady_timer timer_;
  HttpHandler& handler_;
  boost::beast::flat_buffer input_;
  std::optional<
      boost::beast::http::request_parser<boost::beast::http::string_body>>
      parser_;
  bool keep_alive_ = false;
  bool head_only_ = false;

  HttpResponse response_;
  std::string output_;
  SteadyTime started_;
  int64_t sent_ = 0;   // Bytes of the body.
  int64_t limit_ = 0;  // Bytes of the body to send before the end.
  bool terminated_ = false;
};

}  // namespace bimbackup::bim360_emulator

#endif  // SERVICES_BIM360_EMULATOR_HTTP_CONNECTION_H_
