// SPDX-License-Identifier: LGPL-2.1-or-later
// Pools of device images, one per context; threads wait here until a pool has
// one for them.
#include "waldboost/image-pool.cuh"

#include <algorithm>
#include <condition_variable>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

// Frames of a context that are in flight at once: more would need more memory
// without being faster.
#define CUV_WALDBOOST_FRAMES_AT_ONCE 4

struct Waiter {
  int most; // images that other threads may have
  std::condition_variable woken;
};

// Threads get images in the order in which they came, but one that waits until
// others have fewer lets later ones pass. One thread is woken at a time: with
// 144 streams, waking all took half of the processor time.
struct CuvImagePool {
  void *context;
  int n_refs;
  std::vector<std::unique_ptr<CuvImages>> all;
  std::list<Waiter> waiters;
};

static std::mutex mutex; // protects the pools and their contents

// Pools by context. Never destroyed, because threads may be waiting at exit.
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

static bool
has_images (const CuvImagePool *self, std::thread::id thread)
{
  return std::any_of (self->all.begin (), self->all.end (),
      [=] (const auto &images) { return images->owner == thread; });
}

static int
n_in_use (const CuvImagePool *self)
{
  return (int) std::count_if (self->all.begin (), self->all.end (),
      [] (const auto &images) { return images->owner != std::thread::id (); });
}

// Returns the first thread that need not wait any longer, or NULL.
static Waiter *
next_waiter (CuvImagePool *self)
{
  const int n = n_in_use (self);

  for (Waiter &waiter : self->waiters) {
    if (n <= waiter.most)
      return &waiter;
  }
  return nullptr;
}

static void
wake_next (CuvImagePool *self)
{
  Waiter *next = next_waiter (self);

  if (next != nullptr)
    next->woken.notify_one ();
}

// Lets the next thread continue after this one has got images, or has failed.
struct EndOfTurn {
  CuvImagePool *pool;

  ~EndOfTurn ()
  {
    wake_next (pool);
  }
};

static void
wait_for_turn (CuvImagePool *self, int most, std::unique_lock<std::mutex> *lock)
{
  const auto own = self->waiters.emplace (self->waiters.end ());

  own->most = most;
  own->woken.wait (*lock, [=] { return next_waiter (self) == &*own; });
  self->waiters.erase (own);
}

// Returns images that nobody uses, if necessary new ones without memory.
static CuvImages *
unused_images (CuvImagePool *self)
{
  for (const auto &images : self->all) {
    if (images->owner == std::thread::id ())
      return images.get ();
  }
  self->all.push_back (std::make_unique<CuvImages> ());
  return self->all.back ().get ();
}

// Waits until other threads have at most `most` images, then returns unused
// ones.
static CuvImages *
cuv_images_acquire (CuvImagePool *self, int most)
{
  const std::thread::id thread = std::this_thread::get_id ();
  std::unique_lock<std::mutex> lock (mutex);
  const EndOfTurn end = { self };

  if (!has_images (self, thread))
    wait_for_turn (self, most, &lock);
  CuvImages *images = unused_images (self);

  images->owner = thread;
  return images;
}

static int
cuv_images_zero (const CuvBuffer &buffer)
{
  CUV_CUDA_TRY (
      cudaMemsetAsync (buffer.data, 0, buffer.size, cudaStreamPerThread));
  CUV_CUDA_TRY (cudaStreamSynchronize (cudaStreamPerThread));
  return 0;
}

// Allocates an image if it is too small, and zeroes it: rows are read 4 or 16
// bytes at a time, so their padding must be initialised.
static int
cuv_images_reserve (CuvBuffer *image, size_t size)
{
  if (size <= image->size)
    return 0;
  if (cuv_buffer_reserve (image, size) != 0)
    return -1;
  if (cuv_images_zero (*image) == 0)
    return 0;
  cuv_buffer_clear (image);
  return -1;
}

static int
cuv_images_reserve_all (
    CuvImages *images, const size_t sizes[CUV_WALDBOOST_IMAGE_N])
{
  for (int i = 0; i < CUV_WALDBOOST_IMAGE_N; i++) {
    if (cuv_images_reserve (&images->of[i], sizes[i]) != 0)
      return -1;
  }
  return 0;
}

// If device memory is too small for one more frame, waits until other threads
// release their images.
CuvImages *
cuv_image_pool_acquire (
    CuvImagePool *self, const size_t sizes[CUV_WALDBOOST_IMAGE_N])
{
  for (int most = CUV_WALDBOOST_FRAMES_AT_ONCE - 1; most >= 0; most--) {
    CuvImages *images;

    try {
      images = cuv_images_acquire (self, most);
    } catch (const std::bad_alloc &) {
      cuv_cuda_record (cudaErrorMemoryAllocation, "host memory");
      return nullptr;
    }
    if (cuv_images_reserve_all (images, sizes) == 0)
      return images;
    cuv_image_pool_release (self, images);
  }
  return nullptr;
}

void
cuv_image_pool_release (CuvImagePool *self, CuvImages *images)
{
  const std::lock_guard<std::mutex> lock (mutex);

  images->owner = std::thread::id ();
  wake_next (self);
}
