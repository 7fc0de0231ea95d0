// SPDX-License-Identifier: LGPL-2.1-or-later
// Kernels and their blocks run one after another. Each thread of a block runs
// on its own stack until it waits for others. The next thread is chosen at
// random, to expose dependencies on the order of threads; the seed is fixed, so
// failures are reproducible.
#include "emulate.h"

#include <algorithm>
#include <boost/context/detail/fcontext.hpp>
#include <memory>
#include <stdio.h>
#include <stdlib.h>
#include <vector>

#define STACK (32 << 10)
#define STAGGER 576 // stacks that start in the same cache sets are slow
#define MAX_THREADS 1024

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;
void *cuv_emulated_shared;

enum State { READY, MEETING, AT_BARRIER, DONE };

struct Thread {
  std::unique_ptr<char[]> stack;
  boost::context::detail::fcontext_t here;
  State state;
  uint3 index;
  // arguments and result of a warp operation:
  CuvMeeting what;
  unsigned mask;
  uint64_t brings, gets;
  int source;
};

// The threads of a warp that are still to run in this turn.
struct Turn {
  int warp, lane, step, left;
};

static std::vector<Thread> threads (MAX_THREADS);
static int n_threads;
static Turn turn;
static Thread scheduler;
static Thread *current = &scheduler;
static const std::function<void ()> *kernel;
static uint32_t seed = 1;

[[noreturn]] static void
fail (const Thread &thread, const char *why)
{
  fprintf (stderr, "emulated kernel: block %u %u, thread %u %u %u: %s\n",
      blockIdx.x, blockIdx.y, thread.index.x, thread.index.y, thread.index.z,
      why);
  abort ();
}

unsigned
cuv_emulated_draw (unsigned n)
{
  seed = seed * 1664525 + 1013904223;
  return (seed >> 8) % n;
}

// ---- switching stacks ----

// Switches are not reported to AddressSanitizer, which would take a quarter of
// the time. It needs the reports only to find uses of variables of functions
// that have returned, and for exceptions, which kernels do not throw.
extern "C" const char *
__asan_default_options ()
{
  return "detect_stack_use_after_return=0";
}

// Stores where the thread that was left continues.
static void
arrive_from (boost::context::detail::transfer_t transfer)
{
  ((Thread *) transfer.data)->here = transfer.fctx;
}

// Switches to a thread; returns when another switches back.
static void
go_on (Thread *to)
{
  Thread *from = current;

  current = to;
  threadIdx = to->index;
  arrive_from (boost::context::detail::jump_fcontext (to->here, from));
}

// Returns the next thread of the warp that is ready, or the scheduler.
static Thread *
next_in_turn ()
{
  while (turn.left > 0) {
    const int k = turn.warp * 32 + turn.lane;

    turn.lane = (turn.lane + turn.step) % 32;
    turn.left--;
    if (k < n_threads && threads[k].state == READY)
      return &threads[k];
  }
  return &scheduler;
}

static void
wait (State state)
{
  current->state = state;
  go_on (next_in_turn ());
}

// A thread's stack is reused for all kernels.
static void
begin (boost::context::detail::transfer_t from)
{
  arrive_from (from);
  for (;;) {
    (*kernel) ();
    wait (DONE);
  }
}

// ---- synchronisation ----

uint64_t
cuv_emulated_meet (CuvMeeting what, unsigned mask, uint64_t brings, int source)
{
  current->what = what;
  current->mask = mask;
  current->brings = brings;
  current->source = source;
  if (!(mask >> cuv_emulated_lane () & 1))
    fail (*current, "is not in the mask that it passed");
  wait (MEETING);
  return current->gets;
}

void
__syncthreads ()
{
  wait (AT_BARRIER);
}

// Calls f for the threads of a warp that are in mask and not done.
template <typename F>
static void
for_mates (int warp, unsigned mask, F f)
{
  for (int i = 0; i < 32 && warp * 32 + i < n_threads; i++) {
    Thread &thread = threads[warp * 32 + i];

    if (mask >> i & 1 && thread.state != DONE)
      f (thread, i);
  }
}

