/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the outbox with a scripted broker. */
#include <poll.h>
#include <string.h>
#include <unistd.h>
#include "cuvelements.h"
#include "output/outbox.h"

#define WINDOW 4
/* A timeout in milliseconds that even a busy machine does not reach. */
#define LONG_TIMEOUT 60000

typedef struct {
  CuvBroker broker;
  gint present;   /* open() succeeds */
  gint hangs;     /* open() does not return */
  gint opening;   /* set by open() */
  gint silent;    /* nothing is acknowledged */
  gint lose;      /* the connection is lost after this many acknowledgements */
  gint refuse;    /* number of next messages that are refused */
  gint backwards; /* acknowledges the last message first */
  gint patience;  /* the shortest timeout of run() that is not 0 */

  GMutex lock;
  GString *text; /* what was acknowledged, '|' before each connection */

  /* state of the connection */
  gboolean connected;
  GQueue numbers, texts; /* in flight */
} Fake;

static gint freed;

static gboolean
fake_open (CuvBroker *broker, GError **error)
{
  Fake *self = (Fake *) broker;

  g_atomic_int_set (&self->opening, TRUE);
  while (g_atomic_int_get (&self->hangs))
    g_usleep (1000);
  if (g_atomic_int_get (&self->present)) {
    g_mutex_lock (&self->lock);
    g_string_append_c (self->text, '|');
    g_mutex_unlock (&self->lock);
    return TRUE;
  }
  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_FAILED, "nobody there");
  return FALSE;
}

static CuvSend
fake_send (CuvBroker *broker, guint64 number, const CuvMessage *message,
    GError **error)
{
  Fake *self = (Fake *) broker;

  if (g_queue_get_length (&self->numbers) == WINDOW)
    return CUV_SEND_LATER;
  if (message->text[0] == '!') {
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_FAILED, "too strange");
    return CUV_SEND_REFUSED;
  }
  g_queue_push_tail (&self->numbers, GSIZE_TO_POINTER (number));
  g_queue_push_tail (&self->texts, g_strndup (message->text, message->size));
  return CUV_SEND_OK;
}

static void
acknowledge (Fake *self)
{
  gboolean last = g_atomic_int_get (&self->backwards);
  guint64 number = GPOINTER_TO_SIZE (last ? g_queue_pop_tail (&self->numbers)
                                          : g_queue_pop_head (&self->numbers));
  g_autofree gchar *text =
      last ? g_queue_pop_tail (&self->texts) : g_queue_pop_head (&self->texts);
  gboolean refused = g_atomic_int_get (&self->refuse) > 0;

  if (refused)
    g_atomic_int_add (&self->refuse, -1);
  g_mutex_lock (&self->lock);
  if (!refused)
    g_string_append (self->text, text);
  g_mutex_unlock (&self->lock);
  cuv_outbox_acknowledged (
      self->broker.outbox, number, refused ? "no such topic" : NULL);
}

static gboolean
fake_run (CuvBroker *broker, int wake_fd, gint milliseconds, GError **error)
{
  Fake *self = (Fake *) broker;
  struct pollfd ready = { wake_fd, POLLIN, 0 };

  if (!self->connected)
    cuv_outbox_connected (broker->outbox);
  self->connected = TRUE;
  if (milliseconds > 0 && milliseconds < g_atomic_int_get (&self->patience))
    g_atomic_int_set (&self->patience, milliseconds);
  if (g_queue_is_empty (&self->numbers) || g_atomic_int_get (&self->silent))
    poll (&ready, 1, MIN (milliseconds, 10));
  while (
      !g_queue_is_empty (&self->numbers) && !g_atomic_int_get (&self->silent)) {
    if (g_atomic_int_get (&self->lose) > 0
        && g_atomic_int_dec_and_test (&self->lose)) {
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_FAILED, "hung up");
      return FALSE;
    }
    acknowledge (self);
  }
  return TRUE;
}

static void
fake_close (CuvBroker *broker, gboolean orderly)
{
  Fake *self = (Fake *) broker;

  self->connected = FALSE;
  g_queue_clear (&self->numbers);
  g_queue_clear_full (&self->texts, g_free);
}

static void
fake_free (CuvBroker *broker)
{
  Fake *self = (Fake *) broker;

  g_string_free (self->text, TRUE);
  g_free (self->broker.name);
  g_free (self);
  g_atomic_int_set (&freed, TRUE);
}

