// The proxy for the way out, as the environment names it.

#ifndef CLIENTS_HTTP_PROXY_H_
#define CLIENTS_HTTP_PROXY_H_

#include <string>

#include "clients/http/http_transport.h"

namespace bimbackup::http {

// The proxy for `url`, or an empty string: by https_proxy or http_proxy, else
// all_proxy, unless no_proxy names the host or a domain that it is in; all
// as libcurl reads them, so that we know whether it would go through one.
std::string ProxyFor(const Url& url);

}  // namespace bimbackup::http

#endif  // CLIENTS_HTTP_PROXY_H_
