// Reads, writes and trims the entries.
#include "rtc/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "acl/environment.h"
#include "rtc/digest.h"

namespace opkit_sim::rtc {
namespace {

constexpr char kMagic[] = "opkit-rtc-entry-2\n";
constexpr size_t kDigestBytes = 64;
constexpr size_t kMaxEntries = 1000;
// A file that changed this shortly before it was compiled could change again within the clock's grain: its time proves nothing.
constexpr int64_t kGrainNs = 2000000000;

int64_t ChangedNs(const struct stat &status) {
  const int64_t modified = static_cast<int64_t>(status.st_mtim.tv_sec) * 1000000000 + status.st_mtim.tv_nsec;
  const int64_t changed = static_cast<int64_t>(status.st_ctim.tv_sec) * 1000000000 + status.st_ctim.tv_nsec;
  return std::max(modified, changed);
}

bool ReadFile(const std::string &path, std::string *text) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  struct stat status;
  bool is_read = fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  if (is_read) {
    text->resize(static_cast<size_t>(status.st_size));
    size_t at = 0;
    while (at < text->size()) {
      const ssize_t count = read(file, text->data() + at, text->size() - at);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;
      at += static_cast<size_t>(count);
    }
    is_read = at == text->size();
  }
  close(file);
  return is_read;
}

// The cache's folder, made if need be; empty if it can't be used, or if somebody else could put a binary into it.
const std::string &Folder() {
  static const std::string &folder = *new std::string([] {
    const char *wanted = rt::Env().cache_dir;
    if (wanted == nullptr) return std::string();
    const std::string path = wanted;
    for (size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1))
      mkdir(path.substr(0, slash).c_str(), 0777);
    mkdir(path.c_str(), 0700);
    struct stat status;
    if (stat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) || access(path.c_str(), W_OK | X_OK) != 0) return std::string();
    if ((status.st_uid != geteuid() && status.st_uid != 0) || (status.st_mode & S_IWOTH) != 0) return std::string();
    return path;
  }());
  return folder;
}

std::string PathOf(const std::string &key) { return Folder() + "/" + key + ".entry"; }

class Writer {
 public:
  void Number(int64_t value) { text_.append(reinterpret_cast<const char *>(&value), sizeof value); }
  void Text(const std::string &value) {
    Number(static_cast<int64_t>(value.size()));
    text_ += value;
  }
  const std::string &Get() const { return text_; }

 private:
  std::string text_;
};

class Reader {
 public:
  explicit Reader(const std::string &text, size_t at) : text_(text), at_(at) {}

  int64_t Number() {
    int64_t value = 0;
    if (text_.size() - at_ < sizeof value) {
      is_good_ = false;
      return 0;
    }
    std::memcpy(&value, text_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::string Text() {
    const int64_t bytes = Number();
    if (bytes < 0 || static_cast<uint64_t>(bytes) > text_.size() - at_) {
      is_good_ = false;
      return "";
    }
    at_ += static_cast<size_t>(bytes);
    return text_.substr(at_ - static_cast<size_t>(bytes), static_cast<size_t>(bytes));
  }
  bool IsGood() const { return is_good_; }

 private:
  const std::string &text_;
  size_t at_;
  bool is_good_ = true;
};

bool IsUnchanged(const Include &include, int64_t compiled_ns) {
  struct stat status;
  if (stat(include.path.c_str(), &status) != 0 || static_cast<uint64_t>(status.st_size) != include.bytes) return false;
  if (ChangedNs(status) == include.changed_ns && include.changed_ns < compiled_ns - kGrainNs) return true;
  std::string text;
  return ReadFile(include.path, &text) && DigestOf(text) == include.digest;
}

// Drops the entries that were used least recently when there are too many.
void Trim() {
  DIR *folder = opendir(Folder().c_str());
  if (folder == nullptr) return;
  std::vector<std::pair<int64_t, std::string>> entries;
  while (const dirent *entry = readdir(folder)) {
    const std::string path = Folder() + "/" + entry->d_name;
    struct stat status;
    if (entry->d_name[0] != '.' && stat(path.c_str(), &status) == 0) entries.emplace_back(ChangedNs(status), path);
  }
  closedir(folder);
  if (entries.size() <= kMaxEntries) return;
  std::sort(entries.begin(), entries.end());
  for (size_t i = 0; i < entries.size() - kMaxEntries * 3 / 4; ++i) unlink(entries[i].second.c_str());
}

}  // namespace

int64_t WallClockNs() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<int64_t>(now.tv_sec) * 1000000000 + now.tv_nsec;
}

