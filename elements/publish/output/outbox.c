/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "output/outbox.h"

#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "output/signals.h"

/* Between two attempts to connect: doubled each time, and up to half of it at
 * random, so that many clients do not come back at the same moment. */
#define MIN_PAUSE_MS 250
#define MAX_PAUSE_MS 30000
#define WARN_AGAIN_US (10 * G_TIME_SPAN_SECOND)
/* Beyond this time after its deadline the thread is detached. */
#define GRACE_US (500 * G_TIME_SPAN_MILLISECOND)
/* The connection's timers need a look now and then. */
#define RUN_MS 1000

typedef enum { IN_FLIGHT, ACKNOWLEDGED, REFUSED } State;

struct _CuvOutbox {
  gint references; /* the owner's and the thread's */
  GThread *thread;
  CuvBroker *broker;
  int wake_fd;

  GMutex lock;     /* of all fields down to "of the thread" */
  GCond changed;   /* wakes those who wait for the thread */
  CuvSpool *spool; /* NULL: stopped */
  CuvFull on_full;
  gboolean interrupted; /* nobody must wait */
  gboolean quit, gone;  /* stop() was called; the thread has ended */
  gint64 deadline;      /* monotonic time, if quit */
  gboolean was_connected;
  CuvOutboxCounts counts;
  gchar *warning;
  gboolean warned; /* since the spool was last empty */
  gint64 warned_at;

  /* of the thread, under the lock: messages first .. next - 1 are in flight */
  guint64 next;
  guint unanswered; /* sent on this connection */
  State *states;    /* of messages in flight: [number % window] */

  /* of the thread */
  gint pause_ms; /* before the last attempt; 0: the last one succeeded */
};

static void
unref (CuvOutbox *self)
{
  if (!g_atomic_int_dec_and_test (&self->references))
    return;
  self->broker->klass->free (self->broker);
  g_clear_pointer (&self->spool, cuv_spool_free);
  close (self->wake_fd);
  g_free (self->states);
  g_free (self->warning);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->changed);
  g_free (self);
}

static void
wake (CuvOutbox *self)
{
  const guint64 one = 1;

  if (write (self->wake_fd, &one, sizeof one) < 0) {
    /* the counter is full: it is readable */
  }
}

static void
clear_wake (CuvOutbox *self)
{
  guint64 n;

  if (read (self->wake_fd, &n, sizeof n) < 0) {
    /* nobody has woken us */
  }
}

/* ---- problems ---- */

/* Needs the lock. */
static void
warn (CuvOutbox *self, const gchar *cause)
{
  gint64 now = g_get_monotonic_time ();

  g_strlcpy (self->counts.last_error, cause, sizeof self->counts.last_error);
  if (self->warned
      || (self->warned_at != 0 && now < self->warned_at + WARN_AGAIN_US))
    return;
  self->warned = TRUE;
  self->warned_at = now;
  g_free (self->warning);
  self->warning = g_strdup_printf ("Cannot send to '%s': %s. Records wait in "
                                   "the queue until that works again.",
      self->broker->name, cause);
}

void
cuv_outbox_failed (CuvOutbox *self, const gchar *problem)
{
  g_mutex_lock (&self->lock);
  warn (self, problem);
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
}

static void
connection_failed (CuvOutbox *self, GError *error)
{
  cuv_outbox_failed (self, error != NULL ? error->message : "connection lost");
  g_clear_error (&error);
}

/* ---- messages, all under the lock ---- */

/* Removes the first message, which was not acknowledged. */
static void
drop_first (CuvOutbox *self)
{
  guint64 n = cuv_spool_end (self->spool) - cuv_spool_first (self->spool);

  cuv_spool_pop (self->spool);
  /* all of them if the file is damaged */
  self->counts.dropped +=
      n - (cuv_spool_end (self->spool) - cuv_spool_first (self->spool));
  self->next = MAX (self->next, cuv_spool_first (self->spool));
}

static State *
state_of (CuvOutbox *self, guint64 number)
{
  return &self->states[number % self->broker->klass->window];
}

