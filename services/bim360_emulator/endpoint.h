// The endpoints that the emulator answers, with Autodesk's rates.

#ifndef SERVICES_BIM360_EMULATOR_ENDPOINT_H_
#define SERVICES_BIM360_EMULATOR_ENDPOINT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace bimbackup::bim360_emulator {

// Each a class of its own for limits, counters and faults.
enum class Endpoint {
  kUnknown,
  kToken,
  kHubs,
  kHub,
  kProjects,
  kProject,
  kTopFolders,
  kFolder,
  kContents,
  kItem,
  kTip,
  kVersions,
  kVersion,
  kSign,
  kBatchSign,
  kDetails,
  kSignedResource,
  kStorage,
  kAdmin,
  kCount,
};

// "contents", "sign", ...; what admin requests and answers call it.
absl::string_view EndpointName(Endpoint endpoint);

// Requests a minute and client id, as published; 0 where nothing limits.
// All that OSS signs or describes shares one limit, which belongs to kSign.
int EndpointRate(Endpoint endpoint);

// The class that `endpoint` is limited with: itself, or kSign for OSS.
Endpoint LimitClass(Endpoint endpoint);

// A request's endpoint and the decoded variable parts of its path.
struct Route {
  Endpoint endpoint = Endpoint::kUnknown;
  std::vector<std::string> ids;
};

Route FindRoute(absl::string_view method, absl::string_view path);

}  // namespace bimbackup::bim360_emulator

#endif  // SERVICES_BIM360_EMULATOR_ENDPOINT_H_