bool DescribeInclude(const std::string &path, int64_t before_ns, Include *include) {
  struct stat status;
  std::string text;
  if (stat(path.c_str(), &status) != 0 || ChangedNs(status) >= before_ns || !ReadFile(path, &text)) return false;
  *include = Include{path, text.size(), ChangedNs(status), DigestOf(text)};
  return true;
}

bool LoadFromCache(const std::string &key, const std::string &working_folder, CachedBinary *found) {
  if (Folder().empty()) return false;
  std::string text;
  if (!ReadFile(PathOf(key), &text)) return false;
  constexpr size_t kHead = sizeof kMagic - 1 + kDigestBytes;
  if (text.size() < kHead || text.compare(0, sizeof kMagic - 1, kMagic) != 0) return false;
  Digest digest;
  digest.Add(text.data() + kHead, text.size() - kHead);
  if (text.compare(sizeof kMagic - 1, kDigestBytes, digest.Hex()) != 0) return false;
  Reader reader(text, kHead);
  CachedBinary entry;
  if (reader.Text() != key) return false;
  entry.folder = reader.Text();
  entry.compiled_ns = reader.Number();
  const int64_t count = reader.Number();
  for (int64_t i = 0; i < count && reader.IsGood(); ++i) {
    Include include;
    include.path = reader.Text();
    include.bytes = static_cast<uint64_t>(reader.Number());
    include.changed_ns = reader.Number();
    include.digest = reader.Text();
    entry.includes.push_back(std::move(include));
  }
  const int64_t absent_count = reader.Number();
  for (int64_t i = 0; i < absent_count && reader.IsGood(); ++i) entry.absent.push_back(reader.Text());
  entry.log = reader.Text();
  entry.binary = reader.Text();
  if (!reader.IsGood() || entry.binary.empty() || (!entry.folder.empty() && entry.folder != working_folder)) return false;
  for (const Include &include : entry.includes) {
    if (!IsUnchanged(include, entry.compiled_ns)) return false;
  }
  for (const std::string &path : entry.absent) {
    if (access(path.c_str(), F_OK) == 0) return false;
  }
  utimensat(AT_FDCWD, PathOf(key).c_str(), nullptr, 0);
  *found = std::move(entry);
  return true;
}

void StoreInCache(const std::string &key, const CachedBinary &entry) {
  if (Folder().empty()) return;
  Writer writer;
  writer.Text(key);
  writer.Text(entry.folder);
  writer.Number(entry.compiled_ns);
  writer.Number(static_cast<int64_t>(entry.includes.size()));
  for (const Include &include : entry.includes) {
    writer.Text(include.path);
    writer.Number(static_cast<int64_t>(include.bytes));
    writer.Number(include.changed_ns);
    writer.Text(include.digest);
  }
  writer.Number(static_cast<int64_t>(entry.absent.size()));
  for (const std::string &path : entry.absent) writer.Text(path);
  writer.Text(entry.log);
  writer.Text(entry.binary);
  std::string temporary = Folder() + "/.new-XXXXXX";
  const int file = mkstemp(temporary.data());
  if (file < 0) return;
  const std::string head = kMagic + DigestOf(writer.Get());
  bool is_written = true;
  for (const std::string *part : {&head, &writer.Get()}) {
    for (size_t at = 0; is_written && at < part->size();) {
      const ssize_t count = write(file, part->data() + at, part->size() - at);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) is_written = false;
      at += count > 0 ? static_cast<size_t>(count) : 0;
    }
  }
  is_written = close(file) == 0 && is_written;
  if (!is_written || rename(temporary.c_str(), PathOf(key).c_str()) != 0) {
    unlink(temporary.c_str());
    return;
  }
  Trim();
}

}  // namespace opkit_sim::rtc
