#include "history/keeper.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "base/log.h"
#include "base/sleep.h"
#include "base/unique_fd.h"
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

// The name is on disk when the folder is.
void sync_folder_of(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  const UniqueFd fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.valid()) fsync(fd.get());
}

}  // namespace

Result<void> save(const History& history, const std::string& path) {
  const std::string beside = path + ".new";
  unlink(beside.c_str());  // of a process that was killed while it saved; or a pipe, to wait for
  const UniqueFd fd(open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640));
  if (!fd.valid()) return fail(Error::from_errno(errno, fmt::format("open {}", beside)));
  if (auto done = write_compressed(history, fd.get(), beside); !done) {
    unlink(beside.c_str());
    return done;
  }
  if (fsync(fd.get()) != 0 || std::rename(beside.c_str(), path.c_str()) != 0) {
    auto error = Error::from_errno(errno, fmt::format("put {} in place", path));
    unlink(beside.c_str());
    return fail(std::move(error));
  }
  sync_folder_of(path);
  return {};
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