// Completes a warp operation if all threads of its mask have arrived; some may
// have to complete one with a smaller mask first.
static void
settle (int warp, const Thread &first)
{
  const unsigned mask = first.mask;
  unsigned ballot = 0, present = 0;
  bool all = true;

  for_mates (warp, mask, [&] (const Thread &mate, int lane) {
    all = all && mate.state == MEETING && mate.mask == mask;
    if (mate.state == MEETING && mate.mask == mask && mate.what != first.what)
      fail (mate, "calls another warp operation than other threads");
    ballot |= (unsigned) (mate.brings & 1) << lane;
    present |= 1u << lane;
  });
  if (!all)
    return;
  for_mates (warp, mask, [&] (Thread &mate, int) {
    if (mate.what == CUV_SHUFFLE && !(present >> mate.source & 1))
      fail (mate, "reads from a lane that does not take part");
    mate.gets = mate.what == CUV_BALLOT
        ? ballot
        : threads[warp * 32 + mate.source].brings;
    mate.state = READY;
  });
}

// Runs all ready threads of a warp, from a random lane in a random direction.
// Returns false if none was ready.
static bool
run_warp (int warp)
{
  const int first = (int) cuv_emulated_draw (32),
            step = cuv_emulated_draw (2) ? 1 : 31;

  turn = { warp, first, step, 32 };
  Thread *const next = next_in_turn ();
  if (next == &scheduler)
    return false;
  go_on (next);
  for_mates (warp, ~0u, [&] (const Thread &thread, int) {
    if (thread.state == MEETING)
      settle (warp, thread);
  });
  return true;
}

// Returns false if all threads are done.
static bool
pass_barrier ()
{
  bool any = false;

  for (int i = 0; i < n_threads; i++) {
    if (threads[i].state == MEETING)
      fail (threads[i], "waits for threads of its warp that never arrive");
    any = any || threads[i].state == AT_BARRIER;
    if (threads[i].state == AT_BARRIER)
      threads[i].state = READY;
  }
  return any;
}

// ---- blocks ----

static void
prepare_thread (int k)
{
  Thread &thread = threads[k];

  if (thread.stack == nullptr) {
    const size_t size = STACK + k * STAGGER % (8 << 10);

    thread.stack.reset (new char[size]);
    thread.here = boost::context::detail::make_fcontext (
        thread.stack.get () + size, size, begin);
  }
  thread.state = READY;
  thread.index = uint3{ k % blockDim.x, k / blockDim.x % blockDim.y,
    k / (blockDim.x * blockDim.y) };
}

static void
run_block ()
{
  const int warps = (n_threads + 31) / 32;

  for (int k = 0; k < n_threads; k++)
    prepare_thread (k);
  do {
    const int first = (int) cuv_emulated_draw (warps);
    bool able[MAX_THREADS / 32], any;

    std::fill_n (able, warps, true);
    do {
      any = false;
      for (int i = 0; i < warps; i++) {
        const int warp = (first + i) % warps;

        able[warp] = able[warp] && run_warp (warp);
        any |= able[warp];
      }
    } while (any);
  } while (pass_barrier ());
}

void
cuv_emulate (
    dim3 grid, dim3 block, size_t shared, const std::function<void ()> &body)
{
  const unsigned n = grid.x * grid.y * grid.z;

  gridDim = grid;
  blockDim = block;
  if (n == 0 || block.x * block.y * block.z == 0
      || block.x * block.y * block.z > MAX_THREADS
      || shared > CUV_EMULATED_MAX_SHARED) {
    fprintf (stderr, "emulated kernel: invalid launch configuration\n");
    abort ();
  }
  n_threads = (int) (block.x * block.y * block.z);
  kernel = &body;
  for (unsigned i = 0; i < n; i++) {
    // memory of exactly the requested size, not zeroed
    std::unique_ptr<uint4[]> memory (new uint4[(shared + 15) / 16]);

    memset ((void *) memory.get (), 0xa5, (shared + 15) / 16 * 16);
    cuv_emulated_shared = memory.get ();
    blockIdx = uint3{ i % grid.x, i / grid.x % grid.y, i / (grid.x * grid.y) };
    run_block ();
  }
}
