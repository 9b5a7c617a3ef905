// Opaque tokens that say where the next page of a list starts.

#ifndef SERVICES_COORDINATOR_RPC_PAGE_TOKEN_H_
#define SERVICES_COORDINATOR_RPC_PAGE_TOKEN_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace bimbackup::coordinator_rpc {

// A token that carries `cursor` (any bytes, not empty) and is good for the
// list and the request that `scope` names.
std::string MakePageToken(absl::string_view scope, absl::string_view cursor);

// The cursor in a token; empty for an empty token. INVALID_ARGUMENT for one of
// another list or request, or a malformed one.
absl::StatusOr<std::string> ReadPageToken(absl::string_view scope,
                                          absl::string_view token);

// Entries a page: 100 where `page_size` is 0, at most 1,000. INVALID_ARGUMENT
// below 0.
absl::StatusOr<int> ReadPageSize(int page_size);

}  // namespace bimbackup::coordinator_rpc

#endif  // SERVICES_COORDINATOR_RPC_PAGE_TOKEN_H_