static const CuvBrokerClass fake_class = { WINDOW, fake_open, fake_send,
  fake_run, fake_close, fake_free };

static Fake *
fake_new (void)
{
  Fake *self = g_new0 (Fake, 1);

  self->broker.klass = &fake_class;
  self->broker.name = g_strdup ("fake");
  self->text = g_string_new (NULL);
  self->present = TRUE;
  self->patience = G_MAXINT;
  freed = FALSE;
  return self;
}

static CuvOutbox *
outbox_new (Fake *fake, guint records, CuvFull on_full)
{
  CuvSpool *spool = cuv_spool_new (NULL, 1 << 20, records, NULL);
  CuvOutbox *outbox = cuv_outbox_new (&fake->broker, spool, on_full, NULL);

  fail_unless (outbox != NULL);
  return outbox;
}

static void
push (CuvOutbox *outbox, const gchar *text)
{
  CuvMessage message = { "topic", "key", text, strlen (text) };

  while (!cuv_outbox_push (outbox, &message)) {
  }
}

/* Pushes each letter as a message. */
static void
push_letters (CuvOutbox *outbox, const gchar *letters)
{
  for (; *letters != '\0'; letters++) {
    const gchar text[2] = { *letters, '\0' };

    push (outbox, text);
  }
}

static CuvOutboxCounts
counts_of (CuvOutbox *outbox)
{
  CuvOutboxCounts counts;

  cuv_outbox_get_counts (outbox, &counts);
  return counts;
}

static void
fail_unless_text (Fake *fake, const gchar *expected)
{
  g_mutex_lock (&fake->lock);
  fail_unless_equals_string (fake->text->str, expected);
  g_mutex_unlock (&fake->lock);
}

static void
wait_connected (CuvOutbox *outbox)
{
  fail_unless (cuv_outbox_wait_connected (outbox, LONG_TIMEOUT, NULL));
}

static CuvOutboxCounts
stop (CuvOutbox *outbox, gchar **warning)
{
  CuvOutboxCounts counts;
  gchar *text;

  cuv_outbox_stop (outbox, LONG_TIMEOUT, &counts, &text);
  if (warning != NULL)
    *warning = text;
  else
    g_free (text);
  return counts;
}

CUV_TEST (test_order)
{
  Fake *fake = fake_new ();
  CuvOutbox *outbox = outbox_new (fake, 100, CUV_FULL_DROP_OLDEST);
  CuvOutboxCounts counts;

  push_letters (outbox, "abcdefghijklmnopqrstuvwxyz");
  fail_unless (cuv_outbox_finish (outbox, LONG_TIMEOUT));
  fail_unless_text (fake, "|abcdefghijklmnopqrstuvwxyz");
  counts = stop (outbox, NULL);
  fail_unless_equals_uint64 (counts.acknowledged, 26);
  fail_unless_equals_uint64 (counts.sent, 26);
  fail_unless_equals_uint64 (counts.bytes, 26);
  fail_unless_equals_uint64 (counts.dropped, 0);
  fail_unless (freed);
}

CUV_TEST (test_acknowledged_out_of_order)
{
  Fake *fake = fake_new ();
  CuvOutbox *outbox = outbox_new (fake, 100, CUV_FULL_DROP_OLDEST);

  fake->backwards = fake->silent = TRUE;
  wait_connected (outbox);
  push_letters (outbox, "abcd");
  while (counts_of (outbox).sent < 4)
    g_usleep (1000);
  g_atomic_int_set (&fake->silent, FALSE);
  fail_unless (cuv_outbox_finish (outbox, LONG_TIMEOUT));
  fail_unless_text (fake, "|dcba");
  fail_unless_equals_uint64 (stop (outbox, NULL).acknowledged, 4);
}

CUV_TEST (test_lost_connection)
{
  Fake *fake = fake_new ();
  CuvOutbox *outbox;
  CuvOutboxCounts counts;
  g_autofree gchar *warning = NULL;

  fake->lose = 7;
  outbox = outbox_new (fake, 100, CUV_FULL_DROP_OLDEST);
  push_letters (outbox, "abcdefghij");
  fail_unless (cuv_outbox_finish (outbox, LONG_TIMEOUT));
  warning = cuv_outbox_take_warning (outbox);
  fail_unless (strstr (warning, "'fake': hung up") != NULL, "%s", warning);
  fail_unless_text (fake, "|abcdef|ghij");
  counts = stop (outbox, NULL);
  fail_unless_equals_uint64 (counts.acknowledged, 10);
  fail_unless_equals_uint64 (counts.dropped, 0);
  fail_unless (counts.sent > 10);
  fail_unless_equals_uint64 (counts.reconnects, 1);
  fail_unless_equals_string (counts.last_error, "hung up");
}

