// Reading a paged list to its end.

#ifndef CLIENTS_CLI_PAGING_H_
#define CLIENTS_CLI_PAGING_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "clients/cli/coordinator_client.h"

namespace bimbackup::cli {

// Calls `method` page by page and hands every page to `on_page`, until the
// last one or until `on_page` returns false. DATA_LOSS when a page names
// itself as the next.
template <typename Request, typename Response, typename OnPage>
absl::Status ForEachPage(const CoordinatorClient& client,
                         grpc::Status (v1::CoordinatorService::Stub::*method)(
                             grpc::ClientContext*, const Request&, Response*),
                         Request request, OnPage on_page) {
  while (true) {
    const absl::StatusOr<Response> page = client.Call(method, request);
    if (!page.ok()) return page.status();
    if (!on_page(*page) || page->next_page_token().empty()) {
      return absl::OkStatus();
    }
    if (page->next_page_token() == request.page_token()) {
      return absl::DataLossError("the list does not end");
    }
    request.set_page_token(page->next_page_token());
  }
}

}  // namespace bimbackup::cli

#endif  // CLIENTS_CLI_PAGING_H_
