// The event calls of the API.
#include "acl/event.h"

#include <memory>
#include <mutex>
#include <unordered_map>

#include "acl/device.h"
#include "acl/error_text.h"

namespace opkit_sim::rt {
namespace {

struct Events {
  std::mutex mutex;
  std::unordered_map<void *, std::shared_ptr<Event>> live;
};

Events &Live() {
  static Events &events = *new Events;
  return events;
}

std::shared_ptr<Event> Resolve(const char *who, aclrtEvent handle, aclError *code) {
  if (handle == nullptr) {
    *code = Refuse(ACL_ERROR_INVALID_PARAM, "%s: event must not be null", who);
    return nullptr;
  }
  Events &events = Live();
  const std::lock_guard<std::mutex> lock(events.mutex);
  const auto found = events.live.find(handle);
  if (found != events.live.end()) return found->second;
  *code = Refuse(ACL_ERROR_RT_INVALID_HANDLE, "%s: %p is not a live event", who, handle);
  return nullptr;
}

// For calls that put an event's task into a stream.
template <typename Fill>
aclError SubmitEvent(const char *who, aclrtEvent handle, aclrtStream stream, Fill fill) {
  aclError code = ACL_SUCCESS;
  const auto event = Resolve(who, handle, &code);
  if (event == nullptr) return code;
  const auto target = ResolveStream(who, stream, &code);
  if (target == nullptr) return code;
  if (CaptureOf(target.get()) != nullptr) {
    return Refuse(ACL_ERROR_RT_STREAM_CAPTURED, "%s: the stream's tasks are being recorded for a static graph; events can't be part of it",
                  who);
  }
  target->Push([&](Task &task) {
    task.event = event;
    fill(task, *event);
  });
  return ACL_SUCCESS;
}

aclError SynchronizeEvent(const char *who, aclrtEvent handle, int32_t timeout_ms) {
  if (timeout_ms < -1) return Refuse(ACL_ERROR_RT_PARAM_INVALID, "%s: timeout %d ms; it must be -1 (no limit) or more", who, timeout_ms);
  aclError code = ACL_SUCCESS;
  const auto event = Resolve(who, handle, &code);
  if (event == nullptr) return code;
  const uint64_t limit = timeout_ms < 0 ? 0 : static_cast<uint64_t>(timeout_ms) * 1000000;
  if (timeout_ms == 0 ? !event->IsReached() : !event->WaitFor(event->Submitted(), limit)) {
    return Refuse(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, "%s: the event wasn't reached within %d ms", who, timeout_ms);
  }
  return ACL_SUCCESS;
}

}  // namespace
}  // namespace opkit_sim::rt

using namespace opkit_sim::rt;

extern "C" {

aclError aclrtCreateEventWithFlag(aclrtEvent *event, uint32_t) {
  if (event == nullptr) return Refuse(ACL_ERROR_INVALID_PARAM, "aclrtCreateEvent: event must not be null");
  if (const aclError code = RequireContext("aclrtCreateEvent")) return code;
  auto made = std::make_shared<Event>();
  *event = made.get();
  Events &events = Live();
  const std::lock_guard<std::mutex> lock(events.mutex);
  events.live[made.get()] = std::move(made);
  return ACL_SUCCESS;
}

aclError aclrtCreateEvent(aclrtEvent *event) { return aclrtCreateEventWithFlag(event, ACL_EVENT_TIME_LINE); }

aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t flag) { return aclrtCreateEventWithFlag(event, flag); }

aclError aclrtDestroyEvent(aclrtEvent event) {
  aclError code = ACL_SUCCESS;
  // Tasks that name the event keep it alive.
  if (Resolve("aclrtDestroyEvent", event, &code) == nullptr) return code;
  Events &events = Live();
  const std::lock_guard<std::mutex> lock(events.mutex);
  events.live.erase(event);
  return ACL_SUCCESS;
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
  return SubmitEvent("aclrtRecordEvent", event, stream, [](Task &task, Event &recorded) {
    task.kind = TaskKind::kEventRecord;
    task.ticket = recorded.BeginRecord();
  });
}

aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream) {
  return SubmitEvent("aclrtResetEvent", event, stream, [](Task &task, Event &reset) {
    task.kind = TaskKind::kEventReset;
    task.ticket = reset.Submitted();
  });
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
  return SubmitEvent("aclrtStreamWaitEvent", event, stream, [](Task &task, Event &awaited) {
    task.kind = TaskKind::kEventWait;
    task.ticket = awaited.Submitted();
    task.value = 0;
  });
}

aclError aclrtStreamWaitEventWithTimeout(aclrtStream stream, aclrtEvent event, int32_t timeout) {
  if (timeout < 0)
    return Refuse(ACL_ERROR_RT_PARAM_INVALID, "aclrtStreamWaitEventWithTimeout: timeout %d ms; it must be 0 (no limit) or more", timeout);
  return SubmitEvent("aclrtStreamWaitEventWithTimeout", event, stream, [timeout](Task &task, Event &awaited) {
    task.kind = TaskKind::kEventWait;
    task.ticket = awaited.Submitted();
    task.value = timeout;
  });
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus *status) {
  if (status == nullptr) return Refuse(ACL_ERROR_INVALID_PARAM, "aclrtQueryEventStatus: status must not be null");
  aclError code = ACL_SUCCESS;
  const auto found = Resolve("aclrtQueryEventStatus", event, &code);
  if (found == nullptr) return code;
  const bool is_complete = found->WasRecorded() && found->IsReached();
  *status = is_complete ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
  return ACL_SUCCESS;
}

aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus *status) {
  if (status == nullptr) return Refuse(ACL_ERROR_INVALID_PARAM, "aclrtQueryEvent: status must not be null");
  aclrtEventRecordedStatus recorded = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  const aclError code = aclrtQueryEventStatus(event, &recorded);
  *status = recorded == ACL_EVENT_RECORDED_STATUS_COMPLETE ? ACL_EVENT_STATUS_COMPLETE : ACL_EVENT_STATUS_NOT_READY;
  return code;
}

aclError aclrtSynchronizeEvent(aclrtEvent event) { return SynchronizeEvent("aclrtSynchronizeEvent", event, -1); }

aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout) {
  return SynchronizeEvent("aclrtSynchronizeEventWithTimeout", event, timeout);
}

aclError aclrtEventElapsedTime(float *ms, aclrtEvent startEvent, aclrtEvent endEvent) {
  constexpr const char *kWho = "aclrtEventElapsedTime";
  if (ms == nullptr) return Refuse(ACL_ERROR_INVALID_PARAM, "%s: ms must not be null", kWho);
  aclError code = ACL_SUCCESS;
  const auto start = Resolve(kWho, startEvent, &code);
  if (start == nullptr) return code;
  const auto end = Resolve(kWho, endEvent, &code);
  if (end == nullptr) return code;
  for (const auto &event : {start, end}) {
    if (!event->WasRecorded() || !event->IsReached()) {
      return Refuse(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, "%s: the %s event has not been reached; record it and synchronize first", kWho,
                    event == start ? "start" : "end");
    }
  }
  if (end->TimeNs() < start->TimeNs())
    return Refuse(ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL, "%s: the end event is older than the start event", kWho);
  *ms = static_cast<float>(end->TimeNs() - start->TimeNs()) / 1e6F;
  return ACL_SUCCESS;
}

aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t *timestamp) {
  if (timestamp == nullptr) return Refuse(ACL_ERROR_INVALID_PARAM, "aclrtEventGetTimestamp: timestamp must not be null");
  aclError code = ACL_SUCCESS;
  const auto found = Resolve("aclrtEventGetTimestamp", event, &code);
  if (found == nullptr) return code;
  if (!found->WasRecorded() || !found->IsReached()) {
    return Refuse(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, "aclrtEventGetTimestamp: the event has not been reached");
  }
  *timestamp = found->TimeNs() / 1000;
  return ACL_SUCCESS;
}

}  // extern "C"
