// SPDX-License-Identifier: LGPL-2.1-or-later
// The runtime: memory, streams and events. Work that was enqueued is done
// later, as on a GPU: while the program enqueues other work or waits, that of
// each stream in order, that of different streams in any order that events
// allow. The order is random, to expose what waits for too little.
#include "emulate.h"

#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <vector>

// A point in a stream, which work that waits for it may outlive.
struct Record {
  cudaStream_t stream;
  bool reached;
  double ms; // when it was reached
};

struct CuvEmulatedEvent {
  std::shared_ptr<Record> record; // the last one; NULL = none yet
};

struct Work {
  std::function<void ()> run;
  std::shared_ptr<Record> after; // it waits for this; NULL = for nothing
};

typedef std::deque<Work> Stream;

struct CuvEmulatedGraph {
  std::vector<Work> work;
};

// Locked by each function of the runtime.
static std::mutex mutex;
typedef std::lock_guard<std::mutex> Lock;

static std::map<cudaStream_t, Stream> streams;
static std::map<cudaStream_t, CuvEmulatedGraph> recordings;
// Kernels that were launched.
static std::map<void *, std::function<std::function<void ()> (void **)>>
    kernels;
static std::map<const char *, size_t> blocks; // device and pinned memory
static double busy_until;                     // seconds

static double
seconds_now ()
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return (double) now.tv_sec + (double) now.tv_nsec * 1e-9;
}

// ---- the order of work ----

static bool
is_able (const Stream &stream)
{
  if (stream.empty ())
    return false;
  const Work &next = stream.front ();
  return next.after == nullptr || next.after->reached;
}

// Does the next piece of work of a stream; returns false if it cannot go on.
static bool
go_on (Stream *stream)
{
  if (!is_able (*stream))
    return false;
  const Work work = std::move (stream->front ());

  stream->pop_front ();
  work.run ();
  return true;
}

// The same for a random stream.
static bool
go_on ()
{
  std::vector<Stream *> able;

  for (auto &stream : streams)
    if (is_able (stream.second))
      able.push_back (&stream.second);
  return !able.empty ()
      && go_on (able[cuv_emulated_draw ((unsigned) able.size ())]);
}

// Waits for work in a stream; other streams do little more than it needs.
template <typename Done>
static void
run_until (cudaStream_t stream, Done done)
{
  while (!done ()) {
    if ((cuv_emulated_draw (8) > 0 && go_on (&streams[stream])) || go_on ())
      continue;
    fprintf (stderr, "emulated runtime: streams wait for each other\n");
    abort ();
  }
}

static void
finish (cudaStream_t stream)
{
  run_until (stream, [&] { return streams[stream].empty (); });
}

static void
finish_all ()
{
  while (go_on ())
    ;
}

// For a while the device does nothing that is not waited for, then it hardly
// has anything left to do.
static void
go_on_at_random ()
{
  static unsigned haste;

  if (cuv_emulated_draw (16) == 0)
    haste = cuv_emulated_draw (4);
  while (cuv_emulated_draw (4) < haste && go_on ())
    ;
}

// Goes on with a stream whose state is asked for, so that asking again ends.
static void
go_on_while_asked (cudaStream_t stream)
{
  if (!go_on (&streams[stream]))
    go_on ();
  go_on_at_random ();
}

static void
enqueue (cudaStream_t stream, std::function<void ()> run,
    std::shared_ptr<Record> after = nullptr)
{
  const auto recording = recordings.find (stream);

  if (recording != recordings.end ()) {
    recording->second.work.push_back ({ std::move (run), std::move (after) });
    return;
  }
  streams[stream].push_back ({ std::move (run), std::move (after) });
  go_on_at_random ();
}

void
cuv_emulated_remember (
    void *kernel, std::function<std::function<void ()> (void **)> bind)
{
  const Lock lock (mutex);

  kernels[kernel] = std::move (bind);
}

void
cuv_emulated_launch (dim3 grid, dim3 block, size_t shared, cudaStream_t stream,
    std::function<void ()> body)
{
  const Lock lock (mutex);

  enqueue (stream, [=] { cuv_emulate (grid, block, shared, body); });
}

// ---- the runtime ----

static bool
is_ours (const void *memory)
{
  const auto next = blocks.upper_bound ((const char *) memory);

  if (next == blocks.begin ())
    return false;
  const auto block = std::prev (next);
  return (const char *) memory < block->first + block->second;
}

// A number of rows of memory.
struct Rows {
  char *data;
  size_t pitch;
};

static void
copy_rows (const Rows &to, const Rows &from, size_t width, size_t height)
{
  for (size_t y = 0; y < height; y++)
    memcpy (to.data + y * to.pitch, from.data + y * from.pitch, width);
}

