/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "output/outbox.h"

#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>

#include "output/thread.h"
#include "output/warning.h"

/* Between two attempts to connect: doubled each time, and up to half of it at
 * random, so that many clients do not come back at the same moment. */
#define MIN_PAUSE_MS 250
#define MAX_PAUSE_MS 30000
/* Beyond this time after its deadline the thread is detached. */
#define GRACE_US (500 * G_TIME_SPAN_MILLISECOND)
/* The connection's timers need a look now and then. */
#define RUN_MS 1000

/* Most bytes in flight, and one message more. */
#define MAX_FLIGHT_BYTES (4 << 20)

/* What the last of two warnings said. */
typedef enum { WAITING, DROPPING, N_PROBLEMS } Problem;

typedef enum { FREE, IN_FLIGHT, ACKNOWLEDGED, REFUSED } State;

/* Of a message from when it is sent until it is answered and removed. One that
 * is dropped while it is in flight keeps it until the answer comes. */
typedef struct {
  State state;
  gsize bytes;
} Slot;

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
  CuvWarning warnings[N_PROBLEMS]; /* given since the spool was last empty */
  gboolean hurry;                  /* try now rather than later */

  /* of the thread, under the lock: messages first .. next - 1 are in flight */
  guint64 next;
  gsize unanswered_bytes;
  Slot *slots; /* [number % window] */

  /* of the thread */
  gint pause_ms; /* before the last attempt; 0: the last one succeeded */
};

static void
outbox_unref (CuvOutbox *self)
{
  if (!g_atomic_int_dec_and_test (&self->references))
    return;
  self->broker->klass->free (self->broker);
  g_clear_pointer (&self->spool, cuv_spool_free);
  close (self->wake_fd);
  g_free (self->slots);
  g_free (self->warning);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->changed);
  g_free (self);
}

/* ---- problems ---- */

/* Needs the lock. */
static void
outbox_warn (CuvOutbox *self, Problem problem, const gchar *cause)
{
  static const gchar *const consequences[] = {
    [WAITING] = "Records wait in the queue until that works again",
    [DROPPING] = "Records are dropped",
  };
  gsize size = strlen (cause);

  size -= size > 0 && cause[size - 1] == '.';
  g_snprintf (self->counts.last_error, sizeof self->counts.last_error, "%.*s",
      (int) size, cause);
  if (!cuv_warning_is_due (&self->warnings[problem]))
    return;
  g_free (self->warning);
  self->warning = g_strdup_printf ("Cannot send to '%s': %.*s. %s.",
      self->broker->name, (int) size, cause, consequences[problem]);
}

