// Certificates are verified.

#include <httplib.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "clients/http/curl_transport.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/common/status_matchers.h"

namespace bimbackup::http {
namespace {

using absl_testing::StatusIs;

// A self-signed certificate for 127.0.0.1 and its key, good for an hour.
struct Identity {
  Identity() : key(EVP_EC_gen("P-256")), certificate(X509_new()) {
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -60);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, key);
    X509_NAME* name = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>("test"),
                               -1, -1, 0);
    X509_set_issuer_name(certificate, name);
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(
        nullptr, nullptr, NID_subject_alt_name, "IP:127.0.0.1");
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
    X509_sign(certificate, key, EVP_sha256());
  }
  ~Identity() {
    X509_free(certificate);
    EVP_PKEY_free(key);
  }

  EVP_PKEY* key;
  X509* certificate;
};

class CurlTransportTlsTest : public testing::Test {
 protected:
  CurlTransportTlsTest() : server_(identity_.certificate, identity_.key) {
    server_.Get("/hello",
                [](const httplib::Request&, httplib::Response& response) {
                  response.set_content("hello", "text/plain");
                });
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
  }

  ~CurlTransportTlsTest() override {
    while (!server_.is_running()) std::this_thread::yield();
    server_.stop();
    thread_.join();
    std::filesystem::remove(ca_file_);
  }

  absl::StatusOr<Response> FetchHello(const CurlTransportOptions& options) {
    auto transport = CurlTransport::Create(options);
    if (!transport.ok()) return transport.status();
    Request request;
    request.url = absl::StrCat("https://127.0.0.1:", port_, "/hello");
    return Fetch(**transport, request, 100);
  }

  std::string WriteCertificate() {
    ca_file_ = testing::TempDir() + "bimbackup_tls_" + std::to_string(port_);
    std::FILE* file = std::fopen(ca_file_.c_str(), "w");
    EXPECT_NE(file, nullptr);
    PEM_write_X509(file, identity_.certificate);
    std::fclose(file);
    return ca_file_;
  }

  Identity identity_;
  httplib::SSLServer server_;
  int port_ = 0;
  std::string ca_file_;
  std::thread thread_;
};

TEST_F(CurlTransportTlsTest, RefusesAnUntrustedCertificate) {
  EXPECT_THAT(FetchHello({}), StatusIs(absl::StatusCode::kUnavailable,
                                       testing::HasSubstr("certificate")));
}

TEST_F(CurlTransportTlsTest, TakesOneThatItIsToldToTrust) {
  CurlTransportOptions options;
  options.ca_file = WriteCertificate();
  ASSERT_OK_AND_ASSIGN(const Response response, FetchHello(options));
  EXPECT_EQ(response.body, "hello");
}

}  // namespace
}  // namespace bimbackup::http