/* Removes messages from the front whose answer has come. */
static void
remove_answered (CuvOutbox *self)
{
  while (cuv_spool_first (self->spool) < self->next) {
    State state = *state_of (self, cuv_spool_first (self->spool));

    if (state == IN_FLIGHT)
      return;
    if (state == REFUSED) {
      drop_first (self);
    } else {
      cuv_spool_pop (self->spool);
      self->counts.acknowledged++;
    }
  }
  if (self->next == cuv_spool_end (self->spool))
    self->warned = FALSE;
}

void
cuv_outbox_connected (CuvOutbox *self)
{
  g_mutex_lock (&self->lock);
  self->counts.connected = TRUE;
  self->counts.reconnects += self->was_connected;
  self->was_connected = TRUE;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
}

void
cuv_outbox_disconnected (CuvOutbox *self)
{
  g_mutex_lock (&self->lock);
  self->counts.connected = FALSE;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
}

void
cuv_outbox_acknowledged (CuvOutbox *self, guint64 number, const gchar *problem)
{
  g_mutex_lock (&self->lock);
  self->unanswered--;
  self->pause_ms = 0;
  if (problem != NULL)
    warn (self, problem);
  if (self->spool != NULL && number >= cuv_spool_first (self->spool)) {
    *state_of (self, number) = problem == NULL ? ACKNOWLEDGED : REFUSED;
    remove_answered (self);
  } else if (problem == NULL) { /* dropped in the meantime, to make room */
    self->counts.dropped--;
    self->counts.acknowledged++;
  }
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
}

/* ---- the thread ---- */

/* Needs the lock. */
static gboolean
may_send (CuvOutbox *self)
{
  guint window = self->broker->klass->window;

  return self->spool != NULL && self->counts.connected
      && self->next < cuv_spool_end (self->spool)
      && self->next - cuv_spool_first (self->spool) < window
      && self->unanswered < window;
}

/* Needs the lock. Reads the next message. What cannot be read is dropped, once
 * it is the first. */
static gboolean
read_next (CuvOutbox *self, CuvMessage *message)
{
  GError *error = NULL;

  if (cuv_spool_read (self->spool, self->next, message, &error))
    return TRUE;
  warn (self, error->message);
  g_error_free (error);
  if (self->next == cuv_spool_first (self->spool))
    drop_first (self);
  return FALSE;
}

/* Needs the lock, which it gives back meanwhile. */
static CuvSend
send_next (CuvOutbox *self, CuvMessage *message, GError **error)
{
  guint64 number = self->next++;
  CuvSend outcome;

  *state_of (self, number) = IN_FLIGHT;
  self->unanswered++;
  g_mutex_unlock (&self->lock);
  outcome = self->broker->klass->send (self->broker, number, message, error);
  g_mutex_lock (&self->lock);
  if (outcome == CUV_SEND_OK) {
    self->counts.sent++;
    self->counts.bytes += message->size;
    return outcome;
  }
  self->unanswered--;
  if (self->spool != NULL && number >= cuv_spool_first (self->spool)) {
    if (outcome == CUV_SEND_REFUSED)
      *state_of (self, number) = REFUSED;
    else
      self->next = number;
    remove_answered (self);
  }
  return outcome;
}

/* FALSE: the connection is lost. */
static gboolean
send_waiting (CuvOutbox *self, GError **error)
{
  CuvSend outcome = CUV_SEND_OK;
  CuvMessage message;
  GError *refusal = NULL;

  g_mutex_lock (&self->lock);
  while (
      outcome == CUV_SEND_OK && may_send (self) && read_next (self, &message)) {
    outcome = send_next (self, &message, &refusal);
    cuv_message_clear (&message);
    if (outcome == CUV_SEND_REFUSED) {
      warn (self, refusal->message);
      g_clear_error (&refusal);
      outcome = CUV_SEND_OK;
    }
  }
  g_mutex_unlock (&self->lock);
  if (refusal != NULL)
    g_propagate_error (error, refusal);
  return outcome != CUV_SEND_LOST;
}

/* Whether the thread has nothing left to do. */
static gboolean
is_over (CuvOutbox *self)
{
  gboolean over;

  g_mutex_lock (&self->lock);
  over = self->quit
      && (!self->counts.connected || self->spool == NULL
          || cuv_spool_first (self->spool) == cuv_spool_end (self->spool)
          || g_get_monotonic_time () >= self->deadline);
  g_mutex_unlock (&self->lock);
  return over;
}

