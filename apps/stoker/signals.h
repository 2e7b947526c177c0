// Composition: the signals that end or reload a verb which runs until it is told.
#pragma once

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>

#include "base/clock.h"
#include "base/unique_fd.h"

namespace stoker::app {

// SIGINT, SIGTERM and SIGHUP as something to wait for. Made before any thread exists, so that all
// inherit the mask; children get their own (device/probe/process.cpp).
class Signals {
 public:
  Signals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, number);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    fd_.reset(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  }

  // The next signal; 0 if none comes within `timeout` (negative: for ever).
  int wait(Milliseconds timeout) {
    pollfd waiting{fd_.get(), POLLIN, 0};
    ::poll(&waiting, 1, static_cast<int>(timeout.count()));
    signalfd_siginfo info{};
    const bool got = ::read(fd_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info);
    return got ? static_cast<int>(info.ssi_signo) : 0;
  }

 private:
  UniqueFd fd_;
};

}  // namespace stoker::app