void
cuv_outbox_failed (CuvOutbox *self, const gchar *problem)
{
  g_mutex_lock (&self->lock);
  outbox_warn (self, WAITING, problem);
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

static guint64
n_queued (CuvOutbox *self)
{
  return cuv_spool_end (self->spool) - cuv_spool_first (self->spool);
}

static Slot *
slot_of (CuvOutbox *self, guint64 number)
{
  return &self->slots[number % self->broker->klass->window];
}

/* Removes the first message. If the file is damaged, all go. */
static void
remove_first (CuvOutbox *self, gboolean acknowledged)
{
  guint64 first = cuv_spool_first (self->spool), n = n_queued (self);

  cuv_spool_pop (self->spool);
  self->counts.acknowledged += acknowledged;
  self->counts.dropped += n - n_queued (self) - acknowledged;
  for (; first < self->next && first < cuv_spool_first (self->spool); first++) {
    if (slot_of (self, first)->state != IN_FLIGHT)
      slot_of (self, first)->state = FREE;
  }
  self->next = MAX (self->next, cuv_spool_first (self->spool));
  g_cond_broadcast (&self->changed);
}

/* Removes messages from the front whose answer has come. */
static void
remove_answered (CuvOutbox *self)
{
  while (cuv_spool_first (self->spool) < self->next) {
    State state = slot_of (self, cuv_spool_first (self->spool))->state;

    if (state == IN_FLIGHT)
      return;
    remove_first (self, state == ACKNOWLEDGED);
  }
  if (n_queued (self) == 0)
    self->warnings[WAITING].given = self->warnings[DROPPING].given = FALSE;
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
  Slot *slot = slot_of (self, number);

  g_mutex_lock (&self->lock);
  self->unanswered_bytes -= slot->bytes;
  self->pause_ms = 0;
  if (problem != NULL)
    outbox_warn (self, DROPPING, problem);
  if (self->spool != NULL && number >= cuv_spool_first (self->spool)) {
    slot->state = problem == NULL ? ACKNOWLEDGED : REFUSED;
    remove_answered (self);
  } else { /* dropped in the meantime */
    slot->state = FREE;
    self->counts.dropped -= problem == NULL;
    self->counts.acknowledged += problem == NULL;
  }
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
}

/* ---- the thread ---- */

/* Needs the lock. */
static gboolean
may_send (CuvOutbox *self)
{
  return self->spool != NULL && self->counts.connected
      && self->next < cuv_spool_end (self->spool)
      && slot_of (self, self->next)->state == FREE
      && self->unanswered_bytes < MAX_FLIGHT_BYTES;
}

/* Needs the lock. Reads the next message. What cannot be read is dropped, once
 * it is the first. */
static gboolean
read_next (CuvOutbox *self, CuvMessage *message)
{
  GError *error = NULL;

  if (cuv_spool_read (self->spool, self->next, message, &error))
    return TRUE;
  outbox_warn (self, DROPPING, error->message);
  g_error_free (error);
  if (self->next == cuv_spool_first (self->spool))
    remove_first (self, FALSE);
  return FALSE;
}

/* Call with the lock held; releases it while sending. */
static CuvSend
send_next (CuvOutbox *self, const CuvMessage *message, GError **error)
{
  guint64 number = self->next++;
  Slot *slot = slot_of (self, number);
  CuvSend outcome;

  *slot = (Slot){ IN_FLIGHT, cuv_message_bytes (message) };
  self->unanswered_bytes += slot->bytes;
  g_mutex_unlock (&self->lock);
  outcome = self->broker->klass->send (self->broker, number, message, error);
  g_mutex_lock (&self->lock);
  if (outcome == CUV_SEND_OK) {
    self->counts.sent++;
    self->counts.bytes += message->size;
    return outcome;
  }
  self->unanswered_bytes -= slot->bytes;
  slot->state = FREE;
  if (self->spool != NULL && number >= cuv_spool_first (self->spool)) {
    if (outcome == CUV_SEND_REFUSED)
      slot->state = REFUSED;
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
      outbox_warn (self, DROPPING, refusal->message);
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
outbox_is_over (CuvOutbox *self)
{
  gboolean over;

  g_mutex_lock (&self->lock);
  over = self->quit
      && (!self->counts.connected || self->spool == NULL || n_queued (self) == 0
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
  self->unanswered_bytes = 0;
  memset (self->slots, 0, self->broker->klass->window * sizeof *self->slots);
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
outbox_serve (CuvOutbox *self)
{
  CuvBroker *broker = self->broker;
  GError *error = NULL;
  gboolean ok = broker->klass->open (broker, &error);

  while (ok && !outbox_is_over (self)) {
    ok = send_waiting (self, &error)
        && broker->klass->run (
            broker, self->wake_fd, run_milliseconds (self), &error);
    cuv_clear_wake (self->wake_fd);
  }
  broker->klass->close (broker, ok);
  return_messages (self);
  if (!ok)
    connection_failed (self, error);
}

/* Whether finish() wants an attempt to connect now. */
static gboolean
take_hurry (CuvOutbox *self)
{
  gboolean hurry;

  g_mutex_lock (&self->lock);
  hurry = self->hurry;
  self->hurry = FALSE;
  g_mutex_unlock (&self->lock);
  if (hurry)
    self->pause_ms = 0;
  return hurry;
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
  while (now < end && !outbox_is_over (self) && !take_hurry (self)) {
    poll (&ready, 1, (int) ((end - now) / G_TIME_SPAN_MILLISECOND) + 1);
    cuv_clear_wake (self->wake_fd);
    now = g_get_monotonic_time ();
  }
}

static gpointer
outbox_run (gpointer data)
{
  CuvOutbox *self = data;

  cuv_block_signals ();
  while (!outbox_is_over (self)) {
    outbox_serve (self);
    if (!outbox_is_over (self))
      pause_before_next (self);
  }
  g_mutex_lock (&self->lock);
  self->gone = TRUE;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
  outbox_unref (self);
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
  self->counts.spooled = n_queued (self);
  self->next = cuv_spool_first (spool);
  self->slots = g_new0 (Slot, broker->klass->window);
  g_mutex_init (&self->lock);
  g_cond_init (&self->changed);
  self->thread = g_thread_try_new ("cuv-outbox", outbox_run, self, error);
  if (self->thread == NULL) {
    self->references = 1;
    g_clear_pointer (&self, outbox_unref);
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

typedef enum { ROOM, NO_ROOM, WAITED } Room;

/* Needs the lock. */
static Room
outbox_make_room (CuvOutbox *self, gsize bytes)
{
  gint64 end =
      g_get_monotonic_time () + CUV_OUTBOX_BLOCK_MS * G_TIME_SPAN_MILLISECOND;

  if (!cuv_spool_can_hold (self->spool, bytes)) {
    outbox_warn (
        self, DROPPING, "a record is larger than queue-bytes: increase it");
    return NO_ROOM;
  }
  while (!cuv_spool_has_room (self->spool, bytes)) {
    if (self->on_full == CUV_FULL_BLOCK) {
      if (self->interrupted)
        return NO_ROOM;
      if (!g_cond_wait_until (&self->changed, &self->lock, end))
        return WAITED;
      continue;
    }
    outbox_warn (self, DROPPING,
        self->counts.connected
            ? "it does not take records as fast as they come, and the queue "
              "is full"
            : "there is no connection, and the queue is full");
    if (self->on_full == CUV_FULL_DROP_NEWEST)
      return NO_ROOM;
    remove_first (self, FALSE);
    remove_answered (self);
  }
  return ROOM;
}

gboolean
cuv_outbox_push (CuvOutbox *self, const CuvMessage *message)
{
  GError *error = NULL;
  Room room;

  g_mutex_lock (&self->lock);
  room = outbox_make_room (self, cuv_message_bytes (message));
  if (room == NO_ROOM) {
    self->counts.dropped++;
  } else if (room == ROOM && !cuv_spool_push (self->spool, message, &error)) {
    self->counts.dropped++;
    outbox_warn (self, DROPPING, error->message);
    g_error_free (error);
  }
  g_mutex_unlock (&self->lock);
  cuv_wake (self->wake_fd);
  return room != WAITED;
}

gboolean
cuv_outbox_finish (CuvOutbox *self, guint milliseconds)
{
  gint64 start = g_get_monotonic_time ();
  gboolean in_time = TRUE, empty;

  g_mutex_lock (&self->lock);
  self->hurry = TRUE;
  cuv_wake (self->wake_fd);
  while (in_time && n_queued (self) > 0 && !self->interrupted) {
    guint most = self->counts.connected
        ? milliseconds
        : MIN (milliseconds, CUV_OUTBOX_ABSENT_MS);

    in_time = g_cond_wait_until (
        &self->changed, &self->lock, start + most * G_TIME_SPAN_MILLISECOND);
  }
  empty = n_queued (self) == 0;
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
  counts->queued = n_queued (self);
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
  self->deadline = g_get_monotonic_time ();
  if (self->counts.connected)
    self->deadline += milliseconds * G_TIME_SPAN_MILLISECOND;
  cuv_wake (self->wake_fd);
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
  outbox_unref (self);
}