/* Needs the thread to be without a connection: all messages wait again. */
static void
return_messages (CuvOutbox *self)
{
  g_mutex_lock (&self->lock);
  self->counts.connected = FALSE;
  self->unanswered = 0;
  if (self->spool != NULL)
    self->next = cuv_spool_first (self->spool);
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
}

static gint
run_milliseconds (CuvOutbox *self)
{
  gint64 left;

  g_mutex_lock (&self->lock);
  left = self->quit ? self->deadline - g_get_monotonic_time () : G_MAXINT64;
  g_mutex_unlock (&self->lock);
  return (gint) CLAMP (left / G_TIME_SPAN_MILLISECOND, 0, RUN_MS);
}

/* One connection, from its beginning to its end. */
static void
serve (CuvOutbox *self)
{
  CuvBroker *broker = self->broker;
  GError *error = NULL;
  gboolean ok = broker->klass->open (broker, &error);

  while (ok && !is_over (self)) {
    ok = send_waiting (self, &error)
        && broker->klass->run (
            broker, self->wake_fd, run_milliseconds (self), &error);
    clear_wake (self);
  }
  broker->klass->close (broker, ok);
  return_messages (self);
  if (!ok)
    connection_failed (self, error);
}

/* Pushing wakes the thread, too, but does not end the pause. */
static void
pause_before_next (CuvOutbox *self)
{
  struct pollfd ready = { self->wake_fd, POLLIN, 0 };
  gint64 now = g_get_monotonic_time (), end;

  self->pause_ms = CLAMP (2 * self->pause_ms, MIN_PAUSE_MS, MAX_PAUSE_MS);
  end = now
      + g_random_int_range (self->pause_ms / 2, self->pause_ms + 1)
          * G_TIME_SPAN_MILLISECOND;
  while (now < end && !is_over (self)) {
    poll (&ready, 1, (int) ((end - now) / G_TIME_SPAN_MILLISECOND) + 1);
    clear_wake (self);
    now = g_get_monotonic_time ();
  }
}

static gpointer
run (gpointer data)
{
  CuvOutbox *self = data;

  cuv_block_signals ();
  while (!is_over (self)) {
    serve (self);
    if (!is_over (self))
      pause_before_next (self);
  }
  g_mutex_lock (&self->lock);
  self->gone = TRUE;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
  unref (self);
  return NULL;
}

/* ---- the owner's side ---- */

CuvOutbox *
cuv_outbox_new (
    CuvBroker *broker, CuvSpool *spool, CuvFull on_full, GError **error)
{
  CuvOutbox *self = g_new0 (CuvOutbox, 1);

  self->references = 2;
  self->broker = broker;
  broker->outbox = self;
  self->wake_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  self->spool = spool;
  self->on_full = on_full;
  self->counts.spooled = cuv_spool_end (spool) - cuv_spool_first (spool);
  self->next = cuv_spool_first (spool);
  self->states = g_new0 (State, broker->klass->window);
  g_mutex_init (&self->lock);
  g_cond_init (&self->changed);
  self->thread = g_thread_try_new ("cuv-outbox", run, self, error);
  if (self->thread == NULL) {
    self->references = 1;
    g_clear_pointer (&self, unref);
  }
  return self;
}

gboolean
cuv_outbox_wait_connected (CuvOutbox *self, guint milliseconds, GError **error)
{
  gint64 end = g_get_monotonic_time () + milliseconds * G_TIME_SPAN_MILLISECOND;
  gboolean connected;

  g_mutex_lock (&self->lock);
  while (!self->counts.connected && !self->interrupted
      && g_cond_wait_until (&self->changed, &self->lock, end)) {
  }
  connected = self->counts.connected;
  if (!connected)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_CONNECTED, "%s",
        self->counts.last_error[0] != '\0' ? self->counts.last_error
                                           : "it does not answer");
  g_mutex_unlock (&self->lock);
  return connected;
}

