// A verification in the wire's words.

#ifndef CLIENTS_VERIFY_MESSAGES_H_
#define CLIENTS_VERIFY_MESSAGES_H_

#include "bimbackup/v1/snapshot.pb.h"
#include "clients/verify/damage.h"
#include "clients/verify/snapshot_verifier.h"

namespace bimbackup::verify {

// The most damage that one message holds.
inline constexpr int kMaxDamagePerMessage = 100;

// What is out of range is for SnapshotVerifier to refuse.
VerifyOptions OptionsOf(const v1::VerifySnapshotRequest& request);

v1::Damage ToProto(const Damage& damage, bool will_be_fetched);

// Sets everything but damage and `done`.
void SetProgress(const VerifyProgress& progress,
                 v1::VerifySnapshotResponse& response);

}  // namespace bimbackup::verify

#endif  // CLIENTS_VERIFY_MESSAGES_H_
