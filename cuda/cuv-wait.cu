// SPDX-License-Identifier: LGPL-2.1-or-later
// Waits that sleep for most of their usual duration, then poll or sleep again.
#include "cuv-wait.h"

#include <algorithm>
#include <atomic>
#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>
#include "cuv-cuda.cuh"

// nanoseconds of polling without sleep, before and after the usual end
#define CUV_WAIT_SPIN 20000
#define CUV_WAIT_LONG (25 * CUV_WAIT_SPIN) // waits that do not poll
// in nanoseconds; used if a wait takes longer than usual
#define CUV_WAIT_LONGEST_NAP 1000000

#define CUV_WAIT_BUSY 2 // threads that wait while the GPU is busy
// nanoseconds between the waits of different threads: those of threads that
// take turns, and the longest that count
#define CUV_WAIT_TURNS 2000000
#define CUV_WAIT_PAUSE 100000000

struct _CuvWaiters {
  std::atomic<int> n;
  std::atomic<pthread_t> last;  // the thread that began a wait last
  std::atomic<int64_t> changed; // when it did so after another one
  std::atomic<int64_t> pace;    // mean time between such changes

  constexpr _CuvWaiters () : n (0), last (0), changed (0), pace (CUV_WAIT_PAUSE)
  {
  }

  // Notes that this thread begins to wait. Threads may do so at the same time,
  // and spoil the mean a little.
  void
  note (int64_t now)
  {
    if (last.exchange (pthread_self ()) != pthread_self ()) {
      const int64_t gap = now - changed.exchange (now);

      pace = pace + (std::min<int64_t> (gap, CUV_WAIT_PAUSE) - pace) / 8;
    } else if (now - changed > 5 * CUV_WAIT_TURNS) {
      pace = CUV_WAIT_PAUSE; // the others have ended
    }
  }

  bool
  take_turns () const
  {
    return pace < CUV_WAIT_TURNS;
  }
};

static CuvWaiters own_waiters;
static std::atomic<CuvWaiters *> current_waiters = &own_waiters;

static int64_t
now ()
{
  struct timespec time;

  clock_gettime (CLOCK_MONOTONIC, &time);
  return time.tv_sec * INT64_C (1000000000) + time.tv_nsec;
}

namespace
{

// Counts the thread while it lives.
class Waiting
{
  CuvWaiters *const waiters = current_waiters;

public:
  const int64_t start = now ();

  Waiting ()
  {
    waiters->n++;
    waiters->note (start);
  }
  ~Waiting ()
  {
    waiters->n--;
  }
};

// While it lives, the thread's sleeps have a timer slack of 1 us instead of,
// usually, 50 us.
class ExactSleeps
{
  const int slack = prctl (PR_GET_TIMERSLACK, 0, 0, 0, 0);

public:
  ExactSleeps ()
  {
    prctl (PR_SET_TIMERSLACK, 1000, 0, 0, 0);
  }
  ~ExactSleeps ()
  {
    if (slack > 0)
      prctl (PR_SET_TIMERSLACK, slack, 0, 0, 0);
  }
};

} // namespace

static void
nap (int64_t nanoseconds)
{
  const struct timespec time = { nanoseconds / 1000000000,
    nanoseconds % 1000000000 };

  clock_nanosleep (CLOCK_MONOTONIC, 0, &time, nullptr);
}

template <typename Query>
static cudaError_t
spin (Query query)
{
  const int64_t end = now () + 2 * CUV_WAIT_SPIN;
  cudaError_t status;

  do
    status = query ();
  while (status == cudaErrorNotReady && now () < end);
  return status;
}

// Polls query () until it returns something other than cudaErrorNotReady, and
// returns that.
template <typename Query>
static cudaError_t
poll (CuvWait *self, Query query)
{
  const Waiting waiting;
  const int64_t start = waiting.start, usual = self->usual;
  cudaError_t status = query ();

  // sleeps less next time if the work is done already or right after the sleep
  self->usual = usual - usual / 8;
  if (status != cudaErrorNotReady)
    return status;
  const ExactSleeps exact;
  if (usual > CUV_WAIT_SPIN) {
    nap (usual - CUV_WAIT_SPIN);
    status = query ();
    if (status != cudaErrorNotReady)
      return status;
  }
  // for long waits, short sleeps cost less than polling, and are not later than
  // it; of many threads each is a little later, but their polls together would
  // take much of a core, and the driver's lock
  if (usual < CUV_WAIT_LONG && !cuv_gpu_is_busy ())
    status = spin (query);
  while (status == cudaErrorNotReady) {
    nap (std::min<int64_t> (
        std::max<int64_t> ((now () - start - usual) / 2, CUV_WAIT_SPIN),
        CUV_WAIT_LONGEST_NAP));
    status = query ();
  }
  // a delayed wait must not make the next one oversleep
  const int64_t took =
      std::min<int64_t> (now () - start, 2 * usual + 2 * CUV_WAIT_SPIN);
  self->usual = usual + (took - usual) / 4;
  return status;
}

static int
cuv_wait_finish (cudaError_t status, const char *call)
{
  cudaGetLastError (); // polling leaves cudaErrorNotReady there
  return cuv_cuda_record (status, call);
}

extern "C" int
cuv_wait_stream (CuvWait *self, CuvCudaStream stream)
{
  return cuv_wait_finish (
      poll (self, [=] { return cudaStreamQuery ((cudaStream_t) stream); }),
      "cudaStreamQuery");
}

extern "C" int
cuv_wait_event (CuvWait *self, void *event)
{
  return cuv_wait_finish (
      poll (self, [=] { return cudaEventQuery ((cudaEvent_t) event); }),
      "cudaEventQuery");
}

extern "C" CuvWaiters *
cuv_waiters (void)
{
  return current_waiters;
}

extern "C" CuvWaiters *
cuv_waiters_join (CuvWaiters *waiters)
{
  return current_waiters.exchange (waiters);
}

// A test program may define this to choose the answer.
extern "C" CUV_API bool cuv_test_gpu_is_busy (void) __attribute__ ((weak));

extern "C" bool
cuv_gpu_is_busy (void)
{
  const CuvWaiters *waiters = cuv_waiters ();

  return cuv_test_gpu_is_busy != nullptr
      ? cuv_test_gpu_is_busy ()
      : waiters->n >= CUV_WAIT_BUSY || waiters->take_turns ();
}
