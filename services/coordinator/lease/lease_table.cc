#include "services/coordinator/lease/lease_table.h"

#include <algorithm>

#include "services/coordinator/lease/batch.h"

namespace bimbackup::lease {
namespace {

std::string ToString(absl::string_view text) {
  return std::string(text.data(), text.size());
}

}  // namespace

int64_t LeaseTable::SizeOf(const Entry& entry) {
  return entry.transfer.size.value_or(kUnknownSize);
}

void LeaseTable::Add(catalog::TransferRecord transfer, Tally tally) {
  const int64_t id = transfer.transfer_id;
  auto [it, added] = entries_.try_emplace(id);
  if (!added) return;
  it->second.transfer = std::move(transfer);
  it->second.tally = tally;
  Enter(id, it->second, State::kWaiting);
}

void LeaseTable::AddRestored(catalog::TransferRecord transfer, Tally tally,
                             absl::string_view worker_id, int64_t epoch,
                             absl::Duration expires) {
  const int64_t id = transfer.transfer_id;
  auto [it, added] = entries_.try_emplace(id);
  if (!added) return;
  Entry& entry = it->second;
  entry.transfer = std::move(transfer);
  entry.tally = tally;
  entry.worker_id = ToString(worker_id);
  entry.epoch = epoch;
  Enter(id, entry, State::kLeased);
  SetExpiry(id, entry, expires);
}

std::optional<int64_t> LeaseTable::TakeToSign() {
  const std::optional<int64_t> id = waiting_.Peek();
  if (!id.has_value()) return std::nullopt;
  Entry& entry = entries_.at(*id);
  waiting_.Take(*id, SizeOf(entry));
  Enter(*id, entry, State::kSigning);
  return id;
}

void LeaseTable::SetSigned(int64_t id, bim360::SignedDownload download) {
  Entry* entry = Find(id);
  if (entry == nullptr || entry->state != State::kSigning) return;
  Leave(id, *entry);
  entry->download = std::move(download);
  Enter(id, *entry, State::kReady);
}

std::vector<int64_t> LeaseTable::PickBatch(int max_files, absl::Duration now) {
  std::vector<int64_t> picked;
  BatchBuilder batch(max_files);
  while (!batch.full()) {
    const std::optional<int64_t> id = ready_.Peek();
    if (!id.has_value()) break;
    Entry& entry = entries_.at(*id);
    if (entry.download->expires - now < kMinUrlLife) {
      Leave(*id, entry);
      entry.download.reset();
      Enter(*id, entry, State::kWaiting);
      continue;
    }
    if (!batch.Take(entry.transfer.size)) break;
    ready_.Take(*id, SizeOf(entry));
    picked.push_back(*id);
  }
  for (const int64_t id : picked) ready_.Add(id, SizeOf(entries_.at(id)));
  return picked;
}

void LeaseTable::Lease(int64_t id, absl::string_view worker_id, int64_t epoch,
                       int64_t sequence, absl::Duration now) {
  Entry& entry = entries_.at(id);
  Leave(id, entry);
  entry.worker_id = ToString(worker_id);
  entry.epoch = epoch;
  entry.granted_at = sequence;
  entry.bytes_done = 0;
  entry.resolved = 0;
  Enter(id, entry, State::kLeased);
  SetExpiry(id, entry, now + lease_life_);
}

std::vector<int64_t> LeaseTable::Renew(absl::string_view worker_id,
                                       const std::vector<HeldLease>& held,
                                       absl::Duration now) {
  std::vector<int64_t> lost;
  for (const HeldLease& lease : held) {
    Entry* entry = Find(lease.transfer_id);
    if (entry == nullptr || entry->epoch != lease.epoch ||
        entry->worker_id != worker_id) {
      lost.push_back(lease.transfer_id);
      continue;
    }
    if (entry->state != State::kLeased) {
      // It went back, but nobody has it yet: its holder keeps it.
      Leave(lease.transfer_id, *entry);
      Enter(lease.transfer_id, *entry, State::kLeased);
    }
    SetExpiry(lease.transfer_id, *entry, now + lease_life_);
    bytes_under_way_ += lease.bytes_done - entry->bytes_done;
    entry->bytes_done = lease.bytes_done;
  }
  return lost;
}

std::vector<int64_t> LeaseTable::Unnamed(const WorkerReport& report,
                                         int64_t sequence) const {
  const auto it = by_worker_.find(report.worker_id);
  if (it == by_worker_.end()) return {};
  std::set<int64_t> named;
  for (const HeldLease& lease : report.held) named.insert(lease.transfer_id);
  for (const TransferResult& result : report.results) {
    named.insert(result.transfer_id);
  }
  std::vector<int64_t> unnamed;
  for (const int64_t id : it->second) {
    const Entry& entry = entries_.at(id);
    if (entry.granted_at < sequence && !named.contains(id)) {
      unnamed.push_back(id);
    }
  }
  return unnamed;
}

std::vector<int64_t> LeaseTable::Expired(absl::Duration now) const {
  std::vector<int64_t> expired;
  for (const auto& [expires, id] : expiries_) {
    if (expires > now) break;
    expired.push_back(id);
  }
  return expired;
}

void LeaseTable::ShortenLeases(absl::string_view worker_id,
                               absl::Duration expires) {
  const auto it = by_worker_.find(ToString(worker_id));
  if (it == by_worker_.end()) return;
  for (const int64_t id : it->second) {
    Entry& entry = entries_.at(id);
    SetExpiry(id, entry, std::min(entry.expires, expires));
  }
}

void LeaseTable::Delay(int64_t id, absl::Duration not_before, bool sign_again) {
  Entry* entry = Find(id);
  if (entry == nullptr) return;
  Leave(id, *entry);
  if (sign_again) entry->download.reset();
  entry->not_before = not_before;
  Enter(id, *entry, State::kDelayed);
}

void LeaseTable::WakeDelayed(absl::Duration now) {
  while (!delayed_.empty() && delayed_.begin()->first <= now) {
    const int64_t id = delayed_.begin()->second;
    Entry& entry = entries_.at(id);
    Leave(id, entry);
    Enter(id, entry,
          entry.download.has_value() ? State::kReady : State::kWaiting);
  }
}

void LeaseTable::Remove(int64_t id) {
  Entry* entry = Find(id);
  if (entry == nullptr) return;
  Leave(id, *entry);
  entries_.erase(id);
}

void LeaseTable::Clear() { *this = LeaseTable(lease_life_); }

LeaseTable::Entry* LeaseTable::Find(int64_t id) {
  const auto it = entries_.find(id);
  return it == entries_.end() ? nullptr : &it->second;
}

int LeaseTable::LeasesOf(absl::string_view worker_id) const {
  const auto it = by_worker_.find(ToString(worker_id));
  return it == by_worker_.end() ? 0 : static_cast<int>(it->second.size());
}

std::set<std::string> LeaseTable::Holders() const {
  std::set<std::string> holders;
  for (const auto& [worker_id, ids] : by_worker_) holders.insert(worker_id);
  return holders;
}

absl::Duration LeaseTable::NextEvent() const {
  absl::Duration next = absl::InfiniteDuration();
  if (!delayed_.empty()) next = std::min(next, delayed_.begin()->first);
  if (!expiries_.empty()) next = std::min(next, expiries_.begin()->first);
  return next;
}

void LeaseTable::Leave(int64_t id, Entry& entry) {
  switch (entry.state) {
    case State::kDelayed:
      delayed_.erase({entry.not_before, id});
      return;
    case State::kWaiting:
      waiting_.Remove(id, SizeOf(entry));
      return;
    case State::kSigning:
      --signing_;
      return;
    case State::kReady:
      ready_.Remove(id, SizeOf(entry));
      return;
    case State::kLeased: {
      --leased_;
      bytes_under_way_ -= entry.bytes_done;
      entry.bytes_done = 0;
      expiries_.erase({entry.expires, id});
      const auto it = by_worker_.find(entry.worker_id);
      it->second.erase(id);
      if (it->second.empty()) by_worker_.erase(it);
      return;
    }
  }
}

void LeaseTable::Enter(int64_t id, Entry& entry, State state) {
  entry.state = state;
  switch (state) {
    case State::kDelayed:
      delayed_.insert({entry.not_before, id});
      return;
    case State::kWaiting:
      waiting_.Add(id, SizeOf(entry));
      return;
    case State::kSigning:
      ++signing_;
      return;
    case State::kReady:
      ready_.Add(id, SizeOf(entry));
      return;
    case State::kLeased:
      ++leased_;
      expiries_.insert({entry.expires, id});
      by_worker_[entry.worker_id].insert(id);
      return;
  }
}

void LeaseTable::SetExpiry(int64_t id, Entry& entry, absl::Duration expires) {
  expiries_.erase({entry.expires, id});
  entry.expires = expires;
  expiries_.insert({expires, id});
}

}  // namespace bimbackup::lease