// Ordinary memory of the host is read at once and written before the function
// returns.
static void
enqueue_copy (const Rows &to, const Rows &from, size_t width, size_t height,
    cudaStream_t stream)
{
  if (is_ours (from.data))
    enqueue (stream, [=] { copy_rows (to, from, width, height); });
  else {
    const auto read = std::make_shared<std::vector<char>> (width * height);

    copy_rows ({ read->data (), width }, from, width, height);
    enqueue (stream, [=] {
      copy_rows (to, { read->data (), width }, width, height);
    });
  }
  if (!is_ours (to.data))
    finish (stream);
}

static cudaError_t
state_of (bool finished)
{
  return finished && seconds_now () >= busy_until ? cudaSuccess
                                                  : cudaErrorNotReady;
}

extern "C" {

const char *
cudaGetErrorName (cudaError_t status)
{
  static const char *const names[] = { "cudaSuccess", "cudaErrorInvalidValue",
    "cudaErrorMemoryAllocation", "cudaErrorNotReady",
    "cudaErrorInsufficientDriver" };

  return names[status];
}

const char *
cudaGetErrorString (cudaError_t status)
{
  static const char *const texts[] = { "no error", "invalid argument",
    "out of memory", "device not ready", "insufficient driver" };

  return texts[status];
}

cudaError_t
cudaGetLastError (void)
{
  return cudaSuccess;
}

cudaError_t
cudaGetDevice (int *device)
{
  *device = 0;
  return cudaSuccess;
}

cudaError_t
cudaGetDeviceCount (int *n)
{
  *n = 1;
  return cudaSuccess;
}

cudaError_t
cudaSetDevice (int device)
{
  return device == 0 ? cudaSuccess : cudaErrorInvalidValue;
}

// Few multiprocessors, so that blocks process several tiles.
cudaError_t
cudaDeviceGetAttribute (int *value, cudaDeviceAttr attribute, int)
{
  // the limit of smaller GPUs
  const char *shared = getenv ("CUV_EMULATED_SHARED");

  *value = attribute == cudaDevAttrMultiProcessorCount ? 2
      : attribute == cudaDevAttrComputeCapabilityMajor ? 9
      : shared != nullptr                              ? atoi (shared)
                          : CUV_EMULATED_MAX_SHARED;
  return cudaSuccess;
}

// ---- memory ----

// Memory is not zeroed, as on a device.
cudaError_t
cuv_emulated_alloc (void **memory, size_t size)
{
  const Lock lock (mutex);

  size = size > 0 ? size : 1;
  if (posix_memalign (memory, 256, size) != 0)
    return cudaErrorMemoryAllocation;
  memset (*memory, 0xa5, size);
  blocks[(const char *) *memory] = size;
  return cudaSuccess;
}

cudaError_t
cudaFree (void *memory)
{
  const Lock lock (mutex);

  finish_all ();
  blocks.erase ((const char *) memory);
  free (memory);
  return cudaSuccess;
}

cudaError_t
cudaFreeHost (void *memory)
{
  return cudaFree (memory);
}

cudaError_t
cudaMemGetInfo (size_t *available, size_t *total)
{
  *available = *total = (size_t) 1 << 30;
  return cudaSuccess;
}

cudaError_t
cudaMemcpy2DAsync (void *to, size_t to_pitch, const void *from, size_t pitch,
    size_t width, size_t height, cudaMemcpyKind, cudaStream_t stream)
{
  const Lock lock (mutex);

  enqueue_copy ({ (char *) to, to_pitch }, { (char *) from, pitch }, width,
      height, stream);
  return cudaSuccess;
}

cudaError_t
cudaMemcpyAsync (void *to, const void *from, size_t n, cudaMemcpyKind kind,
    cudaStream_t stream)
{
  return cudaMemcpy2DAsync (to, n, from, n, n, 1, kind, stream);
}

cudaError_t
cudaMemcpy (void *to, const void *from, size_t n, cudaMemcpyKind kind)
{
  cudaMemcpyAsync (to, from, n, kind, nullptr);
  return cudaStreamSynchronize (nullptr);
}

cudaError_t
cudaMemsetAsync (void *to, int value, size_t n, cudaStream_t stream)
{
  const Lock lock (mutex);

  enqueue (stream, [=] { memset (to, value, n); });
  return cudaSuccess;
}

// ---- streams ----

cudaError_t
cudaStreamCreateWithFlags (cudaStream_t *stream, unsigned)
{
  *stream = new char;
  return cudaSuccess;
}

cudaError_t
cudaStreamCreateWithPriority (cudaStream_t *stream, unsigned flags, int)
{
  return cudaStreamCreateWithFlags (stream, flags);
}

cudaError_t
cudaStreamDestroy (cudaStream_t stream)
{
  const Lock lock (mutex);

  finish (stream);
  streams.erase (stream);
  delete (char *) stream;
  return cudaSuccess;
}

cudaError_t
cudaStreamSynchronize (cudaStream_t stream)
{
  const Lock lock (mutex);

  finish (stream);
  return cudaSuccess;
}

void
cuv_emulate_busy (double seconds)
{
  const Lock lock (mutex);

  busy_until = seconds_now () + seconds;
}

cudaError_t
cudaStreamQuery (cudaStream_t stream)
{
  const Lock lock (mutex);

  go_on_while_asked (stream);
  return state_of (streams[stream].empty ());
}

void
cuv_emulated_enqueue (cudaStream_t stream, void (*run) (void *data), void *data)
{
  const Lock lock (mutex);

  enqueue (stream, [=] { run (data); });
}

cudaError_t
cudaStreamWaitEvent (cudaStream_t stream, cudaEvent_t event, unsigned)
{
  const Lock lock (mutex);

  enqueue (
      stream, [] {}, event->record);
  return cudaSuccess;
}

// ---- graphs ----

cudaError_t
cudaStreamBeginCapture (cudaStream_t stream, cudaStreamCaptureMode)
{
  const Lock lock (mutex);

  recordings[stream] = {};
  return cudaSuccess;
}

cudaError_t
cudaStreamEndCapture (cudaStream_t stream, cudaGraph_t *graph)
{
  const Lock lock (mutex);

  *graph = new CuvEmulatedGraph (recordings[stream]);
  recordings.erase (stream);
  return cudaSuccess;
}

cudaError_t
cudaGraphInstantiateWithFlags (
    cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long)
{
  *exec = new CuvEmulatedGraph (*graph);
  return cudaSuccess;
}

cudaError_t
cudaGraphGetRootNodes (cudaGraph_t, cudaGraphNode_t *nodes, size_t *n)
{
  *nodes = nullptr;
  *n = 1;
  return cudaSuccess;
}

cudaError_t
cudaGraphExecKernelNodeSetParams (
    cudaGraphExec_t exec, cudaGraphNode_t, const cudaKernelNodeParams *params)
{
  const Lock lock (mutex);
  const dim3 grid = params->gridDim, block = params->blockDim;
  const unsigned shared = params->sharedMemBytes;
  const auto body = kernels.at (params->func) (params->kernelParams);

  exec->work.front ().run = [=] { cuv_emulate (grid, block, shared, body); };
  return cudaSuccess;
}

cudaError_t
cudaGraphLaunch (cudaGraphExec_t exec, cudaStream_t stream)
{
  const Lock lock (mutex);

  for (const Work &work : exec->work)
    enqueue (stream, work.run, work.after);
  return cudaSuccess;
}

cudaError_t
cudaGraphDestroy (cudaGraph_t graph)
{
  delete graph;
  return cudaSuccess;
}

cudaError_t
cudaGraphExecDestroy (cudaGraphExec_t exec)
{
  return cudaGraphDestroy (exec);
}

// ---- events ----

cudaError_t
cudaEventCreate (cudaEvent_t *event)
{
  *event = new CuvEmulatedEvent;
  return cudaSuccess;
}

cudaError_t
cudaEventCreateWithFlags (cudaEvent_t *event, unsigned)
{
  return cudaEventCreate (event);
}

cudaError_t
cudaEventDestroy (cudaEvent_t event)
{
  delete event;
  return cudaSuccess;
}

cudaError_t
cudaEventRecord (cudaEvent_t event, cudaStream_t stream)
{
  const Lock lock (mutex);
  const auto record = std::make_shared<Record> (Record{ stream, false, 0 });

  event->record = record;
  enqueue (stream, [=] {
    record->reached = true;
    record->ms = seconds_now () * 1e3;
  });
  return cudaSuccess;
}

cudaError_t
cudaEventSynchronize (cudaEvent_t event)
{
  const Lock lock (mutex);
  const auto record = event->record;

  if (record != nullptr)
    run_until (record->stream, [&] { return record->reached; });
  return cudaSuccess;
}

cudaError_t
cudaEventQuery (cudaEvent_t event)
{
  const Lock lock (mutex);
  const auto record = event->record;

  if (record != nullptr)
    go_on_while_asked (record->stream);
  return state_of (record == nullptr || record->reached);
}

cudaError_t
cudaEventElapsedTime (float *ms, cudaEvent_t a, cudaEvent_t b)
{
  const Lock lock (mutex);

  *ms = (float) (b->record->ms - a->record->ms);
  return cudaSuccess;
}

// ---- the driver ----

static int
current_context (void **context)
{
  static char the_only_one;

  *context = &the_only_one;
  return 0;
}

cudaError_t
cudaGetDriverEntryPointByVersion (
    const char *, void **function, unsigned, unsigned long long, void *)
{
  *function = (void *) current_context;
  return cudaSuccess;
}

cudaError_t
cudaDriverGetVersion (int *version)
{
  *version = CUDART_VERSION;
  return cudaSuccess;
}
}
