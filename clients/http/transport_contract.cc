#include "clients/http/transport_contract.h"

#include <atomic>
#include <thread>
#include <vector>

#include "clients/http/recording_handler.h"
#include "gmock/gmock.h"
#include "services/common/status_matchers.h"

namespace bimbackup::http {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TransportContract);

namespace {

using absl_testing::StatusIs;

TEST_P(TransportContract, DeliversAWholeAnswer) {
  ASSERT_OK_AND_ASSIGN(const Response response,
                       Fetch(setup_->transport(), Get("/hello"), 1000));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "hello, world");
  EXPECT_EQ(FindHeader(response.headers, "x-greeting"), "hi");
}

TEST_P(TransportContract, AnErrorStatusIsAnAnswerLikeAnyOther) {
  ASSERT_OK_AND_ASSIGN(const Response response,
                       Fetch(setup_->transport(), Get("/missing"), 1000));
  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.body, "nothing here");
}

TEST_P(TransportContract, SendsTheBody) {
  Request request = Get("/echo");
  request.method = "POST";
  request.body = std::string("a\0b", 3);
  ASSERT_OK_AND_ASSIGN(const Response response,
                       Fetch(setup_->transport(), request, 1000));
  EXPECT_EQ(response.body, request.body);
}

TEST_P(TransportContract, RefusesALongerBodyThanAskedFor) {
  EXPECT_THAT(Fetch(setup_->transport(), Get("/hello"), 5),
              StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST_P(TransportContract, CallsHeadAndDoneOnce) {
  const auto recording = Record(setup_->transport(), Get("/empty"));
  ASSERT_TRUE(recording->WaitDone());
  EXPECT_OK(recording->status());
  EXPECT_EQ(recording->heads(), 1);
  EXPECT_EQ(recording->dones(), 1);
  EXPECT_EQ(recording->body(), "");
  EXPECT_EQ(recording->stats().status, 200);
}

TEST_P(TransportContract, DeliversNoBodyAfterARefusedHead) {
  auto recording = std::make_shared<Recording>();
  recording->head_answer = absl::AbortedError("no, thanks");
  Record(setup_->transport(), Get("/hello"), recording);
  ASSERT_TRUE(recording->WaitDone());
  EXPECT_THAT(recording->status(),
              StatusIs(absl::StatusCode::kAborted, "no, thanks"));
  EXPECT_EQ(recording->body(), "");
}

TEST_P(TransportContract, EndsWithTheStatusOfARefusedBody) {
  auto recording = std::make_shared<Recording>();
  recording->body_answer = absl::ResourceExhaustedError("disk full");
  Record(setup_->transport(), Get("/hello"), recording);
  ASSERT_TRUE(recording->WaitDone());
  EXPECT_THAT(recording->status(),
              StatusIs(absl::StatusCode::kResourceExhausted, "disk full"));
}

TEST_P(TransportContract, CancelEndsATransfer) {
  TransferId id = 0;
  const auto recording = Record(setup_->transport(), Get("/hang"),
                                std::make_shared<Recording>(), &id);
  setup_->transport().Cancel(id);
  ASSERT_TRUE(recording->WaitDone());
  EXPECT_THAT(recording->status(), StatusIs(absl::StatusCode::kCancelled));
}

TEST_P(TransportContract, CancelOfAnEndedTransferDoesNothing) {
  TransferId id = 0;
  const auto recording = Record(setup_->transport(), Get("/hello"),
                                std::make_shared<Recording>(), &id);
  ASSERT_TRUE(recording->WaitDone());
  setup_->transport().Cancel(id);
  setup_->transport().Cancel(id + 1000);
  EXPECT_OK(Fetch(setup_->transport(), Get("/hello"), 1000));
  EXPECT_EQ(recording->dones(), 1);
}

TEST_P(TransportContract, ATransferCanCancelItself) {
  auto recording = std::make_shared<Recording>();
  std::atomic<TransferId> id = 0;
  recording->on_head = [&] {
    while (id == 0) std::this_thread::yield();
    setup_->transport().Cancel(id);
  };
  TransferId started = 0;
  Record(setup_->transport(), Get("/hello"), recording, &started);
  id = started;
  ASSERT_TRUE(recording->WaitDone());
  EXPECT_EQ(recording->dones(), 1);
}

TEST_P(TransportContract, AHandlerMayStartTheNextTransfer) {
  auto first = std::make_shared<Recording>();
  auto second = std::make_shared<Recording>();
  first->on_done = [&] { Record(setup_->transport(), Get("/hello"), second); };
  Record(setup_->transport(), Get("/hello"), first);
  ASSERT_TRUE(second->WaitDone());
  EXPECT_EQ(second->body(), "hello, world");
}

TEST_P(TransportContract, DestructionEndsEveryTransfer) {
  std::vector<std::shared_ptr<Recording>> recordings;
  for (int i = 0; i < 20; ++i) {
    recordings.push_back(Record(setup_->transport(), Get("/hang")));
  }
  setup_->DestroyTransport();
  for (const auto& recording : recordings) {
    EXPECT_EQ(recording->dones(), 1);
    EXPECT_THAT(recording->status(), StatusIs(absl::StatusCode::kCancelled));
  }
}

TEST_P(TransportContract, WhatAHandlerStartsDuringDestructionIsCancelled) {
  auto first = std::make_shared<Recording>();
  auto second = std::make_shared<Recording>();
  first->on_done = [&, transport = &setup_->transport()] {
    Record(*transport, Get("/hello"), second);
    transport->Cancel(1);
  };
  Record(setup_->transport(), Get("/hang"), first);
  setup_->DestroyTransport();
  EXPECT_EQ(second->dones(), 1);
  EXPECT_THAT(second->status(), StatusIs(absl::StatusCode::kCancelled));
}

}  // namespace
}  // namespace bimbackup::http
