// Keeps records in memory and appends them to the file as JSON lines.
#include "acl/task_records.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <vector>

#include "acl/environment.h"
#include "acl/wait.h"

namespace opkit_sim::rt {
namespace {

struct Records {
  std::mutex mutex;
  std::vector<TaskRecord> pending;
};

Records &Kept() {
  static Records &records = *new Records;
  return records;
}

void AppendText(std::string *line, const char *key, const std::string &text) {
  *line += '"';
  *line += key;
  *line += "\": \"";
  for (const char character : text) {
    if (character == '"' || character == '\\') *line += '\\';
    if (static_cast<unsigned char>(character) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(character));
      *line += escaped;
    } else {
      *line += character;
    }
  }
  *line += "\", ";
}

std::string LineOf(const TaskRecord &record) {
  std::string line = "{";
  AppendText(&line, "kind", record.kind);
  AppendText(&line, "name", record.name);
  AppendText(&line, "op", record.op);
  if (!record.kernel.empty()) AppendText(&line, "kernel", record.kernel);
  char numbers[320];
  std::snprintf(
      numbers, sizeof numbers,
      "\"graph_id\": %u, \"run\": %llu, \"stream\": %d, \"enqueue_ns\": %llu, \"start_ns\": %llu, \"end_ns\": %llu, \"bytes\": %llu, "
      "\"blocks\": %u}\n",
      record.graph_id, static_cast<unsigned long long>(record.run), record.stream, static_cast<unsigned long long>(record.enqueue_ns),
      static_cast<unsigned long long>(record.start_ns), static_cast<unsigned long long>(record.end_ns),
      static_cast<unsigned long long>(record.bytes), record.blocks);
  return line + numbers;
}

}  // namespace

bool AreTasksRecorded() { return Env().task_records != nullptr; }

uint64_t EnqueueTime() { return AreTasksRecorded() ? NowNs() : 0; }

TaskRecord RecordOf(const char *kind, const RecordTag &tag, int32_t stream, uint64_t enqueue_ns, uint64_t start_ns, uint64_t bytes,
                    uint32_t blocks) {
  return TaskRecord{tag.kind != nullptr ? tag.kind : kind,
                    tag.name != nullptr ? tag.name : "",
                    tag.op != nullptr ? tag.op : "",
                    "",
                    tag.graph_id,
                    tag.run,
                    stream,
                    enqueue_ns,
                    start_ns,
                    NowNs(),
                    bytes,
                    blocks};
}

void Record(TaskRecord record) {
  Records &records = Kept();
  const std::lock_guard<std::mutex> lock(records.mutex);
  records.pending.push_back(std::move(record));
}

void FlushTaskRecords() {
  if (!AreTasksRecorded()) return;
  Records &records = Kept();
  std::vector<TaskRecord> pending;
  {
    const std::lock_guard<std::mutex> lock(records.mutex);
    pending.swap(records.pending);
  }
  if (pending.empty()) return;
  std::FILE *file = std::fopen(Env().task_records, "a");
  if (file == nullptr) {
    std::fprintf(stderr, "opkit simulator: OPKIT_SIM_TASK_RECORDS=%s: %s\n", Env().task_records, std::strerror(errno));
    return;
  }
  for (const TaskRecord &record : pending) {
    const std::string line = LineOf(record);
    std::fwrite(line.data(), 1, line.size(), file);
  }
  std::fclose(file);
}

}  // namespace opkit_sim::rt
