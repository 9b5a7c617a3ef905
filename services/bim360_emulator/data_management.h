// Hubs, projects, folders, items and versions over HTTP.

#ifndef SERVICES_BIM360_EMULATOR_DATA_MANAGEMENT_H_
#define SERVICES_BIM360_EMULATOR_DATA_MANAGEMENT_H_

#include "services/bim360_emulator/api_context.h"
#include "services/bim360_emulator/json_api.h"

namespace bimbackup::bim360_emulator {

// Stateless but for the account, thus thread-safe.
class DataManagement {
 public:
  explicit DataManagement(ApiParts& parts) : parts_(parts) {}

  // Answers any endpoint from kHubs to kVersion.
  HttpResponse Handle(const ApiRequest& request) const;

 private:
  JsonApi MakeJson(const ApiRequest& request) const;
  HttpResponse HandleHubs(const ApiRequest& request) const;
  HttpResponse HandleProjects(const ApiRequest& request) const;
  HttpResponse HandleInProject(const ApiRequest& request,
                               const ProjectView& project) const;
  HttpResponse HandleContents(const ApiRequest& request,
                              const ProjectView& project) const;
  HttpResponse HandleItem(const ApiRequest& request,
                          const ProjectView& project) const;
  HttpResponse HandleVersions(const ApiRequest& request,
                              const ProjectView& project,
                              const ItemView& item) const;
  HttpResponse HandleVersion(const ApiRequest& request,
                             const ProjectView& project) const;

  ApiParts& parts_;
};

// page[number] and page[limit]; nothing when either is out of bounds.
struct Paging {
  int number = 0;
  int limit = 200;
};
std::optional<Paging> ReadPaging(const HttpRequest& request);

}  // namespace bimbackup::bim360_emulator

#endif  // SERVICES_BIM360_EMULATOR_DATA_MANAGEMENT_H_
