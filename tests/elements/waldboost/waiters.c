/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads that wait for the GPU are counted together, whether they wait in
 * libcuvdetect or in libgstcuvision, and at the same time or in turns. */
#include "cuvelements.h"
#include "cuv-cuda.h"
#include "cuv-wait.h"
#include "detector.h"
#include "device.h"

CUV_TEST (test_waiters_are_counted_together)
{
  GstElement *element = gst_element_factory_make ("waldboostdetect", NULL);

  fail_unless (element != NULL);
  fail_unless (cuv_detector_join_waiters (cuv_waiters ()) == cuv_waiters ());
  gst_object_unref (element);
}

static void
wait_for_gpu (void)
{
  CuvWait wait = { 0 };

  fail_unless (cuv_wait_stream (&wait, NULL) == 0, "%s", cuv_cuda_error ());
}

typedef struct {
  GAsyncQueue *asked, *done;
} Other;

static gpointer
wait_when_asked (gpointer data)
{
  const Other *self = data;

  while (g_async_queue_pop (self->asked) != self) {
    wait_for_gpu ();
    g_async_queue_push (self->done, self->done);
  }
  return NULL;
}

/* Threads that wait one after another many times a second are busy; one that
 * goes on alone is not. */
CUV_TEST (test_threads_that_wait_in_turns_are_busy)
{
  Other other = { g_async_queue_new (), g_async_queue_new () };
  GThread *thread;

  if (!use_cuda)
    return;
  wait_for_gpu ();
  fail_if (cuv_gpu_is_busy ());
  thread = g_thread_new ("other", wait_when_asked, &other);
  for (gint i = 0; i < 10000 && !cuv_gpu_is_busy (); i++) {
    g_async_queue_push (other.asked, other.asked);
    g_async_queue_pop (other.done);
    wait_for_gpu ();
  }
  fail_unless (cuv_gpu_is_busy ());
  g_async_queue_push (other.asked, &other);
  g_thread_join (thread);
  wait_for_gpu ();
  g_usleep (20000);
  wait_for_gpu ();
  fail_if (cuv_gpu_is_busy ());
  g_async_queue_unref (other.asked);
  g_async_queue_unref (other.done);
}
