#include "services/bim360_emulator/http_server.h"

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <deque>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "services/bim360_emulator/http_connection.h"
#include "services/common/status_macros.h"

namespace bimbackup::bim360_emulator {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;
using std::chrono::steady_clock;
using tcp = asio::ip::tcp;

constexpr size_t kMaxSlice = 128 << 10;
constexpr size_t kMaxPacedSlice = 64 << 10;
constexpr uint64_t kMaxRequestBody = 64 << 20;
constexpr uint32_t kMaxRequestHead = 256 << 10;
constexpr int kPacedSlicesPerSecond = 200;
// A paced answer that fell behind (a slow reader) may catch up this much.
constexpr auto kMaxCatchUp = std::chrono::milliseconds(50);

// The date changes once a second; formatting it costs more than the rest of
// a head.
const std::string& CachedDate() {
  thread_local int64_t second = 0;
  thread_local std::string text;
  const absl::Time now = absl::Now();
  if (absl::ToUnixSeconds(now) != second) {
    second = absl::ToUnixSeconds(now);
    text = HttpDate(now);
  }
  return text;
}

std::string ToString(boost::string_view text) {
  return std::string(text.data(), text.size());
}

}  // namespace

void HttpConnection::Read() {
  parser_.emplace();
  parser_->body_limit(kMaxRequestBody);
  parser_->header_limit(kMaxRequestHead);
  http::async_read(socket_, input_, *parser_,
                   [self = shared_from_this()](error_code error, size_t) {
                     self->OnRead(error);
                   });
}

void HttpConnection::OnRead(Error error) {
  if (error) return Close();
  keep_alive_ = parser_->get().keep_alive();
  head_only_ = parser_->get().method() == http::verb::head;
  handler_.Handle(
      TakeRequest(), [self = shared_from_this()](HttpResponse response) {
        asio::dispatch(self->socket_.get_executor(),
                       [self, response = std::move(response)]() mutable {
                         self->Send(std::move(response));
                       });
      });
}

HttpRequest HttpConnection::TakeRequest() {
  auto message = parser_->release();
  HttpRequest request;
  request.method = ToString(message.method_string());
  request.target = ToString(message.target());
  for (const auto& field : message) {
    request.headers.emplace_back(ToString(field.name_string()),
                                 ToString(field.value()));
  }
  request.body = std::move(message.body());
  return request;
}

void HttpConnection::Send(HttpResponse response) {
  response_ = std::move(response);
  const absl::Duration delay = response_.delivery.delay;
  if (delay <= absl::ZeroDuration()) return WriteHead();
  timer_.expires_after(absl::ToChronoNanoseconds(delay));
  timer_.async_wait([self = shared_from_this()](Error error) {
    if (!error) self->WriteHead();
  });
}

std::string HttpConnection::Head() const {
  const int status = response_.status;
  std::string head = absl::StrCat(
      "HTTP/1.1 ", status, " ",
      ToString(http::obsolete_reason(static_cast<http::status>(status))),
      "\r\nDate: ", CachedDate(), "\r\n");
  for (const auto& [name, value] : response_.headers) {
    absl::StrAppend(&head, name, ": ", value, "\r\n");
  }
  if (response_.delivery.chunked_coding) {
    absl::StrAppend(&head, "Transfer-Encoding: chunked\r\n");
  } else if (status != 304 && status != 204) {
    absl::StrAppend(&head, "Content-Length: ", response_.BodySize(), "\r\n");
  }
  if (!keep_alive_) absl::StrAppend(&head, "Connection: close\r\n");
  head.append("\r\n");
  return head;
}

