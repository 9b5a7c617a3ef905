// Changes as the wire's messages.

#ifndef CLIENTS_SNAPSHOT_DIFF_WIRE_CHANGE_MESSAGES_H_
#define CLIENTS_SNAPSHOT_DIFF_WIRE_CHANGE_MESSAGES_H_

#include "bimbackup/v1/snapshot.pb.h"
#include "clients/snapshot_diff/change.h"

namespace bimbackup::snapshot_diff {

v1::EntryChange ToProto(const Change& change);

}  // namespace bimbackup::snapshot_diff

#endif  // CLIENTS_SNAPSHOT_DIFF_WIRE_CHANGE_MESSAGES_H_
