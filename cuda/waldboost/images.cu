// SPDX-License-Identifier: LGPL-2.1-or-later
#include "waldboost/images.cuh"

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

// Frames of a context that are processed at once. More take more memory, and
// are not processed in less time.
#define AT_ONCE 4

struct CuvImagePool {
  void *context;
  int n_refs;
  std::vector<std::unique_ptr<CuvImages>> all;
  std::condition_variable given_back;
};

static std::mutex mutex; // of the pools and what they contain

// Pools by context. Never destroyed: threads may wait when the process exits.
static std::map<void *, CuvImagePool> &
pools ()
{
  static auto *all = new std::map<void *, CuvImagePool>;

  return *all;
}

CuvImagePool *
cuv_image_pool_ref ()
{
  void *context = cuv_cuda_context ();

  if (context == nullptr)
    return nullptr;
  const std::lock_guard<std::mutex> lock (mutex);
  CuvImagePool *self = &pools ()[context];

  self->context = context;
  self->n_refs++;
  return self;
}

void
cuv_image_pool_unref (CuvImagePool *self)
{
  if (self == nullptr)
    return;
  const std::lock_guard<std::mutex> lock (mutex);

  if (--self->n_refs > 0)
    return;
  for (const auto &images : self->all) {
    for (CuvBuffer &buffer : images->of)
      cuv_buffer_clear (&buffer);
  }
  pools ().erase (self->context);
}

// Whether a thread may take one more; most: that may be taken by others.
static bool
may_take (const CuvImagePool *self, std::thread::id thread, int most)
{
  int n_taken = 0;

  for (const auto &images : self->all) {
    if (images->owner == thread)
      return true;
    n_taken += images->owner != std::thread::id ();
  }
  return n_taken <= most;
}

// Waits until others have taken no more than `most`. Returns unused images, or
// new ones without memory.
static CuvImages *
take (CuvImagePool *self, int most)
{
  const std::thread::id thread = std::this_thread::get_id ();
  std::unique_lock<std::mutex> lock (mutex);
  CuvImages *images = nullptr;

  self->given_back.wait (lock, [=] { return may_take (self, thread, most); });
  for (const auto &candidate : self->all) {
    if (images == nullptr && candidate->owner == std::thread::id ())
      images = candidate.get ();
  }
  if (images == nullptr) {
    self->all.push_back (std::make_unique<CuvImages> ());
    images = self->all.back ().get ();
  }
  images->owner = thread;
  return images;
}

static int
zero (const CuvBuffer &buffer)
{
  CUV_CUDA_TRY (
      cudaMemsetAsync (buffer.data, 0, buffer.size, cudaStreamPerThread));
  CUV_CUDA_TRY (cudaStreamSynchronize (cudaStreamPerThread));
  return 0;
}

// Allocates an image, if it is not large enough. Rows are read 4 or 16 bytes at
// a time: what pads them is not used, but has a value.
static int
reserve (CuvBuffer *image, size_t size)
{
  if (size <= image->size)
    return 0;
  if (cuv_buffer_reserve (image, size) != 0)
    return -1;
  if (zero (*image) == 0)
    return 0;
  cuv_buffer_clear (image);
  return -1;
}

static int
reserve_all (CuvImages *images, const size_t sizes[CUV_N_IMAGES])
{
  for (int i = 0; i < CUV_N_IMAGES; i++) {
    if (reserve (&images->of[i], sizes[i]) != 0)
      return -1;
  }
  return 0;
}

// If the device's memory is too small for one more frame, waits until others
// have given back theirs.
CuvImages *
cuv_image_pool_take (CuvImagePool *self, const size_t sizes[CUV_N_IMAGES])
{
  for (int most = AT_ONCE - 1; most >= 0; most--) {
    CuvImages *images;

    try {
      images = take (self, most);
    } catch (const std::bad_alloc &) {
      cuv_cuda_record (cudaErrorMemoryAllocation, "host memory");
      return nullptr;
    }
    if (reserve_all (images, sizes) == 0)
      return images;
    cuv_image_pool_give_back (self, images);
  }
  return nullptr;
}

void
cuv_image_pool_give_back (CuvImagePool *self, CuvImages *images)
{
  const std::lock_guard<std::mutex> lock (mutex);

  images->owner = std::thread::id ();
  self->given_back.notify_all (); // each waits for a number of its own
}
