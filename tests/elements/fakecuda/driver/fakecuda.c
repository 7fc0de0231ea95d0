/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A stand-in for the CUDA driver, libcuda.so.1, on host memory: the functions
 * that libgstcuda of GStreamer 1.22 to 1.28 loads, without kernels. It tests
 * negotiation, contexts, pools, copies and metadata on machines without a GPU.
 * Asynchronous copies run only when their stream is waited for, so a missing
 * wait is detected. If the process has loaded the emulator of kernels, copies
 * are enqueued among these. */
#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "fakecuda/fakecuda.h"

#define N_DEVICES 2
#define PITCH 512
#define MAX_DEPTH 16
#define API __attribute__ ((visibility ("default")))

typedef struct Block {
  struct Block *next;
  char *data;
  size_t size;
  int pinned;
} Block;

typedef struct Copy {
  struct Copy *next;
  CUDA_MEMCPY2D what;
} Copy;

struct CUstream_st {
  Copy *first, **last;
};

struct CUctx_st {
  CUdevice device;
  unsigned int flags;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static Block *blocks;
static FakecudaCounts counts;
static int allocations_left = -1, copies_left = -1;
static __thread CUcontext stack[MAX_DEPTH];
static __thread int depth;

/* ---- the emulator of kernels, tests/emulate ---- */

static void *emulator;

static void
find_emulator (void)
{
  emulator = dlopen ("libcuvemulator.so", RTLD_LAZY | RTLD_NOLOAD);
}

/* Returns a function of the emulator, or NULL if the process has not loaded it
 * before it calls this driver. */
static void *
of_emulator (const char *name)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;

  pthread_once (&once, find_emulator);
  return emulator != NULL ? dlsym (emulator, name) : NULL;
}

/* The emulator has to know memory of the device and pinned memory, and frees it
 * after the work that may use it. */
static void *
allocate_data (size_t size)
{
  int (*alloc) (void **, size_t) = of_emulator ("cuv_emulated_alloc");
  void *data = NULL;

  if (alloc == NULL)
    data = malloc (size);
  else
    alloc (&data, size);
  return data;
}

static void
free_data (void *data)
{
  int (*emulated_free) (void *) = of_emulator ("cudaFree");

  if (emulated_free == NULL)
    free (data);
  else
    emulated_free (data);
}

/* ---- for tests ---- */

API void fakecuda_count (FakecudaCounts *out);
API void fakecuda_fail_allocation (int n);
API void fakecuda_fail_copy (int n);

void
fakecuda_count (FakecudaCounts *out)
{
  pthread_mutex_lock (&mutex);
  *out = counts;
  pthread_mutex_unlock (&mutex);
}

void
fakecuda_fail_allocation (int n)
{
  pthread_mutex_lock (&mutex);
  allocations_left = n;
  pthread_mutex_unlock (&mutex);
}

void
fakecuda_fail_copy (int n)
{
  pthread_mutex_lock (&mutex);
  copies_left = n;
  pthread_mutex_unlock (&mutex);
}

static CUresult
misuse (CUresult result)
{
  pthread_mutex_lock (&mutex);
  counts.misuses++;
  pthread_mutex_unlock (&mutex);
  return result;
}

static void
add (int *count, int n)
{
  pthread_mutex_lock (&mutex);
  *count += n;
  pthread_mutex_unlock (&mutex);
}

/* ---- devices and contexts ---- */

API CUresult
cuInit (unsigned int flags)
{
  return CUDA_SUCCESS;
}

/* Too old for the CUDA runtime, which therefore calls nothing else. */
API CUresult
cuDriverGetVersion (int *version)
{
  *version = 11000;
  return CUDA_SUCCESS;
}

API CUresult
cuGetErrorName (CUresult error, const char **text)
{
  *text = error == CUDA_ERROR_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY"
                                            : "CUDA_ERROR_STAND_IN";
  return CUDA_SUCCESS;
}

API CUresult
cuGetErrorString (CUresult error, const char **text)
{
  *text = error == CUDA_ERROR_OUT_OF_MEMORY ? "out of memory"
                                            : "refused by the stand-in driver";
  return CUDA_SUCCESS;
}

API CUresult
cuDeviceGetCount (int *count)
{
  *count = N_DEVICES;
  return CUDA_SUCCESS;
}

API CUresult
cuDeviceGet (CUdevice *device, int ordinal)
{
  *device = ordinal;
  return ordinal >= 0 && ordinal < N_DEVICES ? CUDA_SUCCESS
                                             : CUDA_ERROR_INVALID_DEVICE;
}

API CUresult
cuDeviceGetName (char *name, int length, CUdevice device)
{
  strncpy (name, "stand-in", (size_t) length);
  return CUDA_SUCCESS;
}

API CUresult
cuDeviceGetAttribute (int *value, CUdevice_attribute attribute, CUdevice device)
{
  *value = attribute == CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT
          || attribute == CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT
      ? PITCH
      : 0;
  return CUDA_SUCCESS;
}