void HttpConnection::WriteHead() {
  const Delivery& delivery = response_.delivery;
  const bool cut = delivery.end != Delivery::End::kComplete;
  if (cut && delivery.end_after < 0) return End();
  sent_ = 0;
  limit_ = head_only_ ? 0 : response_.BodySize();
  if (cut) limit_ = std::min(limit_, delivery.end_after);
  terminated_ = !delivery.chunked_coding || head_only_ || cut;
  started_ = steady_clock::now();
  output_ = Head();
  if (delivery.bytes_per_second > 0) {
    asio::async_write(socket_, asio::buffer(output_),
                      [self = shared_from_this()](Error error, size_t) {
                        self->OnWritten(error);
                      });
    return;
  }
  WriteSlice(NextSlice());
}

size_t HttpConnection::NextSlice() const {
  const int64_t left = limit_ - sent_;
  const int64_t rate = response_.delivery.bytes_per_second;
  if (rate <= 0) return std::min<int64_t>(left, kMaxSlice);
  const int64_t paced = std::max<int64_t>(1, rate / kPacedSlicesPerSecond);
  return std::min<int64_t>({left, paced, kMaxPacedSlice});
}

HttpConnection::SteadyTime HttpConnection::DueAfter(size_t slice) {
  const double rate = response_.delivery.bytes_per_second;
  const auto since_start = std::chrono::duration_cast<steady_clock::duration>(
      std::chrono::duration<double>((sent_ + slice) / rate));
  const SteadyTime earliest = steady_clock::now() - kMaxCatchUp;
  if (started_ + since_start < earliest) started_ = earliest - since_start;
  return started_ + since_start;
}

void HttpConnection::WriteBody() {
  const size_t slice = NextSlice();
  output_.clear();
  if (response_.delivery.bytes_per_second <= 0 || slice == 0) {
    return WriteSlice(slice);
  }
  const SteadyTime due = DueAfter(slice);
  if (due <= steady_clock::now()) return WriteSlice(slice);
  timer_.expires_at(due);
  timer_.async_wait([self = shared_from_this(), slice](Error error) {
    if (!error) self->WriteSlice(slice);
  });
}

bool HttpConnection::FillSlice(size_t count) {
  const size_t start = output_.size();
  if (response_.content == nullptr) {
    output_.append(response_.body, sent_, count);
  } else {
    output_.resize(start + count);
    if (!response_.content->Read(response_.offset + sent_,
                                 output_.data() + start, count)) {
      return false;
    }
  }
  const int64_t corrupt_at = response_.delivery.corrupt_at;
  if (corrupt_at >= sent_ && corrupt_at < sent_ + static_cast<int64_t>(count)) {
    output_[start + corrupt_at - sent_] ^= 0x55;
  }
  return true;
}

void HttpConnection::WriteSlice(size_t count) {
  const bool coded = response_.delivery.chunked_coding && !head_only_;
  if (coded && count > 0) absl::StrAppend(&output_, absl::Hex(count), "\r\n");
  if (!FillSlice(count)) return Close();
  if (coded && count > 0) output_.append("\r\n");
  sent_ += count;
  if (!terminated_ && sent_ == limit_) {
    output_.append("0\r\n\r\n");
    terminated_ = true;
  }
  asio::async_write(socket_, asio::buffer(output_),
                    [self = shared_from_this()](Error error, size_t) {
                      self->OnWritten(error);
                    });
}

void HttpConnection::OnWritten(Error error) {
  if (error) return Close();
  if (sent_ < limit_ || !terminated_) return WriteBody();
  if (response_.delivery.end != Delivery::End::kComplete) return End();
  response_ = HttpResponse();
  if (!keep_alive_) return Close();
  Read();
}

void HttpConnection::End() {
  const Delivery::End end = response_.delivery.end;
  if (end == Delivery::End::kStall) {
    // Readable means that the client has closed: it has nothing to ask
    // before it is answered.
    socket_.async_wait(tcp::socket::wait_read,
                       [self = shared_from_this()](Error) { self->Close(); });
    return;
  }
  if (end == Delivery::End::kReset) {
    error_code ignored;
    socket_.set_option(asio::socket_base::linger(true, 0), ignored);
    socket_.close(ignored);
    return;
  }
  Close();
}