CUV_TEST (test_absent_broker)
{
  Fake *fake = fake_new ();
  CuvOutbox *outbox;
  CuvOutboxCounts counts;
  GError *error = NULL;
  g_autofree gchar *warning = NULL;

  fake->present = FALSE;
  outbox = outbox_new (fake, 3, CUV_FULL_DROP_OLDEST);
  fail_if (cuv_outbox_wait_connected (outbox, 100, &error));
  fail_unless_equals_string (error->message, "nobody there");
  g_error_free (error);
  push_letters (outbox, "abcde");
  counts = counts_of (outbox);
  fail_unless_equals_uint64 (counts.dropped, 2);
  fail_unless_equals_uint64 (counts.queued, 3);
  fail_if (counts.connected);
  g_atomic_int_set (&fake->present, TRUE);
  wait_connected (outbox);
  fail_unless (cuv_outbox_finish (outbox, LONG_TIMEOUT));
  fail_unless_text (fake, "|cde");
  g_atomic_int_set (&fake->silent, TRUE);
  push_letters (outbox, "x");
  cuv_outbox_stop (outbox, 10, &counts, &warning);
  fail_unless_equals_uint64 (counts.acknowledged, 3);
  fail_unless_equals_uint64 (counts.dropped, 3);
}

CUV_TEST (test_drop_newest)
{
  Fake *fake = fake_new ();
  CuvOutbox *outbox;

  fake->present = FALSE;
  outbox = outbox_new (fake, 3, CUV_FULL_DROP_NEWEST);
  push_letters (outbox, "abcde");
  fail_unless_equals_uint64 (counts_of (outbox).dropped, 2);
  g_atomic_int_set (&fake->present, TRUE);
  fail_unless (cuv_outbox_finish (outbox, LONG_TIMEOUT));
  fail_unless_text (fake, "|abc");
  stop (outbox, NULL);
}

/* Messages in flight may be dropped to make room. One that the broker
 * acknowledges after all does not count as dropped. */
CUV_TEST (test_late_acknowledgement)
{
  Fake *fake = fake_new ();
  CuvOutbox *outbox = outbox_new (fake, 6, CUV_FULL_DROP_OLDEST);
  CuvOutboxCounts counts;

  fake->silent = TRUE;
  wait_connected (outbox);
  push_letters (outbox, "abcd");
  while (counts_of (outbox).sent < 4)
    g_usleep (1000);
  push_letters (outbox, "efghij");
  counts = counts_of (outbox);
  fail_unless_equals_uint64 (counts.dropped, 4);
  fail_unless_equals_uint64 (counts.sent, 4);
  g_atomic_int_set (&fake->silent, FALSE);
  fail_unless (cuv_outbox_finish (outbox, LONG_TIMEOUT));
  fail_unless_text (fake, "|abcdefghij");
  counts = stop (outbox, NULL);
  fail_unless_equals_uint64 (counts.acknowledged, 10);
  fail_unless_equals_uint64 (counts.dropped, 0);
}

CUV_TEST (test_refused)
{
  Fake *fake = fake_new ();
  CuvOutbox *outbox = outbox_new (fake, 100, CUV_FULL_DROP_OLDEST);
  CuvOutboxCounts counts;
  g_autofree gchar *warning = NULL;

  fake->refuse = 2;
  push_letters (outbox, "ab!cd!");
  fail_unless (cuv_outbox_finish (outbox, LONG_TIMEOUT));
  fail_unless_text (fake, "|cd");
  for (guint i = 0; i < 100; i++) { /* it does not wait for the timeout */
    push_letters (outbox, "!");
    fail_unless (cuv_outbox_finish (outbox, LONG_TIMEOUT));
  }
  counts = stop (outbox, &warning);
  fail_unless_equals_uint64 (counts.acknowledged, 2);
  fail_unless_equals_uint64 (counts.dropped, 104);
  fail_unless (strstr (warning, "no such topic") != NULL
      || strstr (warning, "too strange") != NULL);
}

/* Retained messages are sent beside the others, and wake the thread when their
 * interval has passed. */