API CUresult
cuDeviceCanAccessPeer (int *can, CUdevice device, CUdevice peer)
{
  *can = 0;
  return CUDA_SUCCESS;
}

API CUresult cuCtxCreate_v2 (
    CUcontext *context, unsigned int flags, CUdevice device);

CUresult
cuCtxCreate_v2 (CUcontext *context, unsigned int flags, CUdevice device)
{
  if (depth == MAX_DEPTH)
    return misuse (CUDA_ERROR_INVALID_CONTEXT);
  *context = malloc (sizeof **context);
  (*context)->device = device;
  (*context)->flags = flags;
  stack[depth++] = *context;
  add (&counts.contexts, 1);
  add (&counts.contexts_made, 1);
  return CUDA_SUCCESS;
}

API CUresult
cuCtxDestroy_v2 (CUcontext context)
{
  if (depth > 0 && stack[depth - 1] == context)
    depth--;
  free (context);
  add (&counts.contexts, -1);
  return CUDA_SUCCESS;
}

API CUresult
cuCtxGetFlags (unsigned int *flags)
{
  if (depth == 0)
    return misuse (CUDA_ERROR_INVALID_CONTEXT);
  *flags = stack[depth - 1]->flags;
  return CUDA_SUCCESS;
}

API CUresult
cuCtxSetFlags (unsigned int flags)
{
  if (depth == 0)
    return misuse (CUDA_ERROR_INVALID_CONTEXT);
  stack[depth - 1]->flags = flags;
  if ((flags & CU_CTX_SCHED_MASK) == CU_CTX_SCHED_BLOCKING_SYNC)
    add (&counts.blocking_sync_contexts, 1);
  return CUDA_SUCCESS;
}

API CUresult
cuCtxPushCurrent_v2 (CUcontext context)
{
  if (depth == MAX_DEPTH)
    return misuse (CUDA_ERROR_INVALID_CONTEXT);
  stack[depth++] = context;
  return CUDA_SUCCESS;
}

API CUresult
cuCtxPopCurrent_v2 (CUcontext *context)
{
  if (depth == 0)
    return misuse (CUDA_ERROR_INVALID_CONTEXT);
  depth--;
  if (context != NULL)
    *context = stack[depth];
  return CUDA_SUCCESS;
}

API CUresult
cuCtxEnablePeerAccess (CUcontext context, unsigned int flags)
{
  return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
}

API CUresult
cuCtxDisablePeerAccess (CUcontext context)
{
  return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
}

/* ---- memory ---- */

static CUresult
allocate (void **data, size_t size, int pinned)
{
  Block *block;
  int failing;

  *data = NULL;
  if (depth == 0)
    return misuse (CUDA_ERROR_INVALID_CONTEXT);
  pthread_mutex_lock (&mutex);
  failing = allocations_left == 0;
  if (allocations_left > 0)
    allocations_left--;
  pthread_mutex_unlock (&mutex);
  if (failing)
    return CUDA_ERROR_OUT_OF_MEMORY;
  block = malloc (sizeof *block);
  *block =
      (Block){ .data = allocate_data (size), .size = size, .pinned = pinned };
  memset (block->data, 0xa5, size); /* device memory is not cleared either */
  pthread_mutex_lock (&mutex);
  block->next = blocks;
  blocks = block;
  ++*(pinned ? &counts.pinned_blocks : &counts.device_blocks);
  ++*(pinned ? &counts.pinned_blocks_made : &counts.device_blocks_made);
  pthread_mutex_unlock (&mutex);
  *data = block->data;
  return CUDA_SUCCESS;
}

static CUresult
release (void *data, int pinned)
{
  Block **at, *block = NULL;

  if (depth == 0)
    return misuse (CUDA_ERROR_INVALID_CONTEXT);
  pthread_mutex_lock (&mutex);
  for (at = &blocks; *at != NULL; at = &(*at)->next) {
    if ((*at)->data == data && (*at)->pinned == pinned) {
      block = *at;
      *at = block->next;
      --*(pinned ? &counts.pinned_blocks : &counts.device_blocks);
      break;
    }
  }
  pthread_mutex_unlock (&mutex);
  if (block == NULL)
    return misuse (CUDA_ERROR_INVALID_VALUE);
  free_data (block->data);
  free (block);
  return CUDA_SUCCESS;
}

API CUresult
cuMemAlloc_v2 (CUdeviceptr *pointer, size_t size)
{
  return allocate ((void **) pointer, size, 0);
}

API CUresult
cuMemAllocPitch_v2 (CUdeviceptr *pointer, size_t *pitch, size_t width,
    size_t height, unsigned int element)
{
  *pitch = (width + PITCH - 1) / PITCH * PITCH;
  return allocate ((void **) pointer, *pitch * height, 0);
}

API CUresult
cuMemFree_v2 (CUdeviceptr pointer)
{
  return release ((void *) pointer, 0);
}

API CUresult
cuMemAllocHost_v2 (void **pointer, size_t size)
{
  return allocate (pointer, size, 1);
}

API CUresult
cuMemFreeHost (void *pointer)
{
  return release (pointer, 1);
}

