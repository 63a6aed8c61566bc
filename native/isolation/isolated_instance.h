// An instance of an isolated model: sends batches to the child, and takes the answers.
#ifndef NEREID_ISOLATION_ISOLATED_INSTANCE_H_
#define NEREID_ISOLATION_ISOLATED_INSTANCE_H_

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/mutex.h"
#include "base/status.h"
#include "isolation/answer_check.h"
#include "isolation/answer_taker.h"
#include "isolation/batch_records.h"
#include "isolation/child_process.h"
#include "isolation/ring.h"
#include "isolation/shared_channel.h"
#include "nereid/nereid.h"

namespace nereid {

class IsolatedModel;

// A backend's instance. The core executes on one thread at a time; the model's thread replaces a
// child that has ended, between executions.
class IsolatedInstance {
 public:
  // `model` outlives this.
  IsolatedInstance(IsolatedModel* model, uint32_t index, std::shared_ptr<ChildProcess> child,
                   std::unique_ptr<SharedChannel> channel);
  IsolatedInstance(const IsolatedInstance&) = delete;
  IsolatedInstance& operator=(const IsolatedInstance&) = delete;

  [[nodiscard]] uint32_t index() const { return index_; }

  // Returns the status of the backend in the child. UNAVAILABLE: the child ended meanwhile, or
  // there is none.
  Status Execute(nrd_batch* batch);

  void Replace(std::shared_ptr<ChildProcess> child, std::unique_ptr<SharedChannel> channel);
  // Makes an execution that waits for the child check whether it still runs.
  void Wake();

 private:
  // A child and the channel to it.
  struct Link {
    Link(std::shared_ptr<ChildProcess> of, std::unique_ptr<SharedChannel> through);

    std::shared_ptr<ChildProcess> child;
    std::unique_ptr<SharedChannel> channel;
    RingWriter to_child;
    RingReader to_parent;
  };

  Status ExecuteIn(Link* link, nrd_batch* batch);
  [[nodiscard]] int64_t Deadline() const;
  Status SendBatch(Link* link, const nrd_batch& batch, int64_t deadline_ns);
  Status AwaitAnswer(Link* link, nrd_batch* batch, int64_t deadline_ns);
  Status TakeRecord(Link* link, const nrd_batch& batch, int64_t deadline_ns, Record* record_out);
  Status TakeEnd(const Link& link, const Record& record);
  void TellCancelled(const Link& link, const nrd_batch& batch) const;
  Status CheckAlive(const Link& link, int64_t deadline_ns);
  Status Kill(const Link& link, std::string_view reason);
  [[nodiscard]] Status Lost(std::string_view end) const;

  IsolatedModel& model_;
  const uint32_t index_;
  Mutex use_;
  std::shared_ptr<Link> link_ NRD_GUARDED_BY(use_);
  BatchRecords records_;
  AnswerCheck check_;
  AnswerTaker taker_;
  nrd_error error_{};
};

}  // namespace nereid

#endif  // NEREID_ISOLATION_ISOLATED_INSTANCE_H_
