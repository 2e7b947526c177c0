// Test support: a file whose read never returns, as a driver call that hangs in the kernel: a FUSE
// file system whose server takes the request and does not answer. The reader sleeps interruptibly
// until it is signalled, then uninterruptibly (fs/fuse/dev.c, request_wait_answer). Needs root and
// /dev/fuse; spoken to without libfuse, by the kernel's own header.
#pragma once

#include <fcntl.h>
#include <linux/fuse.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <thread>

#include "base/unique_fd.h"

namespace stoker::test {

class StuckFile {
 public:
  // Mounts at the folder `mount_point`, which must exist.
  explicit StuckFile(std::string mount_point) : mount_point_(std::move(mount_point)) {
    device_.reset(open("/dev/fuse", O_RDWR | O_CLOEXEC));
    if (!device_.valid()) {
      problem_ = std::string("open /dev/fuse: ") + std::strerror(errno);
      return;
    }
    const std::string options =
        "fd=" + std::to_string(device_.get()) + ",rootmode=40000,user_id=0,group_id=0,allow_other";
    if (mount("stuck", mount_point_.c_str(), "fuse", MS_NOSUID | MS_NODEV, options.c_str()) != 0) {
      problem_ = std::string("mount a fuse file system: ") + std::strerror(errno);
      return;
    }
    mounted_ = true;
    server_ = std::thread([this] { serve(); });
  }
  ~StuckFile() { let_go(); }
  StuckFile(const StuckFile&) = delete;
  StuckFile& operator=(const StuckFile&) = delete;

  // Why there is no such file here; empty if there is.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] std::string path() const { return mount_point_ + "/file"; }
  [[nodiscard]] int reads() const { return reads_; }

  // Every reader gets an error, and whoever was killed meanwhile dies.
  void let_go() {
    if (!mounted_) return;
    mounted_ = false;
    // MNT_FORCE aborts the connection first (fs/fuse/inode.c, fuse_umount_begin).
    umount2(mount_point_.c_str(), MNT_FORCE | MNT_DETACH);
    server_.join();
    device_.reset();
  }

 private:
  static constexpr std::uint64_t file_node = 2;

  // Reading fails with ENODEV once the connection is gone.
  void serve() {
    std::array<char, 1 << 17> buffer{};
    while (true) {
      const ssize_t size = read(device_.get(), buffer.data(), buffer.size());
      if (size < 0 && (errno == EINTR || errno == EAGAIN || errno == ENOENT)) continue;
      if (size < static_cast<ssize_t>(sizeof(fuse_in_header))) return;
      fuse_in_header request{};
      std::memcpy(&request, buffer.data(), sizeof request);
      answer(request, buffer.data() + sizeof request);
    }
  }

  template <typename Body>
  void reply(const fuse_in_header& request, const Body& body) {
    struct {
      fuse_out_header header;
      Body body;
    } message{{sizeof message, 0, request.unique}, body};
    message.header.len = sizeof(fuse_out_header) + sizeof(Body);
    send(&message, message.header.len);
  }
  void reply_error(const fuse_in_header& request, int error) {
    const fuse_out_header header{sizeof header, -error, request.unique};
    send(&header, sizeof header);
  }
  void send(const void* bytes, std::size_t size) {
    // An answer that comes too late is refused; the requester is gone then.
    [[maybe_unused]] const ssize_t written = write(device_.get(), bytes, size);
  }

  static fuse_attr attributes(std::uint64_t id) {
    fuse_attr attr{};
    attr.ino = id;
    attr.mode = id == FUSE_ROOT_ID ? S_IFDIR | 0755U : S_IFREG | 0666U;
    attr.nlink = 1;
    attr.size = 4096;
    return attr;
  }

  void answer(const fuse_in_header& request, const char* body) {
    switch (request.opcode) {
      case FUSE_INIT: {
        fuse_init_in asked{};
        std::memcpy(&asked, body, sizeof asked);
        fuse_init_out out{};
        out.major = FUSE_KERNEL_VERSION;
        out.minor = std::min<std::uint32_t>(asked.minor, FUSE_KERNEL_MINOR_VERSION);
        out.max_write = 4096;
        return reply(request, out);
      }
      case FUSE_LOOKUP: {
        if (std::strcmp(body, "file") != 0) return reply_error(request, ENOENT);
        fuse_entry_out out{};
        out.nodeid = file_node;
        out.attr = attributes(file_node);
        return reply(request, out);
      }
      case FUSE_GETATTR: {
        fuse_attr_out out{};
        out.attr = attributes(request.nodeid);
        return reply(request, out);
      }
      case FUSE_OPEN: {
        fuse_open_out out{};
        out.open_flags = FOPEN_DIRECT_IO;
        return reply(request, out);
      }
      case FUSE_READ: ++reads_; return;  // taken, and never answered
      case FUSE_FORGET:
      case FUSE_BATCH_FORGET:
      case FUSE_INTERRUPT: return;  // these want no answer
      case FUSE_RELEASE:
      case FUSE_FLUSH: return reply_error(request, 0);
      default: return reply_error(request, ENOSYS);
    }
  }

  const std::string mount_point_;
  UniqueFd device_;
  std::string problem_;
  bool mounted_ = false;
  std::atomic<int> reads_{0};
  std::thread server_;
};

}  // namespace stoker::test
