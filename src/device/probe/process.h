// Device stage, agent side: one probe process, from posix_spawn to waitpid. Nothing here waits.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace stoker::device::probe {

struct ProcessOptions {
  std::string program;
  std::string name = "stoker";  // what ps(1) shows in its place
  std::vector<std::string> arguments;
  bool tell_socket = true;               // "--fd 3" follows
  std::vector<std::string> environment;  // "NAME=value" on top of ours
  std::vector<std::string> without;      // names of ours that it does not get
};

class Process {
 public:
  // Starts it with one end of a socket as descriptor 3 and /dev/null as input and output; it inherits
  // our standard error and nothing else, has its own process group (Ctrl-C is the agent's business) and
  // leaves when our end of the socket is closed.
  static Result<Process> spawn(const ProcessOptions& options);

  [[nodiscard]] int pid() const { return pid_; }
  [[nodiscard]] int socket() const { return socket_.get(); }
  // Becomes readable when it has ended (pidfd_open(2)); -1 where the kernel has no such thing.
  [[nodiscard]] int end() const { return end_.get(); }

  // False when the packet could not be sent now.
  bool send(const std::string& packet) const;
  // Nothing more will be sent: the other end reads the end of the stream.
  void finish_sending() const;
  void close_socket() { socket_.reset(); }
  void signal(int number) const;
  // How it ended ("killed by signal 9"), once it has; reaps it.
  std::optional<std::string> poll_exit();
  // Every thread of it is stopped (state T of /proc/PID/task/TID/stat), so none is in the driver.
  [[nodiscard]] bool stopped() const;

 private:
  Process(int pid, UniqueFd socket, UniqueFd end)
      : pid_(pid), socket_(std::move(socket)), end_(std::move(end)) {}

  int pid_ = 0;
  UniqueFd socket_;
  UniqueFd end_;
};

}  // namespace stoker::device::probe
