// Takes every request: limits, faults, authorization, then the handler.

#ifndef SERVICES_BIM360_EMULATOR_DISPATCHER_H_
#define SERVICES_BIM360_EMULATOR_DISPATCHER_H_

#include <memory>
#include <string>

#include "services/bim360_emulator/admin_api.h"
#include "services/bim360_emulator/api_context.h"
#include "services/bim360_emulator/data_management.h"
#include "services/bim360_emulator/object_store.h"

namespace bimbackup::bim360_emulator {

// Thread-safe.
class Dispatcher : public HttpHandler {
 public:
  // `parts` outlives the dispatcher.
  explicit Dispatcher(ApiParts& parts)
      : parts_(parts),
        data_management_(parts),
        objects_(parts),
        admin_(parts, objects_) {}

  void Handle(HttpRequest http, Responder respond) override;

 private:
  std::string BaseOf(const HttpRequest& http) const;
  std::optional<FaultAction> FindFault(const ApiRequest& request);
  // What a request is counted under, and what rules match by name.
  std::string SubjectOf(const ApiRequest& request) const;
  std::string NameOf(const ApiRequest& request) const;
  HttpResponse TooMany(absl::Duration wait) const;
  void Shape(const ApiRequest& request, HttpResponse& response) const;
  void Answer(std::shared_ptr<const ApiRequest> request, Responder respond);

  ApiParts& parts_;
  DataManagement data_management_;
  ObjectStore objects_;
  AdminApi admin_;
};

}  // namespace bimbackup::bim360_emulator

#endif  // SERVICES_BIM360_EMULATOR_DISPATCHER_H_