void HttpConnection::Close() {
  error_code ignored;
  socket_.shutdown(tcp::socket::shutdown_both, ignored);
  socket_.close(ignored);
}

namespace {

class BeastServer : public HttpServer {
 public:
  BeastServer(int threads, HttpHandler& handler) : handler_(handler) {
    for (int i = 0; i < threads; ++i) contexts_.emplace_back(1);
    acceptor_.emplace(contexts_[0]);
    retry_.emplace(contexts_[0]);
  }
  ~BeastServer() override { Stop(); }

  absl::Status Listen(const tcp::endpoint& endpoint);
  std::string address() const override { return address_; }
  void Stop() override;
  int64_t connections_accepted() const override { return accepted_; }

 private:
  void Accept();

  HttpHandler& handler_;
  // One a thread, so that a connection needs no strand.
  std::deque<asio::io_context> contexts_;
  std::optional<tcp::acceptor> acceptor_;
  std::optional<asio::steady_timer> retry_;
  std::vector<std::thread> threads_;
  std::string address_;
  std::atomic<int64_t> accepted_{0};
};

absl::Status BeastServer::Listen(const tcp::endpoint& endpoint) {
  error_code error;
  acceptor_->open(endpoint.protocol(), error);
  if (!error) acceptor_->set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor_->bind(endpoint, error);
  if (!error) acceptor_->listen(4096, error);
  if (error) {
    return absl::UnavailableError(
        absl::StrCat("cannot listen on ", endpoint.address().to_string(), ":",
                     endpoint.port(), ": ", error.message()));
  }
  const tcp::endpoint bound = acceptor_->local_endpoint(error);
  const std::string host = bound.address().to_string();
  address_ = absl::StrCat(bound.address().is_v6() ? "[" + host + "]" : host,
                          ":", bound.port());
  Accept();
  for (asio::io_context& context : contexts_) {
    threads_.emplace_back([&context] {
      const auto work = asio::make_work_guard(context);
      context.run();
    });
  }
  return absl::OkStatus();
}

void BeastServer::Accept() {
  asio::io_context& context = contexts_[accepted_ % contexts_.size()];
  acceptor_->async_accept(
      context, [this](error_code error, tcp::socket socket) {
        if (error == asio::error::operation_aborted) return;
        if (error) {
          // Out of descriptors: go on when some are free again.
          retry_->expires_after(std::chrono::milliseconds(10));
          retry_->async_wait([this](error_code stopped) {
            if (!stopped) Accept();
          });
          return;
        }
        ++accepted_;
        socket.set_option(tcp::no_delay(true), error);
        const auto executor = socket.get_executor();
        asio::dispatch(executor, [connection = std::make_shared<HttpConnection>(
                                      std::move(socket), handler_)] {
          connection->Read();
        });
        Accept();
      });
}

void BeastServer::Stop() {
  for (asio::io_context& context : contexts_) context.stop();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  error_code ignored;
  acceptor_->close(ignored);
}

}  // namespace

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(
    const std::string& listen, int threads, HttpHandler& handler) {
  const size_t colon = listen.rfind(':');
  int port = -1;
  error_code error;
  asio::ip::address address;
  if (colon != std::string::npos) {
    std::string host = listen.substr(0, colon);
    if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
      host = host.substr(1, host.size() - 2);
    }
    if (host == "localhost") host = "127.0.0.1";
    address = asio::ip::make_address(host, error);
    if (!absl::SimpleAtoi(listen.substr(colon + 1), &port)) port = -1;
  }
  if (error || port < 0 || port > 65535) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", listen, "\" is not address:port"));
  }
  auto server = std::make_unique<BeastServer>(threads, handler);
  ABSL_RETURN_IF_ERROR(server->Listen(tcp::endpoint(address, port)));
  return server;
}

}  // namespace bimbackup::bim360_emulator
