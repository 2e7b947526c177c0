// Composition: the counter file (metrics.counters), read again and again, since a ConfigMap changes
// under the feet of who has it mounted. It is read whole and compared: a swap of symbolic links, an
// editor's rename and a write within one tick of mtime are all seen alike.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "base/thread_safety.h"
#include "export/counters.h"

namespace stoker::app {

struct CountersText {
  std::string file;  // that was read
  std::string text;
};

// `path` is a file, or a folder with one: named `metrics`, as the key of dcgm-exporter's ConfigMap, or
// the only one that ends in .csv. Relative to the working folder.
Result<CountersText> read_counters(const std::string& path);

// What `path` says, or why it says nothing (list absent, one finding or more).
exporting::ParsedCounters load_counters(const std::string& path);

class CountersWatch {
 public:
  using Counters = std::shared_ptr<const exporting::CounterList>;
  // nullptr: the default list. The findings say why a change was not taken over.
  using Tell = std::function<void(Counters, std::vector<Finding>)>;

  explicit CountersWatch(Tell tell);
  ~CountersWatch();
  CountersWatch(const CountersWatch&) = delete;
  CountersWatch& operator=(const CountersWatch&) = delete;

  // Reads it at once, also where it is the same path as before; empty: no file. What is wrong leaves
  // the list in force as it is.
  void set_path(const std::string& path) EXCLUDES(mutex_);
  void start();
  // Returns when the look under way is done.
  void stop();

  // One look: a change counts when two looks in a row see the same, so that no half of a file that is
  // being written is taken over. The thread of start() looks every two seconds.
  void look() EXCLUDES(mutex_);

 private:
  void take_over(const std::string& seen) REQUIRES(mutex_);

  // Constant after construction.
  const Tell tell_;

  Mutex mutex_;
  std::string path_ GUARDED_BY(mutex_);
  std::string in_force_ GUARDED_BY(mutex_);  // what was seen when it was last taken over or refused
  std::optional<std::string> seen_once_ GUARDED_BY(mutex_);
  Counters counters_ GUARDED_BY(mutex_);

  std::jthread thread_;
};

}  // namespace stoker::app
