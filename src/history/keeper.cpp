#include "history/keeper.h"

#include <cstdio>

#include "base/log.h"
#include "base/replace_file.h"
#include "base/sleep.h"
#include "base/write_all.h"
#include "history/compressed.h"

namespace stoker::history {
namespace {

constexpr auto every = std::chrono::minutes(1);

Result<void> write_compressed(const History& history, int fd, const std::string& path) {
  Compressor compressor([&](std::string_view bytes) { return write_all(fd, bytes, path); });
  if (auto done = history.write_to([&](std::string_view bytes) { return compressor.add(bytes); });
      !done) {
    return done;
  }
  return compressor.finish();
}

}  // namespace

Result<void> save(const History& history, const std::string& path) {
  return replace_file(
      path, [&](int fd, const std::string& name) { return write_compressed(history, fd, name); });
}

Result<void> load(History& history, const std::string& path) {
  auto bytes = read_compressed(path);
  if (!bytes) return fail(bytes.error());
  return history.read_from(*bytes);
}

Keeper::Keeper(History& history, std::string path, KeeperOptions options)
    : history_(history), path_(std::move(path)), options_(std::move(options)) {
  const auto loaded = load(history_, path_);
  if (loaded || loaded.error().code() == ErrorCode::not_found) return;
  const std::string aside = path_ + ".bad";
  log::warning("history_not_read", {{"reason", loaded.error().describe()}, {"kept_as", aside}});
  std::rename(path_.c_str(), aside.c_str());
}

Keeper::~Keeper() { stop(); }

void Keeper::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) {
    while (sleep_unless_stopped(stop, every)) save_now();
  });
}

void Keeper::stop() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
  save_now();
}

void Keeper::save_now() {
  Result<void> saved;
  if (options_.may_save) saved = options_.may_save();
  if (saved) saved = save(history_, path_);
  const bool changed = failing_ == saved.has_value();
  failing_ = !saved;
  if (!changed) return;
  if (!saved) {
    log::warning("history_not_saved", {{"reason", saved.error().describe()}});
  } else {
    log::info("history_saved_again", {{"path", path_}});
  }
  if (options_.on_change) options_.on_change(saved);
}

}  // namespace stoker::history