CUV_TEST (test_retained)
{
  Fake *fake = fake_new ();
  CuvOutbox *outbox = outbox_new (fake, 100, CUV_FULL_DROP_OLDEST);
  CuvOutboxCounts counts;

  cuv_outbox_retain (outbox, "t", "r", 200 * G_TIME_SPAN_MILLISECOND);
  while (counts_of (outbox).retained_sent < 1)
    g_usleep (1000);
  push_letters (outbox, "a");
  cuv_outbox_retain (outbox, "t", "s", 200 * G_TIME_SPAN_MILLISECOND);
  while (counts_of (outbox).retained_sent < 2)
    g_usleep (1000);
  fail_unless (g_atomic_int_get (&fake->patience) <= 200);
  fail_unless (cuv_outbox_finish (outbox, LONG_TIMEOUT));
  fail_unless_text (fake, "|ras");
  counts = stop (outbox, NULL);
  fail_unless_equals_uint64 (counts.retained, 1);
  fail_unless_equals_uint64 (counts.acknowledged, 1);
  fail_unless_equals_uint64 (counts.sent, 1);
}

static gpointer
push_in_thread (gpointer data)
{
  push_letters (data, "abcdefgh");
  return NULL;
}

CUV_TEST (test_block)
{
  Fake *fake = fake_new ();
  CuvOutbox *outbox = outbox_new (fake, 3, CUV_FULL_BLOCK);
  GThread *thread;

  fake->silent = TRUE;
  wait_connected (outbox);
  thread = g_thread_new ("push", push_in_thread, outbox);
  while (counts_of (outbox).queued < 3)
    g_usleep (1000);
  g_usleep (20000);
  fail_unless_equals_uint64 (counts_of (outbox).queued, 3);
  g_atomic_int_set (&fake->silent, FALSE);
  g_thread_join (thread);
  fail_unless (cuv_outbox_finish (outbox, LONG_TIMEOUT));
  fail_unless_text (fake, "|abcdefgh");

  /* a flush ends the wait */
  g_atomic_int_set (&fake->silent, TRUE);
  thread = g_thread_new ("push", push_in_thread, outbox);
  while (counts_of (outbox).queued < 3)
    g_usleep (1000);
  cuv_outbox_interrupt (outbox, TRUE);
  g_thread_join (thread);
  fail_unless_equals_uint64 (counts_of (outbox).dropped, 5);
  g_atomic_int_set (&fake->silent, FALSE);
  stop (outbox, NULL);
}

CUV_TEST (test_too_large)
{
  Fake *fake = fake_new ();
  CuvSpool *spool = cuv_spool_new (NULL, 4096, 10, NULL);
  CuvOutbox *outbox =
      cuv_outbox_new (&fake->broker, spool, CUV_FULL_BLOCK, NULL);
  g_autofree gchar *text = g_strnfill (5000, 'x');
  g_autofree gchar *warning = NULL;
  CuvOutboxCounts counts;

  push (outbox, text);
  counts = stop (outbox, &warning);
  fail_unless_equals_uint64 (counts.dropped, 1);
  fail_unless (strstr (warning, "increase queue-bytes") != NULL);
}

static gchar *
path_new (void)
{
  gchar *path;
  gint fd = g_file_open_tmp ("outbox-XXXXXX", &path, NULL);

  fail_unless (fd >= 0);
  close (fd);
  return path;
}

/* Someone truncates the file while messages are in flight: all of these are
 * counted, and the next ones are sent. */
CUV_TEST (test_damaged_file)
{
  g_autofree gchar *path = path_new ();
  Fake *fake = fake_new ();
  CuvSpool *spool = cuv_spool_new (path, 1 << 20, 100, NULL);
  CuvOutbox *outbox;
  CuvOutboxCounts counts;

  fake->silent = TRUE;
  outbox = cuv_outbox_new (&fake->broker, spool, CUV_FULL_DROP_OLDEST, NULL);
  wait_connected (outbox);
  push_letters (outbox, "abcdefghij");
  while (counts_of (outbox).sent < 4)
    g_usleep (1000);
  fail_unless (truncate (path, 0) == 0);
  g_atomic_int_set (&fake->silent, FALSE);
  fail_unless (cuv_outbox_finish (outbox, LONG_TIMEOUT));
  push_letters (outbox, "xyz");
  fail_unless (cuv_outbox_finish (outbox, LONG_TIMEOUT));
  while (counts_of (outbox).acknowledged < 7)
    g_usleep (1000);
  fail_unless_text (fake, "|abcdxyz");
  counts = stop (outbox, NULL);
  fail_unless_equals_uint64 (counts.acknowledged, 7);
  fail_unless_equals_uint64 (counts.dropped, 6);
  unlink (path);
}

