// Device stage: every time that the supervision of probes knows (docs/specs/probe.md). All are options so that tests shorten them; ages count from the start of
// the call that has not returned.
#pragma once

#include <algorithm>

#include "base/clock.h"

namespace stoker::device::probe {

struct Timing {
  Nanoseconds hung_after = Seconds(10);  // the GPU's readings become `hung`
  // The driver gives a firmware call 45 s; before that nobody is asked to go, since a process killed
  // inside the driver has frozen cards (dcgm-exporter issue 84).
  Nanoseconds leave_after = Seconds(45);  // asked to leave; a second probe opens the other GPUs
  Nanoseconds term_after = Seconds(60);   // SIGTERM
  Nanoseconds kill_after = Seconds(120);  // SIGKILL; after that it is left unreaped
  // How often a probe says which calls are under way, and so how late a hang may be told. A waking
  // process costs more than what it says: four a second were a third of what watching cost.
  Nanoseconds heartbeat = Seconds(1);

  // No library, no driver, no permission, versions that differ, a probe that died: the first try
  // comes after retry_first, each further one after twice as long, up to retry_most. What is back
  // is thus seen within 20 s.
  Nanoseconds retry_first = Seconds(5);
  Nanoseconds retry_most = Seconds(15);
  // A look for lost GPUs, in a process of its own: first, and at most as long after the last one.
  Nanoseconds lost_retry = Seconds(10);
  Nanoseconds lost_retry_most = Seconds(300);
  Nanoseconds hung_retry_first =
      Seconds(15);  // a look at a GPU that hung, once its process is gone
  Nanoseconds hung_retry_most = Seconds(300);
  Nanoseconds stop_wait = Seconds(2);  // how long stop() waits for probes to be gone
};

// A hang shorter than a few heartbeats can't be told from a quiet probe, so a short hung_after makes
// the heart beat faster.
inline Timing fitted(Timing timing) {
  timing.heartbeat =
      std::max<Nanoseconds>(std::min(timing.heartbeat, timing.hung_after / 5), Milliseconds(1));
  return timing;
}

}  // namespace stoker::device::probe
