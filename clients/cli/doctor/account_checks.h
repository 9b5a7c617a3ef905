// Whether Autodesk lets us in, and whether bytes can be had.

#ifndef CLIENTS_CLI_DOCTOR_ACCOUNT_CHECKS_H_
#define CLIENTS_CLI_DOCTOR_ACCOUNT_CHECKS_H_

#include <string>

#include "clients/bim360/bim360_client.h"
#include "clients/cli/doctor/report.h"
#include "clients/http/host_policy.h"
#include "clients/http/http_transport.h"

namespace bimbackup::cli::doctor {

// What the coordinator would be told; no secret.
struct AccountSettings {
  std::string base_url;
  std::string client_id;
  // "b.<account>"; empty where not set yet, which is reported with what
  // there is to choose from.
  std::string hub_id;
  // As APS_REGION; empty where not set.
  std::string region;
};

// Asks, in this order, for the token, the hub, the projects, a folder with a
// file in it and that file's signed URL, of which one byte is read; stops
// where nothing further can be asked. Changes nothing. At most about 40
// calls.
void CheckAccount(const AccountSettings& settings, bim360::Bim360Client& client,
                  http::HttpTransport& transport, const http::HostPolicy& hosts,
                  Report& report);

}  // namespace bimbackup::cli::doctor

#endif  // CLIENTS_CLI_DOCTOR_ACCOUNT_CHECKS_H_