/* ---- copies ---- */

static int
in_a_block (const char *data, size_t pitch, size_t width, size_t rows)
{
  int found = 0;

  if (rows == 0 || width == 0)
    return 1;
  pthread_mutex_lock (&mutex);
  for (Block *block = blocks; block != NULL && !found; block = block->next)
    found = !block->pinned && data >= block->data
        && data + pitch * (rows - 1) + width <= block->data + block->size;
  pthread_mutex_unlock (&mutex);
  return found;
}

static CUresult
copy_rectangle (const CUDA_MEMCPY2D *copy)
{
  int from_device = copy->srcMemoryType == CU_MEMORYTYPE_DEVICE;
  int to_device = copy->dstMemoryType == CU_MEMORYTYPE_DEVICE;
  const char *from = from_device ? (const char *) copy->srcDevice
                                 : (const char *) copy->srcHost;
  char *to = to_device ? (char *) copy->dstDevice : (char *) copy->dstHost;

  from += copy->srcY * copy->srcPitch + copy->srcXInBytes;
  to += copy->dstY * copy->dstPitch + copy->dstXInBytes;
  if (copy->srcPitch < copy->WidthInBytes || copy->dstPitch < copy->WidthInBytes
      || (from_device
          && !in_a_block (
              from, copy->srcPitch, copy->WidthInBytes, copy->Height))
      || (to_device
          && !in_a_block (
              to, copy->dstPitch, copy->WidthInBytes, copy->Height)))
    return misuse (CUDA_ERROR_INVALID_VALUE);
  for (size_t y = 0; y < copy->Height; y++)
    memcpy (
        to + y * copy->dstPitch, from + y * copy->srcPitch, copy->WidthInBytes);
  add (from_device ? to_device ? &counts.on_device : &counts.to_host
                   : &counts.to_device,
      1);
  return CUDA_SUCCESS;
}

API CUresult
cuMemcpy2D_v2 (const CUDA_MEMCPY2D *copy)
{
  return depth > 0 ? copy_rectangle (copy)
                   : misuse (CUDA_ERROR_INVALID_CONTEXT);
}

static int
copy_fails (void)
{
  int failing;

  pthread_mutex_lock (&mutex);
  failing = copies_left == 0;
  copies_left -= copies_left > 0;
  pthread_mutex_unlock (&mutex);
  return failing;
}

typedef void (*Enqueue) (CUstream stream, void (*run) (void *), void *data);

static void
run_copy (void *data)
{
  copy_rectangle (data);
  free (data);
}

API CUresult
cuMemcpy2DAsync_v2 (const CUDA_MEMCPY2D *copy, CUstream stream)
{
  const Enqueue enqueue = (Enqueue) of_emulator ("cuv_emulated_enqueue");
  Copy *later;

  if (depth == 0)
    return misuse (CUDA_ERROR_INVALID_CONTEXT);
  if (copy_fails ())
    return CUDA_ERROR_INVALID_VALUE;
  if (stream == NULL)
    return copy_rectangle (copy);
  if (enqueue != NULL) {
    CUDA_MEMCPY2D *what = malloc (sizeof *what);

    *what = *copy;
    enqueue (stream, run_copy, what);
    return CUDA_SUCCESS;
  }
  later = malloc (sizeof *later);
  *later = (Copy){ .what = *copy };
  *stream->last = later;
  stream->last = &later->next;
  return CUDA_SUCCESS;
}

API CUresult
cuStreamCreate (CUstream *stream, unsigned int flags)
{
  if (depth == 0)
    return misuse (CUDA_ERROR_INVALID_CONTEXT);
  *stream = malloc (sizeof **stream);
  **stream = (struct CUstream_st){ .last = &(*stream)->first };
  add (&counts.streams, 1);
  return CUDA_SUCCESS;
}

API CUresult
cuStreamSynchronize (CUstream stream)
{
  int (*synchronize) (CUstream) = of_emulator ("cudaStreamSynchronize");
  CUresult result = CUDA_SUCCESS;

  if (depth == 0)
    return misuse (CUDA_ERROR_INVALID_CONTEXT);
  if (synchronize != NULL)
    synchronize (stream);
  while (stream != NULL && stream->first != NULL) {
    Copy *copy = stream->first;

    stream->first = copy->next;
    if (copy_rectangle (&copy->what) != CUDA_SUCCESS)
      result = CUDA_ERROR_INVALID_VALUE;
    free (copy);
  }
  if (stream != NULL)
    stream->last = &stream->first;
  return result;
}

API CUresult
cuStreamDestroy_v2 (CUstream stream)
{
  CUresult result;

  add (&counts.abandoned_streams, stream->first != NULL);
  result = cuStreamSynchronize (stream);
  free (stream);
  add (&counts.streams, -1);
  return result;
}

/* GStreamer 1.22 loads it by this name. */
#undef cuStreamDestroy
API CUresult cuStreamDestroy (CUstream stream);

CUresult
cuStreamDestroy (CUstream stream)
{
  return cuStreamDestroy_v2 (stream);
}
