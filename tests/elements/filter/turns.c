/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GstCuvTurns: how many threads have a turn, and how long others wait. */
#include "cuvelements.h"
#include "gstcuvturns.h"

#define MOST 3
#define N_THREADS 12
#define N_TURNS 200
#define LONG G_TIME_SPAN_HOUR

static GstCuvTurns turns;
static gint n_now, n_most; /* atomic */

static gpointer
take_turns (gpointer unused)
{
  for (guint i = 0; i < N_TURNS; i++) {
    gint n, most;

    fail_unless (gst_cuv_turns_begin (&turns, MOST, LONG));
    n = g_atomic_int_add (&n_now, 1) + 1;
    while ((most = g_atomic_int_get (&n_most)) < n)
      g_atomic_int_compare_and_exchange (&n_most, most, n);
    g_usleep (50);
    g_atomic_int_add (&n_now, -1);
    gst_cuv_turns_end (&turns);
  }
  return NULL;
}

/* A thread whose wake-up is lost waits for an hour. */
CUV_TEST (few_threads_have_a_turn)
{
  GThread *threads[N_THREADS];

  for (guint i = 0; i < N_THREADS; i++)
    threads[i] = g_thread_new (NULL, take_turns, NULL);
  for (guint i = 0; i < N_THREADS; i++)
    g_thread_join (threads[i]);
  fail_unless_equals_int (n_most, MOST);
  fail_unless_equals_int (turns.n, 0);
}

static gpointer
wait_for_turn (gpointer ended)
{
  fail_unless (gst_cuv_turns_begin (&turns, MOST, LONG));
  gst_cuv_turns_end (&turns);
  return GINT_TO_POINTER (g_atomic_int_get ((gint *) ended));
}

CUV_TEST (others_wait_until_a_turn_ends)
{
  GThread *thread;
  gint ended = FALSE;

  for (guint i = 0; i < MOST; i++)
    fail_unless (gst_cuv_turns_begin (&turns, MOST, LONG));
  thread = g_thread_new (NULL, wait_for_turn, &ended);
  g_usleep (1000);
  g_atomic_int_set (&ended, TRUE);
  gst_cuv_turns_end (&turns);
  fail_unless (g_thread_join (thread) != NULL);
  for (guint i = 1; i < MOST; i++)
    gst_cuv_turns_end (&turns);
}

CUV_TEST (nobody_waits_for_ever)
{
  for (guint i = 0; i < MOST; i++)
    fail_unless (gst_cuv_turns_begin (&turns, MOST, LONG));
  fail_if (gst_cuv_turns_begin (&turns, MOST, 1000));
  for (guint i = 0; i < MOST; i++)
    gst_cuv_turns_end (&turns);
  fail_unless (gst_cuv_turns_begin (&turns, MOST, LONG));
  gst_cuv_turns_end (&turns);
}