/* A broker that has been absent for long is tried immediately at the end. */
CUV_TEST (test_finish_ends_the_pause)
{
  Fake *fake = fake_new ();
  CuvOutbox *outbox;

  fake->present = FALSE;
  outbox = outbox_new (fake, 100, CUV_FULL_DROP_OLDEST);
  g_usleep (2 * G_USEC_PER_SEC); /* until the pauses last a second or more */
  push_letters (outbox, "a");
  g_atomic_int_set (&fake->present, TRUE);
  fail_unless (cuv_outbox_finish (outbox, LONG_TIMEOUT));
  fail_unless_text (fake, "|a");
  stop (outbox, NULL);
}

/* The thread is detached and frees itself later; the file is released at
 * once. */
CUV_TEST (test_hanging_open)
{
  g_autofree gchar *path = path_new ();
  Fake *fake = fake_new ();
  CuvOutbox *outbox;
  CuvOutboxCounts counts;
  CuvSpool *spool;
  g_autofree gchar *warning = NULL;

  g_atomic_int_set (&fake->hangs, TRUE);
  spool = cuv_spool_new (path, 1 << 20, 10, NULL);
  outbox = cuv_outbox_new (&fake->broker, spool, CUV_FULL_DROP_OLDEST, NULL);
  push_letters (outbox, "abc");
  while (!g_atomic_int_get (&fake->opening))
    g_usleep (1000);
  cuv_outbox_stop (outbox, 10, &counts, &warning);
  fail_unless_equals_uint64 (counts.queued, 3);
  fail_unless_equals_uint64 (counts.dropped, 0);
  spool = cuv_spool_new (path, 1 << 20, 10, NULL);
  fail_unless (spool != NULL);
  g_atomic_int_set (&fake->hangs, FALSE);
  while (!g_atomic_int_get (&freed))
    g_usleep (1000);

  /* the next outbox sends what the first one has left */
  fake = fake_new ();
  outbox = cuv_outbox_new (&fake->broker, spool, CUV_FULL_DROP_OLDEST, NULL);
  fail_unless_equals_uint64 (counts_of (outbox).spooled, 3);
  push_letters (outbox, "d");
  fail_unless (cuv_outbox_finish (outbox, LONG_TIMEOUT));
  fail_unless_text (fake, "|abcd");
  stop (outbox, NULL);
  unlink (path);
}

/* With a connection that comes and goes, acknowledgements that stop, and a
 * full queue, each message is either acknowledged, in order, or dropped. */
CUV_TEST (test_random)
{
  Fake *fake = fake_new ();
  CuvOutbox *outbox = outbox_new (fake, 20, CUV_FULL_DROP_OLDEST);
  CuvOutboxCounts counts;
  g_autofree gchar *text = NULL;
  guint n = 0, previous = 0;

  for (; n < 3000; n++) {
    gchar *number = g_strdup_printf ("%u,", n + 1);

    push (outbox, number);
    g_free (number);
    if (n % 50 == 0) {
      g_atomic_int_set (&fake->silent, g_random_boolean ());
      g_atomic_int_set (&fake->lose, n % 1000 == 0 ? 5 : 0);
      g_usleep ((gulong) g_random_int_range (0, 1000));
    }
  }
  g_atomic_int_set (&fake->silent, FALSE);
  while (counts_of (outbox).queued > 0)
    g_usleep (1000);
  g_mutex_lock (&fake->lock);
  text = g_strdup (fake->text->str);
  g_mutex_unlock (&fake->lock);
  counts = stop (outbox, NULL);
  fail_unless_equals_uint64 (counts.acknowledged + counts.dropped, n);
  n = 0;
  for (gchar *p = text; *p != '\0';) {
    guint number;

    if (*p == '|') { /* messages without an acknowledgement are sent again */
      p++;
      continue;
    }
    number = (guint) g_ascii_strtoull (p, &p, 10);
    fail_unless (number > previous, "%u after %u", number, previous);
    previous = number;
    n++;
    p++;
  }
  fail_unless_equals_uint64 (n, counts.acknowledged);
}
