// SPDX-License-Identifier: LGPL-2.1-or-later
#include "waldboost/images.cuh"

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

// Frames of a context that are processed at once. More would take more memory,
// and no less time.
#define AT_ONCE 4

struct CuvImagePool {
  void *context;
  int n_refs, n_taken;
  std::vector<std::unique_ptr<CuvImages>> all;
  std::vector<CuvImages *> unused;
  std::condition_variable given_back;
};

static std::mutex mutex;                     // of all below and of the pools
static std::map<void *, CuvImagePool> pools; // by context
static thread_local int n_mine;              // taken by this thread

CuvImagePool *
cuv_image_pool_ref ()
{
  void *context = cuv_cuda_context ();

  if (context == nullptr)
    return nullptr;
  const std::lock_guard<std::mutex> lock (mutex);
  CuvImagePool *self = &pools[context];

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
  pools.erase (self->context);
}

// Unused images, or new ones without memory.
static CuvImages *
take (CuvImagePool *self)
{
  std::unique_lock<std::mutex> lock (mutex);

  self->given_back.wait (
      lock, [=] { return self->n_taken < AT_ONCE || n_mine > 0; });
  if (self->unused.empty ()) {
    self->all.push_back (std::make_unique<CuvImages> ());
    self->unused.reserve (self->all.size ()); // giving back cannot fail
    self->unused.push_back (self->all.back ().get ());
  }
  CuvImages *images = self->unused.back ();

  self->unused.pop_back ();
  self->n_taken++;
  n_mine++;
  return images;
}

CuvImages *
cuv_image_pool_take (CuvImagePool *self, const size_t sizes[CUV_N_IMAGES])
{
  CuvImages *images;

  try {
    images = take (self);
  } catch (const std::bad_alloc &) {
    cuv_cuda_record (cudaErrorMemoryAllocation, "host memory");
    return nullptr;
  }
  for (int i = 0; i < CUV_N_IMAGES; i++) {
    if (sizes[i] > 0 && cuv_buffer_reserve (&images->of[i], sizes[i]) != 0) {
      cuv_image_pool_give_back (self, images);
      return nullptr;
    }
  }
  return images;
}

void
cuv_image_pool_give_back (CuvImagePool *self, CuvImages *images)
{
  const std::lock_guard<std::mutex> lock (mutex);

  self->unused.push_back (images);
  self->n_taken--;
  n_mine--;
  self->given_back.notify_one ();
}