/* Needs the lock. FALSE: the message is to be dropped. */
static gboolean
make_room (CuvOutbox *self, gsize bytes)
{
  if (!cuv_spool_can_hold (self->spool, bytes)) {
    warn (self, "a record is larger than queue-bytes: increase it");
    return FALSE;
  }
  while (!cuv_spool_has_room (self->spool, bytes)) {
    if (self->on_full == CUV_FULL_BLOCK) {
      if (self->interrupted)
        return FALSE;
      g_cond_wait (&self->changed, &self->lock);
      continue;
    }
    warn (self,
        self->counts.connected
            ? "it does not take records as fast as they come, and the queue "
              "is full"
            : "there is no connection, and the queue is full");
    if (self->on_full == CUV_FULL_DROP_NEWEST)
      return FALSE;
    drop_first (self);
  }
  return TRUE;
}

void
cuv_outbox_push (CuvOutbox *self, const CuvMessage *message)
{
  GError *error = NULL;

  g_mutex_lock (&self->lock);
  if (!make_room (self, cuv_message_bytes (message))) {
    self->counts.dropped++;
  } else if (!cuv_spool_push (self->spool, message, &error)) {
    self->counts.dropped++;
    warn (self, error->message);
    g_error_free (error);
  }
  g_mutex_unlock (&self->lock);
  wake (self);
}

/* Needs the lock. */
static gboolean
is_empty (CuvOutbox *self)
{
  return cuv_spool_first (self->spool) == cuv_spool_end (self->spool);
}

gboolean
cuv_outbox_finish (CuvOutbox *self, guint milliseconds)
{
  gint64 start = g_get_monotonic_time ();
  gboolean in_time = TRUE, empty;

  g_mutex_lock (&self->lock);
  while (in_time && !is_empty (self) && !self->interrupted) {
    guint most = self->counts.connected
        ? milliseconds
        : MIN (milliseconds, CUV_OUTBOX_ABSENT_MS);

    in_time = g_cond_wait_until (
        &self->changed, &self->lock, start + most * G_TIME_SPAN_MILLISECOND);
  }
  empty = is_empty (self);
  g_mutex_unlock (&self->lock);
  return empty;
}

void
cuv_outbox_interrupt (CuvOutbox *self, gboolean interrupt)
{
  g_mutex_lock (&self->lock);
  self->interrupted = interrupt;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
}

gchar *
cuv_outbox_take_warning (CuvOutbox *self)
{
  gchar *warning;

  g_mutex_lock (&self->lock);
  warning = g_steal_pointer (&self->warning);
  g_mutex_unlock (&self->lock);
  return warning;
}

/* Needs the lock. */
static void
get_counts (CuvOutbox *self, CuvOutboxCounts *counts)
{
  *counts = self->counts;
  counts->queued = cuv_spool_end (self->spool) - cuv_spool_first (self->spool);
}

void
cuv_outbox_get_counts (CuvOutbox *self, CuvOutboxCounts *counts)
{
  g_mutex_lock (&self->lock);
  get_counts (self, counts);
  g_mutex_unlock (&self->lock);
}

/* Needs the lock. The file is closed here: the thread may still be connecting,
 * and the element may open it again. */
static void
close_spool (CuvOutbox *self, CuvOutboxCounts *counts)
{
  get_counts (self, counts);
  counts->connected = FALSE;
  if (!cuv_spool_is_file (self->spool)) {
    counts->dropped += counts->queued;
    counts->queued = 0;
  }
  g_clear_pointer (&self->spool, cuv_spool_free);
}

void
cuv_outbox_stop (CuvOutbox *self, guint milliseconds, CuvOutboxCounts *counts,
    gchar **warning)
{
  gboolean gone;

  g_mutex_lock (&self->lock);
  self->quit = TRUE;
  self->deadline =
      g_get_monotonic_time () + milliseconds * G_TIME_SPAN_MILLISECOND;
  wake (self);
  while (!self->gone
      && g_cond_wait_until (
          &self->changed, &self->lock, self->deadline + GRACE_US)) {
  }
  gone = self->gone;
  close_spool (self, counts);
  *warning = g_steal_pointer (&self->warning);
  g_mutex_unlock (&self->lock);
  if (gone)
    g_thread_join (self->thread);
  else
    g_thread_unref (self->thread);
  unref (self);
}
