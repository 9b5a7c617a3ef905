#include "services/bim360_emulator/dispatcher.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "services/bim360_emulator/authentication.h"
#include "services/bim360_emulator/directory_source.h"
#include "services/bim360_emulator/error_responses.h"
#include "services/bim360_emulator/gzip.h"

namespace bimbackup::bim360_emulator {
namespace {

bool IsStorage(Endpoint endpoint) {
  return endpoint == Endpoint::kStorage ||
         endpoint == Endpoint::kSignedResource;
}

// The value of Retry-After for a fault's "5" or "date:5".
std::string RetryAfter(absl::string_view text, absl::Time now) {
  int64_t seconds = 0;
  if (!absl::ConsumePrefix(&text, "date:") ||
      !absl::SimpleAtoi(text, &seconds)) {
    return std::string(text.data(), text.size());
  }
  return HttpDate(now + absl::Seconds(seconds));
}

HttpResponse StatusFault(const FaultAction& fault, Endpoint endpoint,
                         absl::Time now) {
  HttpResponse response;
  if (IsStorage(endpoint)) {
    response = StorageError(fault.status,
                            fault.status == 503 ? "SlowDown" : "InternalError",
                            "A fault rule says so.");
  } else if (fault.status == 429) {
    response = GatewayError(429, "ERR-001", "Quota limit exceeded.");
  } else {
    response = DataError(fault.status, "EMULATED", "A fault rule says so.");
  }
  if (!fault.body.empty()) response.body = fault.body;
  if (!fault.retry_after.empty()) {
    response.headers.emplace_back("Retry-After",
                                  RetryAfter(fault.retry_after, now));
  }
  return response;
}

void CutBody(int64_t bytes, HttpResponse& response) {
  if (response.content != nullptr) {
    response.length = std::min(response.length, bytes);
  } else {
    response.body.resize(std::min<int64_t>(response.body.size(), bytes));
  }
}

constexpr int64_t kMaxNesting = 1 << 20;
constexpr int64_t kMaxPadding = 1 << 30;

// Gives a JSON object one more member, an array in arrays.
void NestJson(int64_t depth, std::string& body) {
  if (body.empty() || body[0] != '{') return;
  const bool alone = body.find_first_not_of(" \n", 1) == body.find('}');
  body.insert(1, absl::StrCat("\"deep\":", std::string(depth, '['),
                              std::string(depth, ']'), alone ? "" : ","));
}

// The body in gzip's format, though nothing is compressed.
void Gzip(HttpResponse& response) {
  if (response.content != nullptr) {
    response.body.resize(response.length);
    if (!response.content->Read(response.offset, response.body.data(),
                                response.length)) {
      response.body.clear();
    }
    response.content = nullptr;
  }
  response.body = GzipStored(response.body);
  response.headers.emplace_back("Content-Encoding", "gzip");
}

// What a fault does to a finished answer's way.
void ApplyDelivery(const FaultAction& fault, double time_scale,
                   HttpResponse& response) {
  Delivery& delivery = response.delivery;
  switch (fault.type) {
    case FaultType::kStall:
      delivery.end = Delivery::End::kStall;
      delivery.end_after = fault.bytes;
      break;
    case FaultType::kReset:
      delivery.end = Delivery::End::kReset;
      delivery.end_after = fault.bytes;
      break;
    case FaultType::kShort:
      delivery.end = Delivery::End::kClose;
      delivery.end_after = std::max<int64_t>(0, fault.bytes);
      break;
    case FaultType::kTruncate:
      CutBody(std::max<int64_t>(0, fault.bytes), response);
      break;
    case FaultType::kCorrupt:
      delivery.corrupt_at = std::max<int64_t>(0, fault.bytes);
      break;
    case FaultType::kDrip:
      delivery.bytes_per_second = std::max<int64_t>(1, fault.bytes);
      break;
    case FaultType::kDelay:
      delivery.delay += fault.delay / time_scale;
      break;
    case FaultType::kMalformedJson:
      CutBody(response.BodySize() / 2, response);
      break;
    case FaultType::kTransferChunked:
      delivery.chunked_coding = true;
      break;
    case FaultType::kDeepJson:
      NestJson(std::clamp<int64_t>(fault.bytes, 1, kMaxNesting), response.body);
      break;
    case FaultType::kHugeJson:
      response.body.append(std::clamp<int64_t>(fault.bytes, 0, kMaxPadding),
                           ' ');
      break;
    case FaultType::kGzip:
      Gzip(response);
      break;
    default:
      break;
  }
}

}  // namespace

std::string Dispatcher::BaseOf(const HttpRequest& http) const {
  if (!parts_.options.public_url.empty()) return parts_.options.public_url;
  return absl::StrCat("http://", http.Header("Host"));
}

std::string Dispatcher::SubjectOf(const ApiRequest& request) const {
  const Route& route = request.route;
  switch (route.endpoint) {
    case Endpoint::kContents: {
      const std::string page = request.http.Parameter("page[number]");
      return absl::StrCat(route.ids[1], " page ", page.empty() ? "0" : page);
    }
    case Endpoint::kSign:
    case Endpoint::kStorage:
      return route.ids[1];
    default:
      return "";
  }
}

std::string Dispatcher::NameOf(const ApiRequest& request) const {
  const Route& route = request.route;
  const Account& account = parts_.account;
  if (route.endpoint == Endpoint::kSign ||
      route.endpoint == Endpoint::kStorage) {
    const auto key = account.ids().ParseObjectKey(route.ids[1]);
    if (!key.has_value()) return "";
    const auto object = account.FindObject(*key);
    return object.ok() ? object->name : "";
  }
  if (route.endpoint == Endpoint::kContents ||
      route.endpoint == Endpoint::kFolder) {
    const auto project = account.FindProject(route.ids[0]);
    const auto key = account.ids().ParseFolderId(route.ids[1]);
    if (!project.ok() || !key.has_value()) return "";
    const auto folder = account.FindFolder(project->index, *key);
    return folder.ok() ? folder->name : "";
  }
  if (route.endpoint == Endpoint::kTopFolders) {
    const auto project = account.FindProject(route.ids[1]);
    return project.ok() ? project->name : "";
  }
  return "";
}

std::optional<FaultAction> Dispatcher::FindFault(const ApiRequest& request) {
  if (parts_.faults.empty()) return std::nullopt;
  const std::string name = NameOf(request);
  const std::string target = UrlDecode(request.http.target);
  FaultSubject subject;
  subject.endpoint = request.route.endpoint;
  subject.method = request.http.method;
  subject.target = target;
  subject.ids = &request.route.ids;
  subject.name = name;
  return parts_.faults.Find(subject);
}

HttpResponse Dispatcher::TooMany(absl::Duration wait) const {
  HttpResponse response = GatewayError(429, "ERR-001", "Quota limit exceeded.");
  const int64_t seconds =
      std::max<int64_t>(1, std::ceil(absl::ToDoubleSeconds(wait)));
  response.headers.emplace_back("Server", "Apigee Router");
  // A date has whole seconds, so that one more keeps it from being early.
  response.headers.emplace_back(
      "Retry-After",
      parts_.options.retry_after_date
          ? HttpDate(parts_.clock.Now() + absl::Seconds(seconds + 1))
          : absl::StrCat(seconds));
  return response;
}

void Dispatcher::Shape(const ApiRequest& request,
                       HttpResponse& response) const {
  const EmulatorOptions& options = parts_.options;
  Delivery& delivery = response.delivery;
  if (IsStorage(request.route.endpoint)) {
    delivery.delay = options.first_byte_latency / options.time_scale;
    delivery.bytes_per_second = static_cast<int64_t>(
        static_cast<double>(options.connection_bandwidth) * options.time_scale);
  } else {
    delivery.delay = options.api_latency / options.time_scale;
  }
  if (request.fault.has_value()) {
    ApplyDelivery(*request.fault, options.time_scale, response);
  }
}

void Dispatcher::Answer(std::shared_ptr<const ApiRequest> request,
                        Responder respond) {
  const Endpoint endpoint = request->route.endpoint;
  if (endpoint == Endpoint::kUnknown) {
    return respond(GatewayError(404, "ERR-404", "No such endpoint."));
  }
  if (endpoint == Endpoint::kToken) {
    return respond(HandleToken(parts_, *request));
  }
  if (IsStorage(endpoint)) return objects_.Handle(request, respond);
  std::optional<HttpResponse> refusal = RefuseUnauthorized(parts_, *request);
  if (refusal.has_value()) return respond(*std::move(refusal));
  if (endpoint >= Endpoint::kSign) return objects_.Handle(request, respond);
  if (endpoint == Endpoint::kProjects && parts_.directory != nullptr) {
    // A backup starts here: what changed on disk shows from now on.
    const bool posted = parts_.work.Post([this, request, respond] {
      parts_.directory->Rescan();
      respond(data_management_.Handle(*request));
    });
    if (!posted) respond(GatewayError(503, "ERR-003", "Too busy."));
    return;
  }
  respond(data_management_.Handle(*request));
}

void Dispatcher::Handle(HttpRequest http, Responder respond) {
  auto request = std::make_shared<ApiRequest>();
  request->http = std::move(http);
  request->base = BaseOf(request->http);
  if (request->http.Path() == "/healthz") {
    return respond(JsonResponse(R"({"status":"ok"})"));
  }
  request->route = FindRoute(request->http.method, request->http.Path());
  if (request->route.endpoint == Endpoint::kAdmin) {
    return admin_.Handle(request, std::move(respond));
  }
  const auto finish = [this, request, respond](HttpResponse response) {
    Shape(*request, response);
    const bool whole = (response.status == 200 || response.status == 206) &&
                       response.delivery.end == Delivery::End::kComplete;
    parts_.log.Add(request->route.endpoint, SubjectOf(*request), whole,
                   response.BodySize());
    respond(std::move(response));
  };
  const std::optional<absl::Duration> wait =
      parts_.limits.Admit(request->route.endpoint);
  if (wait.has_value()) return finish(TooMany(*wait));
  request->fault = FindFault(*request);
  if (request->HasFault(FaultType::kStatus)) {
    return finish(StatusFault(*request->fault, request->route.endpoint,
                              parts_.clock.Now()));
  }
  if (request->HasFault(FaultType::kRedirect)) {
    HttpResponse response;
    response.status = 302;
    response.headers.emplace_back("Location", request->fault->location);
    return finish(std::move(response));
  }
  Answer(request, finish);
}

}  // namespace bimbackup::bim360_emulator
