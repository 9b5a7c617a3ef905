// The emulator's own HTTP API, under /admin/, for tests and scripts; no
// token is asked for. JSON in and out.
//
//   GET  /admin/tree?project=&sha1=1&sha256=1   every live folder and file
//   GET  /admin/content?id=ITEM                 an item's current bytes
//   POST /admin/edit       one edit or a list of edits, see admin_json.h
//   POST /admin/faults     {"match": {...}, "action": {...}} -> {"id": 1}
//   GET  /admin/faults     how often each rule matched and was applied
//   DELETE /admin/faults?id=1                   one rule, or without id all
//   GET  /admin/requests   counts, peaks and 429s by endpoint; by page, by
//                          object
//   DELETE /admin/requests                      forgets those but the peaks
//   GET  /admin/secrets    tokens, signed queries and the client secret
//   DELETE /admin/tokens                        ends every token now
//   POST /admin/clock      {"advance_seconds": 3600}: expiry's clock
//   POST /admin/rollup     {"mode": "perfect"|"content_only"|"late"}
//   POST /admin/limits     {"enforced": false}
//   POST /admin/rescan                          a dir: account, now

#ifndef SERVICES_BIM360_EMULATOR_ADMIN_API_H_
#define SERVICES_BIM360_EMULATOR_ADMIN_API_H_

#include <memory>

#include "absl/status/status.h"
#include "services/bim360_emulator/api_context.h"
#include "services/bim360_emulator/object_store.h"

namespace bimbackup::bim360_emulator {

// Thread-safe.
class AdminApi {
 public:
  // Both outlive this.
  AdminApi(ApiParts& parts, ObjectStore& objects)
      : parts_(parts), objects_(objects) {}

  // Answers from another thread: trees and digests take long.
  void Handle(std::shared_ptr<const ApiRequest> request, Responder respond);

 private:
  HttpResponse Answer(const ApiRequest& request);
  HttpResponse Tree(const ApiRequest& request);
  HttpResponse Content(const ApiRequest& request);
  HttpResponse Requests() const;
  HttpResponse Secrets() const;
  HttpResponse ListFaults() const;
  HttpResponse AddFault(const ApiRequest& request);
  HttpResponse RemoveFaults(const ApiRequest& request);
  absl::Status Change(const ApiRequest& request);

  ApiParts& parts_;
  ObjectStore& objects_;
};

}  // namespace bimbackup::bim360_emulator

#endif  // SERVICES_BIM360_EMULATOR_ADMIN_API_H_
