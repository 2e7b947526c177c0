// History stage: the history on disk. One compressed file, written beside and moved into place, so that
// whenever a process is killed there is a whole one, at most a minute old.
#pragma once

#include <functional>
#include <string>
#include <thread>

#include "base/result.h"
#include "history/history.h"

namespace stoker::history {

// Writes `history` to `path` (and `path`.new, which it moves there). io where the disk refuses; the
// file that was there stays.
Result<void> save(const History& history, const std::string& path);
// not_found where there is none; corrupt where it is not what save() wrote.
Result<void> load(History& history, const std::string& path);

struct KeeperOptions {
  // Asked before each save; an error is why nothing may be written to the place of `path`.
  std::function<Result<void>()> may_save;
  // Told when saving begins to fail (with the error) and when it works again; on the keeper's thread, or
  // on that of stop().
  std::function<void(const Result<void>&)> on_change;
};

class Keeper {
 public:
  // `history` must outlive this. Takes back what `path` has; one that can't be read is kept as
  // `path`.bad, and said in the log.
  Keeper(History& history, std::string path, KeeperOptions options = {});
  ~Keeper();
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  // Saves every minute until stop(), which saves once more.
  void start();
  void stop();

 private:
  void save_now();

  // Constant after construction.
  History& history_;
  const std::string path_;
  const KeeperOptions options_;

  bool failing_ = false;  // of the thread, and of stop() after it
  std::jthread thread_;
};

}  // namespace stoker::history
